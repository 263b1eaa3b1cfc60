#!/bin/bash
# SPDX-License-Identifier: MIT
# The sample table is the same natively and as wasm32: filters and groups of golden traces, and of a synthetic one of several blocks, are
# made by the command's build and, under node, by BUILD/table.wasm, and must be alike bit for bit.
set -u
B=$1
for need in "$B/table.wasm" "$B/bench/columns" "$B/bench/synthetic"; do
	[ -e "$need" ] || { echo "skipped, because $need has not been built (make table)"; exit 77; }
done
command -v node >/dev/null || { echo "skipped, because there is no node"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
timeout 600 "$B/bench/synthetic" 20000 200 "$dir/synthetic.tlr" events || exit 1
files=()
for trace in tests/golden/v2.tlr tests/golden/views/several.tlr "$dir/synthetic.tlr"; do
	out=$dir/$(basename "$trace" .tlr)
	timeout 600 "$B/bench/columns" "$trace" "$out" || exit 1
	files+=("$out")
done
cp tests/golden/table.js "$dir/"
timeout 600 node "$dir/table.js" "$B/table.wasm" "${files[@]}"
