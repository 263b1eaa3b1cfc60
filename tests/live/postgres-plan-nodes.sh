#!/bin/bash
# SPDX-License-Identifier: MIT
# A PostgreSQL server, preloaded, and attached to while it is inside a query: samples are on the nodes of the plan, with the names that
# EXPLAIN gives them, and the rows are those of a server that nothing profiles.  tests/postgres has more (make check-postgres).
. tests/live/begin.bash
judge /usr/bin/python3 tests/live/postgres_plan_nodes.py "$B"
finish
