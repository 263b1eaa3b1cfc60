# SPDX-License-Identifier: MIT
"""polars_host.py SECONDS ROUNDS_FILE: a query of Polars, which compiles none: its operators are functions of its library."""
import sys
import time

import polars as pl

table = pl.DataFrame({"k": [i % 17 for i in range(200000)], "v": list(range(200000))})
end = time.monotonic() + float(sys.argv[-2])
rounds = result = 0
while rounds == 0 or time.monotonic() < end:
    result = table.lazy().filter(pl.col("v") % 3 == 0).group_by("k").agg(pl.col("v").sum()).collect()["v"].sum()
    rounds += 1
print("result", result)
with open(sys.argv[-1], "w") as f:
    f.write(f"{rounds}\n")
