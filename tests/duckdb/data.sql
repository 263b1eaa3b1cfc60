-- SPDX-License-Identifier: MIT
-- The tables of TPC-H as tests/postgres/data.sql makes them, for DuckDB: by arithmetic alone, without keys.  CUSTOMERS, ORDERS, PARTS and
-- SUPPLIERS are numbers.
create macro draw(i, seed, nr) as (hash(i, seed) % nr)::int;
create macro words(i, seed) as (['furiously','quickly','slyly','carefully','blithely','ironic','final','bold'])[1 + draw(i, seed, 8)] || ' '
	|| (['requests','deposits','accounts','packages','theodolites','instructions','pinto beans','foxes'])[1 + draw(i, seed + 1, 8)]
	|| ' ' || (['sleep','haggle','nag','wake','cajole','detect','use','boost'])[1 + draw(i, seed + 2, 8)];
create table region as select (i - 1)::int r_regionkey, (['AFRICA','AMERICA','ASIA','EUROPE','MIDDLE EAST'])[i] r_name,
	words(i, 10) r_comment from range(1, 6) t(i);
create table nation as select (i - 1)::int n_nationkey, (['ALGERIA','ARGENTINA','BRAZIL','CANADA','EGYPT','ETHIOPIA','FRANCE','GERMANY','INDIA',
	'INDONESIA','IRAN','IRAQ','JAPAN','JORDAN','KENYA','MOROCCO','MOZAMBIQUE','PERU','CHINA','ROMANIA','SAUDI ARABIA','VIETNAM','RUSSIA',
	'UNITED KINGDOM','UNITED STATES'])[i] n_name, ([0,1,1,1,4,0,3,3,2,2,4,4,2,4,0,0,0,1,2,3,4,2,3,3,1])[i] n_regionkey,
	words(i, 20) n_comment from range(1, 26) t(i);
create table supplier as select i::int s_suppkey, 'Supplier#' || lpad(i::text, 9, '0') s_name, 'address ' || draw(i, 30, 1000000) s_address,
	draw(i, 31, 25) s_nationkey, (10 + draw(i, 31, 25)) || '-' || lpad(draw(i, 33, 10000)::text, 7, '0') s_phone,
	((draw(i, 34, 1099999) - 99999) / 100.0)::decimal(15,2) s_acctbal,
	words(i, 35) || case when draw(i, 36, 500) = 0 then ' Customer Complaints' else '' end s_comment from range(1, SUPPLIERS + 1) t(i);
create table customer as select i::int c_custkey, 'Customer#' || lpad(i::text, 9, '0') c_name, 'address ' || draw(i, 40, 1000000) c_address,
	draw(i, 41, 25) c_nationkey, (10 + draw(i, 41, 25)) || '-' || lpad(draw(i, 43, 10000)::text, 7, '0') c_phone,
	((draw(i, 44, 1099999) - 99999) / 100.0)::decimal(15,2) c_acctbal,
	(['BUILDING','AUTOMOBILE','MACHINERY','HOUSEHOLD','FURNITURE'])[1 + draw(i, 45, 5)] c_mktsegment, words(i, 46) c_comment
	from range(1, CUSTOMERS + 1) t(i);
