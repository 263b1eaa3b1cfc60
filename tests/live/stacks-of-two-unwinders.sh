#!/bin/bash
# SPDX-License-Identifier: MIT
# The memo and libunwind give the same frames, on a hundred thousand samples of hosts of many kinds; see unwinders.py.
# Long: thousands of stacks, unwound by libunwind as well.
. tests/live/begin.bash
judge /usr/bin/python3 tests/live/unwinders.py "$B" 1 100000 engine tagged deep luajit numba node
finish
