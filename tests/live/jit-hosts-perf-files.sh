#!/bin/bash
# SPDX-License-Identifier: MIT
# Unmodified hosts that write a perf map or a jitdump file, or call Intel's interface, each for a second: at least 98 % of the
# samples in generated code have a name (V8's also a source line), and output and exit status are what they are alone.
set -u
out=$(timeout 300 /usr/bin/python3 tests/hosts/jits.py "$1" --check --seconds 1 \
	node:jitdump php:"perf map" php:intel mono erlang:"perf map" guile javascriptcore)
status=$?
printf '%s\n' "$out"
# the heading is no host
[ "$(printf '%s\n' "$out" | grep -c '^FIGURE')" -gt 1 ] || { echo "skipped, because none of these hosts is installed"; exit 77; }
exit $status
