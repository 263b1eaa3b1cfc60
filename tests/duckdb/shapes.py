# SPDX-License-Identifier: MIT
"""One shape of query, again and again, in DuckDB as PyPI has it: shapes.py FOLDER-OF-THE-MODULE SECONDS SHAPE [FOLDER-FOR-FILES]

Prints the shapes' names where SHAPE is "names".
"""
import sys
import time

SHAPES = {
    "join": "select g, sum(v), count(*) from l join o on l.k = o.k where w < 5 group by g order by 2 desc limit 10",
    "cte": "with a as materialized (select g, sum(v) s from l group by g), b as (select g % 10 h, sum(s) t from a group by h) "
           "select * from b, (select max(s) from a) order by 1",
    "recursive": "with recursive t(n) as (select 1 union all select n + 1 from t where n < 20000) select count(*), sum(n) from t",
    "window": "select max(r) from (select row_number() over (partition by g order by v) r from l)",
    "sort": "select * from l order by v limit 5 offset 2000000",
    "changes": "insert into o select k + 1000000, w from o where k < 100000; update o set w = w + 1 where k >= 1000000; "
               "delete from o where k >= 1000000",
    "csv": "copy (select * from l limit 300000) to 'FOLDER/x.csv'; select count(*), sum(v) from 'FOLDER/x.csv'",
    "parquet": "copy l to 'FOLDER/x.parquet'; select g, sum(v) from 'FOLDER/x.parquet' group by g order by 2 limit 2",
    "prepared": "select sum(v) from l where g = ? or g > ?",
    "tiny": "select 42",
}


def main():
    module, seconds, shape = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    sys.path.insert(0, module)
    import duckdb
    c = duckdb.connect()
    c.execute("set threads=2")
    c.execute("create table l as select range as k, range % 1000 as g, random() as v from range(3000000)")
    c.execute("create table o as select range as k, range % 7 as w from range(300000)")
    text = SHAPES[shape].replace("FOLDER", sys.argv[4])
    end = time.time() + seconds
    while time.time() < end:
        c.execute(text, [3, 500] if "?" in text else None).fetchall()


if __name__ == "__main__":
    main()
