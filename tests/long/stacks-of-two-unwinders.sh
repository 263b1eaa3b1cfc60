#!/bin/bash
# SPDX-License-Identifier: MIT
# The memo and libunwind give the same frames, on a million samples of hosts of many kinds, PostgreSQL's JIT among them.
. tests/live/begin.bash
judge /usr/bin/python3 tests/live/unwinders.py "$B" 20 600000 postgres engine tagged deep luajit numba node
finish
