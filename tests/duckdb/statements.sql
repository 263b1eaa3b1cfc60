-- SPDX-License-Identifier: MIT
-- Statements of many kinds, some of which fail, for host.c: FOLDER is one that can be written to.
set threads=3;
create table a as select i, i%97 k, 'x'||i s from range(200000) t(i);
create index ai on a(i);
insert into a select i+1000000, i%5, 'y' from range(1000) t(i);
update a set s = s || 'z' where k = 3;
delete from a where k = 4;
-- expect Conversion
select cast(s as int) from a where k=7;
-- expect Catalog
select * from nonesuch;
-- expect Parser
selec 1;
-- repeat 0.5
with recursive r(n) as (select 1 union all select n+1 from r where n < 50) select sum(n) from r;
prepare p as select count(*) from a where k = $1;
-- repeat 0.5
execute p(5);
-- repeat 0.3
select k, sum(i) over (partition by k order by i) from a where k < 3 order by 1,2 limit 5;
-- repeat 0.3
select x.k, count(*) from a x, a y where x.i = y.i + 1 group by 1 order by 1;
-- repeat 0.3
select count(*) from a where i in (select i from a where k=1) and not exists (select 1 from a b where b.k = a.k and b.i = 7);
explain analyze select count(*) from a;
begin;
insert into a values (1, 2, 'q');
rollback;
-- repeat 0.5
select 42;
copy (select * from a) to 'FOLDER/out.csv';
-- repeat 0.2
select count(*) from 'FOLDER/out.csv';
-- repeat 0.3
pivot (select k%3 kk, k%2 j, i from a) on kk using sum(i);
drop table a;
vacuum;
checkpoint;
