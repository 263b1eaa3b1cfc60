# SPDX-License-Identifier: MIT
# DuckDB in Python, one thread: three tables, each scanned with another literal each time.  It ends by SIGTERM.  $PLANTED_CLOCK.PID has
# what each took by the thread's clock, in nanoseconds.
import os
import time

import duckdb

took = [0, 0, 0]
connection = duckdb.connect(":memory:", config={"threads": 1})
for name, rows in ("heavy", 5000000), ("middle", 3000000), ("light", 2000000):
    connection.execute(f"create table {name} as select i as x from range({rows}) t(i)")
clock = os.open(f"{os.environ['PLANTED_CLOCK']}.{os.getpid()}", os.O_WRONLY | os.O_CREAT)
number = 0
while True:
    number += 1
    for i, name in enumerate(("heavy", "middle", "light")):
        begin = time.thread_time_ns()
        connection.execute(f"select count(*) from {name} where x % 1000 < {number % 10}").fetchall()
        took[i] += time.thread_time_ns() - begin
    os.pwrite(clock, b"%20d %20d %20d\n" % tuple(took), 0)
