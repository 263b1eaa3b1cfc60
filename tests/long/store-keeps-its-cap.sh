#!/bin/bash
# SPDX-License-Identifier: MIT
# Ten kinds of stores, with a cap at 95, 70, 40 and 10 % of what they take, by `gc`, `add` and `watch`: the first try succeeds, they are
# below the cap and close to it, those left are the newest, and have the sums that they had.  A month of a program with a JIT at 16 MiB:
# within the cap at every moment.
. tests/live/begin.bash
judge /usr/bin/python3 - "$B" "$dir" <<'END'
import sys
sys.path.insert(0, "tests")
from store_caps import KINDS, Judge
judge = Judge(*sys.argv[1:])
judge.matrix(KINDS, (0.95, 0.7, 0.4, 0.1), ("gc", "add", "watch"))
judge.month(360, 1500, 16)
sys.exit(judge.bad)
END
finish
