#!/bin/bash
# SPDX-License-Identifier: MIT
# Counts and calls on the page are those of `tailor report --json`: under random filters each column of executions, calls and times, and
# whatever is assumed; the n-queens program's figures are reached by clicks alone, with what the program counted itself: the table beside
# the coloured text, growth from five queens to six, the graph of calls, and its equations.
. tests/page/begin.bash
need_page
/usr/bin/python3 tests/golden/calls.py "$dir/counted.tlr" && /usr/bin/python3 tests/golden/calls.py "$dir/text.tlr" text || exit 1
"$B/tailor" run -q -e task-clock -r 1000 -o "$dir/engine.tlr" -- "$B/engine" --query q3 --scale 0.05 --count minimal >"$dir/out" 2>&1 ||
	{ cat "$dir/out"; exit 1; }
"$B/tailor" run -q -e task-clock -r 1000 -o "$dir/short.tlr" -- "$B/hosts/short_threads" 100 1000 100 >"$dir/out" 2>&1 ||
	{ cat "$dir/out"; exit 1; } # a row without a frame
"$B/tailor" run -q -e task-clock -r 1000 --stack 512 -o "$dir/cut.tlr" -- "$B/engine" --query q3 --scale 0.05 >"$dir/out" 2>&1 ||
	{ cat "$dir/out"; exit 1; }
for n in 5 6; do
	"$B/tailor" run -q -e task-clock -o "$dir/queens-$n.tlr" -- "$B/hosts/queens" $n minimal >"$dir/said-$n" &&
		/usr/bin/python3 tests/golden/calls.py "$dir/text-$n.tlr" text "$n" "$dir/said-$n" || exit 1
done
timeout 3000 node tests/page/calls.mjs "$B" "$dir" "$(combinations 15)" "$dir/counted.tlr" "$dir/text.tlr" "$dir/engine.tlr" \
	"$dir/short.tlr" "$dir/cut.tlr" tests/golden/v2.tlr
