# SPDX-License-Identifier: MIT
"""sqlite_statements.py SECONDS: statements of many kinds by Python's sqlite3, which loads the library by dlopen.  Prints what they return."""
import sqlite3
import sys
import threading
import time

SETUP = """
create table orders(o_orderkey integer primary key, o_custkey int, o_price real);
create table lineitem(l_orderkey int, l_quantity int, l_price real, l_comment text);
create table log(n int);
create trigger t after update on orders begin insert into log select count(*) from orders where o_custkey < 3; end;
"""


def fill(c):
    c.executescript(SETUP)
    c.executemany("insert into orders values(?,?,?)", ((i, i % 1000, i * 1.5) for i in range(20000)))
    c.executemany("insert into lineitem values(?,?,?,?)", ((i // 4, i % 50, i * 0.5, f"comment {i}") for i in range(80000)))
    c.execute("create index li on lineitem(l_orderkey)")
    c.commit()


def kinds(c):
    """Each of them once."""
    out = []

    def run(text, *args):
        try:
            out.append((text[:20], c.execute(text, args).fetchall()))
        except sqlite3.Error as e:
            out.append((text[:20], str(e)))

    run("-- nothing")
    run("")
    run("selec 1")
    run("select 1 from nonesuch")
    run("select abs(-9223372036854775807 - 1)")
    run("explain select 1")
    run("explain query plan select * from orders where o_custkey = 7")
    run("with recursive r(n) as (select 1 union all select n + 1 from r where n < 1000) select sum(n) from r")
    run("create view v as select o_custkey k, count(*) n from orders group by 1")
    run("select sum(n) from v where k in (select l_quantity from lineitem)")
    run("select l_quantity, row_number() over (order by l_quantity desc, l_orderkey) from lineitem where l_orderkey < 3 limit 3")
    run("select count(*) from (select o_custkey from orders union select l_quantity from lineitem)")
    c.create_function("twice", 1, lambda n: c.execute("select ? * 2", (n,)).fetchone()[0])
    run("select sum(twice(l_quantity)) from lineitem where l_orderkey < 5")
    statement = "select count(*) from changed"
    run("create table changed(a)")
    run(statement)
    run("alter table changed add column b")  # what is prepared is prepared again
    run("insert into changed values(1, 2)")
    run(statement)
    run("drop table changed")
    run(statement)
    run("create virtual table words using fts5(w)")
    run("insert into words select l_comment from lineitem where l_orderkey < 50")
    run("select count(*) from words where words match 'comment'")
    run("attach ':memory:' as other")
    run("create table other.copy as select * from orders where o_custkey < 10")
    run("select count(*) from other.copy")
    run("insert into orders values(1, 1, 1)")
    run("delete from other.copy where o_orderkey % 2")
    run("pragma integrity_check")
    c.commit()
    run("vacuum")
    run("analyze")
    run("select " + " + ".join(["1"] * 900))
    return out


def repeat(c, seconds):
    """The same again and again; rows are the same each time."""
    texts = ["select o_custkey, sum(l_price) s from orders, lineitem where o_orderkey = l_orderkey and o_custkey < 100 "
             "group by o_custkey order by s desc, o_custkey limit 3",
             "select count(*) from lineitem where l_comment like '%99%'",
             "select max(l_price) from lineitem where l_orderkey between ? and ? + 200"]
    expected, end, n = None, time.monotonic() + seconds, 0
    while n == 0 or time.monotonic() < end:
        rows = [c.execute(t, (7, 7) if "?" in t else ()).fetchall() for t in texts]
        if expected not in (None, rows):
            raise SystemExit(f"rows differ: {expected} and {rows}")
        expected = rows
        c.execute("update orders set o_price = o_price + 1 where o_orderkey = ?", (n % 100,))
        n += 1
    return expected, c.execute("select count(*) from log").fetchone()[0] >= n


def main():
    c = sqlite3.connect(":memory:")
    fill(c)
    print(kinds(c))
    results = []

    def other():
        own = sqlite3.connect(":memory:")
        fill(own)
        results.append(repeat(own, float(sys.argv[1]) / 4))

    thread = threading.Thread(target=other)
    thread.start()
    print(repeat(c, float(sys.argv[1])))
    thread.join()
    print(results)


main()
