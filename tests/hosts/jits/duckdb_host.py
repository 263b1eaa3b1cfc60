# SPDX-License-Identifier: MIT
"""duckdb_host.py SECONDS ROUNDS_FILE: queries of DuckDB as pip has it."""
import sys
import time

import duckdb

c = duckdb.connect()
c.execute("create table t as select range k, range % 997 g, (range * 7) % 1000 v from range(5000000)")
c.execute("create table u as select range g, range % 31 h from range(997)")
end = time.monotonic() + float(sys.argv[-2])
rounds = 0
while rounds == 0 or time.monotonic() < end:
    result = c.execute("select h, sum(v), count(*) from t join u using (g) where v % 3 < 2 group by h order by h").fetchall()
    rounds += 1
print("result", result[0])
with open(sys.argv[-1], "w") as f:
    f.write(f"{rounds}\n")
