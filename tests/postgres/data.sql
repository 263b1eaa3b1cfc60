-- SPDX-License-Identifier: MIT
-- The eight tables of TPC-H, filled by arithmetic alone: the same rows on every machine.  psql -v scale=0.2: as a share of the standard's
-- scale factor 1.  Values are drawn from the standard's domains, so that each of its 22 queries finds rows; they are not dbgen's.
set client_min_messages = warning;
create function draw(i bigint, seed int, nr int) returns int language sql immutable parallel safe
	as $$ select ((hashint8extended(i, seed) & 9223372036854775807) % nr)::int $$;
create function words(i bigint, seed int) returns text language sql immutable parallel safe as $$
	select (array['furiously','quickly','slyly','carefully','blithely','ironic','final','bold'])[1 + draw(i, seed, 8)] || ' '
		|| (array['requests','deposits','accounts','packages','theodolites','instructions','pinto beans','foxes'])[1 + draw(i, seed + 1, 8)]
		|| ' ' || (array['sleep','haggle','nag','wake','cajole','detect','use','boost'])[1 + draw(i, seed + 2, 8)] $$;
select (150000 * :scale)::int as customers, (1500000 * :scale)::int as orders, (200000 * :scale)::int as parts,
	(10000 * :scale)::int as suppliers \gset

create table region(r_regionkey int primary key, r_name char(25) not null, r_comment varchar(152));
insert into region select i - 1, (array['AFRICA','AMERICA','ASIA','EUROPE','MIDDLE EAST'])[i], words(i, 10) from generate_series(1, 5) i;

create table nation(n_nationkey int primary key, n_name char(25) not null, n_regionkey int not null, n_comment varchar(152));
insert into nation select i - 1, (array['ALGERIA','ARGENTINA','BRAZIL','CANADA','EGYPT','ETHIOPIA','FRANCE','GERMANY','INDIA','INDONESIA',
	'IRAN','IRAQ','JAPAN','JORDAN','KENYA','MOROCCO','MOZAMBIQUE','PERU','CHINA','ROMANIA','SAUDI ARABIA','VIETNAM','RUSSIA',
	'UNITED KINGDOM','UNITED STATES'])[i], (array[0,1,1,1,4,0,3,3,2,2,4,4,2,4,0,0,0,1,2,3,4,2,3,3,1])[i], words(i, 20)
	from generate_series(1, 25) i;

create table supplier(s_suppkey int primary key, s_name char(25) not null, s_address varchar(40) not null, s_nationkey int not null,
	s_phone char(15) not null, s_acctbal numeric(15,2) not null, s_comment varchar(101) not null);
insert into supplier select i, 'Supplier#' || lpad(i::text, 9, '0'), 'address ' || draw(i, 30, 1000000), draw(i, 31, 25),
	(10 + draw(i, 31, 25)) || '-' || lpad(draw(i, 32, 1000)::text, 3, '0') || '-' || lpad(draw(i, 33, 10000)::text, 7, '0'),
	(draw(i, 34, 1099999) - 99999) / 100.0, words(i, 35) || case when draw(i, 36, 500) = 0 then ' Customer Complaints' else '' end
	from generate_series(1, :suppliers) i;

create table customer(c_custkey int primary key, c_name varchar(25) not null, c_address varchar(40) not null, c_nationkey int not null,
	c_phone char(15) not null, c_acctbal numeric(15,2) not null, c_mktsegment char(10) not null, c_comment varchar(117) not null);
insert into customer select i, 'Customer#' || lpad(i::text, 9, '0'), 'address ' || draw(i, 40, 1000000), draw(i, 41, 25),
	(10 + draw(i, 41, 25)) || '-' || lpad(draw(i, 42, 1000)::text, 3, '0') || '-' || lpad(draw(i, 43, 10000)::text, 7, '0'),
	(draw(i, 44, 1099999) - 99999) / 100.0,
	(array['BUILDING','AUTOMOBILE','MACHINERY','HOUSEHOLD','FURNITURE'])[1 + draw(i, 45, 5)], words(i, 46)
	from generate_series(1, :customers) i;

create table part(p_partkey int primary key, p_name varchar(55) not null, p_mfgr char(25) not null, p_brand char(10) not null,
	p_type varchar(25) not null, p_size int not null, p_container char(10) not null, p_retailprice numeric(15,2) not null,
	p_comment varchar(23) not null);
