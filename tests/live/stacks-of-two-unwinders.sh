#!/bin/bash
# SPDX-License-Identifier: MIT
# The memo and libunwind give the same frames, on a hundred thousand samples of hosts of many kinds; see unwinders.py.
tests/hosts/build.sh "$1" || exit 1
exec timeout 300 /usr/bin/python3 tests/live/unwinders.py "$1" 3 100000 engine tagged deep luajit numba node
