#!/bin/bash
# SPDX-License-Identifier: MIT
# A store of a server's queries, as PostgreSQL, DuckDB, SQLite and Spark announce them: a query and a node of its plan are one row, whatever
# literals executions and epochs have; another plan is told, another literal is not; functions of languages, with totals.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
/usr/bin/python3 tests/golden/store_queries.py "$1/tailor" "$dir"
