#!/bin/bash
# SPDX-License-Identifier: MIT
# DuckDB's library as npm has it, in a program that loads it by dlopen, and in Node: samples of its tasks are on operators with the names
# that its EXPLAIN gives them, rows and errors are those of a program that nothing profiles.  tests/duckdb has more (make check-duckdb).
. tests/live/begin.bash
tests/duckdb/fetch.sh "$B" || exit
judge /usr/bin/python3 tests/live/duckdb_operators.py "$B" "$dir"
finish
