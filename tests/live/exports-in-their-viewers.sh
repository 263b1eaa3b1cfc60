#!/bin/bash
# SPDX-License-Identifier: MIT
# Firefox's, Perfetto's, speedscope's and pprof's own readers open what `tailor export` writes, of the golden traces and of two threads
# of a query just recorded, and count what its CSV does: samples by thread and by function, marks and how long they took.
set -u
B=$1
tests/consumers/fetch.sh "$B" || exit
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
timeout 60 "$B/tailor" run -e task-clock -o "$dir/q3.tlr" -- "$B/engine" --query q3 --threads 2 --scale 0.1 --repeat 3 >"$dir/log" 2>&1 ||
	{ echo "tailor run:"; cat "$dir/log"; exit 1; }
timeout 300 /usr/bin/python3 tests/consumers/consumers.py "$B" tests/golden/v1.tlr tests/golden/v2.tlr "$dir/q3.tlr" "$dir/q3.tlr:operator"
