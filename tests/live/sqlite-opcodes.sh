#!/bin/bash
# SPDX-License-Identifier: MIT
# SQLite's statements in Python, which loads the library by dlopen, and in its shell, which is linked with it: samples are on the
# instructions of their programs, as EXPLAIN lists them, and those are the ones that call the functions in which the samples are.
. tests/live/begin.bash
judge /usr/bin/python3 tests/live/sqlite_opcodes.py "$B" "$dir"
finish
