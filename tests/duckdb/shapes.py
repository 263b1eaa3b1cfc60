# SPDX-License-Identifier: MIT
"""One shape of query, again and again, in DuckDB as PyPI has it: shapes.py FOLDER-OF-THE-MODULE SECONDS SHAPE [FOLDER-FOR-FILES]

Prints the shapes' names where SHAPE is "names".
"""
import sys
import threading
import time

SHAPES = { # texts, or functions of the module, a connection and a folder
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


def stream(duckdb, c, _):
    """a result that is fetched in pieces while the query runs"""
    del duckdb
    r = c.execute("select k, v * w from l join o using (k) where v > 0.1")
    while r.fetchmany(100000):
        pass


def function(duckdb, c, _):
    """a function in Python, called for each row"""
    del duckdb
    if not c.execute("select count(*) from duckdb_functions() where function_name = 'half'").fetchall()[0][0]:
        c.create_function("half", lambda n: n // 2, ["BIGINT"], "BIGINT")
    c.execute("select sum(half(k)) from o where k < 50000").fetchall()


def relation(duckdb, c, _):
    del duckdb
    c.table("l").filter("v > 0.2").aggregate("g, sum(v) as s", "g").order("s desc").limit(3).fetchall()


def spill(duckdb, c, folder):
    """a sort and a join that do not fit into memory"""
    del duckdb
    if c.execute("select current_setting('temp_directory')").fetchall()[0][0] != folder + "/spill": # it can be set once
        c.execute("set memory_limit = '120MB'; set temp_directory = '" + folder + "/spill'")
    c.execute("select count(*) from (select * from l order by v, k desc offset 1000) a join l b on a.k = b.k").fetchall()


def checkpoint(duckdb, c, folder):
    c.execute("attach if not exists '" + folder + "/kept.db' as kept")
    c.execute("create or replace table kept.t as select * from l; checkpoint kept")


def connections(duckdb, c, _):
    """three at once"""
    def ask(other):
        other.execute("select g, sum(v), count(*) from l join o on l.k = o.k group by g order by 2 desc limit 10").fetchall()
    threads = [threading.Thread(target=ask, args=(c.cursor(),)) for _ in range(3)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


SHAPES.update({f.__name__: f for f in (stream, function, relation, spill, checkpoint, connections)})


def main():
    module, seconds, shape = sys.argv[1], float(sys.argv[2]), sys.argv[3]
    sys.path.insert(0, module)
    import duckdb
    c = duckdb.connect()
    c.execute("set threads=2")
    c.execute("create table l as select range as k, range % 1000 as g, random() as v from range(3000000)")
    c.execute("create table o as select range as k, range % 7 as w from range(300000)")
    does, end = SHAPES[shape], time.time() + seconds
    while time.time() < end:
        if callable(does):
            does(duckdb, c, sys.argv[4])
        else:
            c.execute(does.replace("FOLDER", sys.argv[4]), [3, 500] if "?" in does else None).fetchall()


if __name__ == "__main__":
    main()