insert into part select i,
	(array['forest','green','lemon','azure','blush','ivory','navy','plum','salmon','tan','misty','peru'])[1 + draw(i, 50, 12)] || ' ' ||
	(array['chocolate','cream','drab','frosted','green','honeydew','khaki','lime','linen','powder'])[1 + draw(i, 51, 10)],
	'Manufacturer#' || 1 + draw(i, 52, 5), 'Brand#' || 1 + draw(i, 52, 5) || 1 + draw(i, 53, 5),
	(array['STANDARD','SMALL','MEDIUM','LARGE','ECONOMY','PROMO'])[1 + draw(i, 54, 6)] || ' ' ||
	(array['ANODIZED','BURNISHED','PLATED','POLISHED','BRUSHED'])[1 + draw(i, 55, 5)] || ' ' ||
	(array['TIN','NICKEL','BRASS','STEEL','COPPER'])[1 + draw(i, 56, 5)], 1 + draw(i, 57, 50),
	(array['SM','LG','MED','JUMBO','WRAP'])[1 + draw(i, 58, 5)] || ' ' ||
	(array['CASE','BOX','BAG','JAR','PKG','PACK','CAN','DRUM'])[1 + draw(i, 59, 8)],
	900 + (i / 10 % 20001 + 100 * (i % 1000)) / 100.0, left(words(i, 60), 23)
	from generate_series(1, :parts) i;

-- four suppliers of each part
create table partsupp(ps_partkey int, ps_suppkey int, ps_availqty int not null, ps_supplycost numeric(15,2) not null,
	ps_comment varchar(199) not null, primary key(ps_partkey, ps_suppkey));
insert into partsupp select p, 1 + (p + n * (:suppliers / 4 + (p - 1) / :suppliers)) % :suppliers, 1 + draw(p * 4 + n, 70, 9999),
	1 + draw(p * 4 + n, 71, 99900) / 100.0, words(p * 4 + n, 72)
	from generate_series(1, :parts) p, generate_series(0, 3) n on conflict do nothing;

-- a third of the customers have no orders
create table orders(o_orderkey int primary key, o_custkey int not null, o_orderstatus char(1) not null, o_totalprice numeric(15,2) not null,
	o_orderdate date not null, o_orderpriority char(15) not null, o_clerk char(15) not null, o_shippriority int not null,
	o_comment varchar(79) not null);
insert into orders select i, 1 + draw(i, 80, :customers / 3) * 3 + draw(i, 81, 2), (array['O','F','P'])[1 + draw(i, 82, 3)],
	1000 + draw(i, 83, 45000000) / 100.0, date '1992-01-01' + draw(i, 84, 2406),
	(array['1-URGENT','2-HIGH','3-MEDIUM','4-NOT SPECIFIED','5-LOW'])[1 + draw(i, 85, 5)], 'Clerk#' || lpad(draw(i, 86, 1000)::text, 9, '0'),
	0, words(i, 87) || case when draw(i, 88, 80) = 0 then ' special packages requests' else '' end
	from generate_series(1, :orders) i;

-- one to seven lines of each order; the supplier is one of the part's
create table lineitem(l_orderkey int not null, l_partkey int not null, l_suppkey int not null, l_linenumber int not null,
	l_quantity numeric(15,2) not null, l_extendedprice numeric(15,2) not null, l_discount numeric(15,2) not null,
	l_tax numeric(15,2) not null, l_returnflag char(1) not null, l_linestatus char(1) not null, l_shipdate date not null,
	l_commitdate date not null, l_receiptdate date not null, l_shipinstruct char(25) not null, l_shipmode char(10) not null,
	l_comment varchar(44) not null);
insert into lineitem select o, p, 1 + (p + draw(k, 91, 4) * (:suppliers / 4 + (p - 1) / :suppliers)) % :suppliers, l, quantity,
	quantity * (900 + (p / 10 % 20001 + 100 * (p % 1000)) / 100.0), draw(k, 93, 11) / 100.0, draw(k, 94, 9) / 100.0,
	case when shipped + 1 + draw(k, 97, 30) <= date '1995-06-17' then (array['R','A'])[1 + draw(k, 95, 2)] else 'N' end,
	case when shipped > date '1995-06-17' then 'O' else 'F' end, shipped, o_orderdate + 30 + draw(k, 96, 61),
	shipped + 1 + draw(k, 97, 30),
	(array['DELIVER IN PERSON','COLLECT COD','NONE','TAKE BACK RETURN'])[1 + draw(k, 98, 4)],
	(array['REG AIR','AIR','RAIL','SHIP','TRUCK','MAIL','FOB'])[1 + draw(k, 99, 7)], words(k, 100)
	from (select o_orderkey o, o_orderdate, l, o_orderkey * 8::bigint + l k, 1 + draw(o_orderkey * 8::bigint + l, 90, :parts) p,
		1 + draw(o_orderkey * 8::bigint + l, 92, 50) quantity, o_orderdate + 1 + draw(o_orderkey * 8::bigint + l, 101, 121) shipped
		from orders, generate_series(1, 1 + draw(o_orderkey, 102, 7)) l offset 0) as line;

alter table lineitem add primary key(l_orderkey, l_linenumber);
create index on lineitem(l_partkey, l_suppkey);
create index on lineitem(l_shipdate);
create index on orders(o_custkey);
create index on orders(o_orderdate);
create index on partsupp(ps_suppkey);
create index on customer(c_nationkey);
create index on supplier(s_nationkey);
vacuum analyze;
