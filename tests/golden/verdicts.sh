#!/bin/bash
# SPDX-License-Identifier: MIT
# The report without --view of traces of several kinds, and how long it is: a screen and a half at most.  ACCEPT=1 takes the new text.
#
# none.tlr: tailor run -r 1 -- /bin/true; plain.tlr: tailor run -r 1000 on a C program; perf.tlr: perf record -k mono -F 500 of the same,
# imported; all three scrubbed.  one.tlr: BUILD/bench/synthetic 1 5 one.tlr; multiplexed.tlr: ... 4000 5 multiplexed.tlr events turns.
set -u
B=$1
dir=tests/golden/verdicts
bad=0
for trace in "$dir"/*.tlr; do
	echo "\$ tailor report ${trace##*/}"
	LC_ALL=C.UTF-8 COLUMNS=80 "$B/tailor" report "$trace"
	echo "\$ tailor report --view warnings ${trace##*/}"
	LC_ALL=C.UTF-8 COLUMNS=80 "$B/tailor" report --view warnings "$trace"
done >"$B/verdicts.out" 2>&1
if [ "${ACCEPT:-}" = 1 ]; then
	cp "$B/verdicts.out" "$dir/expected.txt"
elif ! diff -u "$dir/expected.txt" "$B/verdicts.out"; then
	echo "tailor report $dir/*.tlr: expected what $dir/expected.txt has (-), got the other (+)"
	bad=1
fi
for trace in tests/golden/*.tlr tests/golden/*/*.tlr; do
	lines=$(COLUMNS=80 "$B/tailor" report "$trace" 2>/dev/null | wc -l)
	[ "$lines" -le 72 ] || { echo "tailor report $trace: expected at most 72 lines, got $lines"; bad=1; }
done
exit $bad