create table part as select i::int p_partkey,
	(['forest','green','lemon','azure','blush','ivory','navy','plum','salmon','tan','misty','peru'])[1 + draw(i, 50, 12)] || ' ' ||
	(['chocolate','cream','drab','frosted','green','honeydew','khaki','lime','linen','powder'])[1 + draw(i, 51, 10)] p_name,
	'Manufacturer#' || (1 + draw(i, 52, 5)) p_mfgr, 'Brand#' || (1 + draw(i, 52, 5)) || (1 + draw(i, 53, 5)) p_brand,
	(['STANDARD','SMALL','MEDIUM','LARGE','ECONOMY','PROMO'])[1 + draw(i, 54, 6)] || ' ' ||
	(['ANODIZED','BURNISHED','PLATED','POLISHED','BRUSHED'])[1 + draw(i, 55, 5)] || ' ' ||
	(['TIN','NICKEL','BRASS','STEEL','COPPER'])[1 + draw(i, 56, 5)] p_type, 1 + draw(i, 57, 50) p_size,
	(['SM','LG','MED','JUMBO','WRAP'])[1 + draw(i, 58, 5)] || ' ' ||
	(['CASE','BOX','BAG','JAR','PKG','PACK','CAN','DRUM'])[1 + draw(i, 59, 8)] p_container,
	(900 + (i // 10 % 20001 + 100 * (i % 1000)) / 100.0)::decimal(15,2) p_retailprice, words(i, 60)[1:23] p_comment
	from range(1, PARTS + 1) t(i);
create table partsupp as select distinct on (ps_partkey, ps_suppkey) p::int ps_partkey,
	(1 + (p + n * (SUPPLIERS // 4 + (p - 1) // SUPPLIERS)) % SUPPLIERS)::int ps_suppkey, 1 + draw(p * 4 + n, 70, 9999) ps_availqty,
	(1 + draw(p * 4 + n, 71, 99900) / 100.0)::decimal(15,2) ps_supplycost, words(p * 4 + n, 72) ps_comment
	from range(1, PARTS + 1) a(p), range(0, 4) b(n);
create table orders as select i::int o_orderkey, 1 + draw(i, 80, CUSTOMERS // 3) * 3 + draw(i, 81, 2) o_custkey,
	(['O','F','P'])[1 + draw(i, 82, 3)] o_orderstatus, (1000 + draw(i, 83, 45000000) / 100.0)::decimal(15,2) o_totalprice,
	date '1992-01-01' + draw(i, 84, 2406) o_orderdate,
	(['1-URGENT','2-HIGH','3-MEDIUM','4-NOT SPECIFIED','5-LOW'])[1 + draw(i, 85, 5)] o_orderpriority,
	'Clerk#' || lpad(draw(i, 86, 1000)::text, 9, '0') o_clerk, 0 o_shippriority,
	words(i, 87) || case when draw(i, 88, 80) = 0 then ' special packages requests' else '' end o_comment
	from range(1, ORDERS + 1) t(i);
create table lineitem as select o l_orderkey, p l_partkey,
	(1 + (p + draw(k, 91, 4) * (SUPPLIERS // 4 + (p - 1) // SUPPLIERS)) % SUPPLIERS)::int l_suppkey, l::int l_linenumber,
	quantity::decimal(15,2) l_quantity, (quantity * (900 + (p // 10 % 20001 + 100 * (p % 1000)) / 100.0))::decimal(15,2) l_extendedprice,
	(draw(k, 93, 11) / 100.0)::decimal(15,2) l_discount, (draw(k, 94, 9) / 100.0)::decimal(15,2) l_tax,
	case when shipped + (1 + draw(k, 97, 30)) <= date '1995-06-17' then (['R','A'])[1 + draw(k, 95, 2)] else 'N' end l_returnflag,
	case when shipped > date '1995-06-17' then 'O' else 'F' end l_linestatus, shipped l_shipdate,
	o_orderdate + (30 + draw(k, 96, 61)) l_commitdate, shipped + (1 + draw(k, 97, 30)) l_receiptdate,
	(['DELIVER IN PERSON','COLLECT COD','NONE','TAKE BACK RETURN'])[1 + draw(k, 98, 4)] l_shipinstruct,
	(['REG AIR','AIR','RAIL','SHIP','TRUCK','MAIL','FOB'])[1 + draw(k, 99, 7)] l_shipmode, words(k, 100) l_comment
	from (select o_orderkey o, o_orderdate, l, o_orderkey * 8::bigint + l k, 1 + draw(o_orderkey * 8::bigint + l, 90, PARTS) p,
		1 + draw(o_orderkey * 8::bigint + l, 92, 50) quantity, o_orderdate + (1 + draw(o_orderkey * 8::bigint + l, 101, 121)) shipped
		from orders, range(1, 8) t(l) where l <= 1 + draw(o_orderkey, 102, 7)) as line;
