#!/bin/bash
# SPDX-License-Identifier: MIT
# The memo and libunwind give the same frames, on a million samples of hosts of many kinds, PostgreSQL's JIT among them.
tests/hosts/build.sh "$1" || exit 1
exec timeout 1200 /usr/bin/python3 tests/live/unwinders.py "$1" 20 600000 postgres engine tagged deep luajit numba node
