#!/bin/bash
# SPDX-License-Identifier: MIT
# 300 hosts push 20 epochs each to two ClickHouse servers, of which one is killed and started again amid: then the servers' totals by
# component and by function are the stores', nothing is there twice, what an interrupted push left is not counted, and a late epoch replaces
# its hour.  60 weeks go in one push, old dates are right, a day of 28 reads its own rows alone, and equal questions have equal answers.
# The servers are of version 18.16; fleet-in-a-current-clickhouse has the other.
set -u
command -v clickhouse-server >/dev/null || { echo "skipped, because clickhouse-server is missing"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
TZ=UTC /usr/bin/python3 tests/long/fleet.py "$(cd "$1" && pwd)" "$dir"
