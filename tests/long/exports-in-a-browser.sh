#!/bin/bash
# SPDX-License-Identifier: MIT
# A browser shows, zooms and searches the flame graph, speedscope's page the table of its functions, and Go's pprof its own: with the
# counts of the CSV.
set -u
B=$1
command -v chromium-headless-shell >/dev/null || { echo "skipped, because there is no chromium-headless-shell"; exit 77; }
[ -x /usr/lib/go-1.19/bin/go ] || { echo "skipped, because there is no golang-1.19-go"; exit 77; }
tests/consumers/fetch.sh "$B" || exit
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
timeout 60 "$B/tailor" run -e task-clock -o "$dir/q3.tlr" -- "$B/engine" --query q3 --threads 2 --scale 0.1 --repeat 3 >"$dir/log" 2>&1 ||
	{ echo "tailor run:"; cat "$dir/log"; exit 1; }
timeout 300 /usr/bin/python3 tests/consumers/consumers.py "$B" --large tests/golden/v1.tlr tests/golden/v2.tlr "$dir/q3.tlr"
