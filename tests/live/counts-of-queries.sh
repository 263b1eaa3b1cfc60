#!/bin/bash
# SPDX-License-Identifier: MIT
# What the engine's generated code counts: for each query, minimal counters and counters of all blocks agree on every line and operator, an
# operator's executions are the rows that it counts itself and the naive evaluation has the same result; at most a third of the additions
# run where the least is counted.
. tests/live/begin.bash
judge /usr/bin/python3 tests/live/counts_of_queries.py "$B" "$dir"
finish
