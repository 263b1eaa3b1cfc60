#!/bin/bash
# SPDX-License-Identifier: MIT
# The page begins with what `tailor report` begins with, and its leading rows have the names and shares of `report --json`: of workers, a
# cluster of Node, a server, a build, a whole machine and others.  Functions and lines of several processes are one row, until the switch
# tells processes apart.
. tests/page/begin.bash
need_page
/usr/bin/python3 tests/golden/kinds.py "$dir" || exit 1
cp tests/golden/v1.tlr "$dir/plan.tlr"
cp tests/golden/views/queries.tlr "$dir/server.tlr"
cp tests/golden/views/several.tlr "$dir/several.tlr"
timeout 3000 node tests/page/leads.mjs "$B" "$dir" workers cluster server several build machine plan python c spark
