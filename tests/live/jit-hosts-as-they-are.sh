#!/bin/bash
# SPDX-License-Identifier: MIT
# Unmodified hosts without any flag for a profiler, each for a second: at least 98 % of the samples in generated code have a name,
# where the host knows lines 95 % have one, and output and exit status are what they are alone.
set -u
out=$(timeout 300 /usr/bin/python3 tests/hosts/jits.py "$1" --check --seconds 1 \
	node:adapter openjdk:adapter luajit php:adapter mono:adapter erlang:gdb pypy javascriptcore:adapter)
status=$?
printf '%s\n' "$out"
# the heading is no host
[ "$(printf '%s\n' "$out" | grep -c '^FIGURE')" -gt 1 ] || { echo "skipped, because none of these hosts is installed"; exit 77; }
exit $status
