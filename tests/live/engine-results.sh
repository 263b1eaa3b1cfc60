#!/bin/bash
# SPDX-License-Identifier: MIT
# The engine is right: every query, however it is tagged, generated and optimized, gives what the naive evaluation gives.
set -u
B=$1
nr=0
for query in fig9 fig10a fig10b q1 q3 q3-groupjoin q6 q16 q18 pagerank calibrate calibrate-inline; do
	for how in "" "--outline" "--outline --pack" "--tag memory" "--tag none" "--threads 1" "--threads 7" \
		"--optimize none" "--optimize inline" "--optimize vector --threads 3" "--optimize unroll" \
		"--optimize cse,fuse,unroll --outline" \
		"--optimize inline,fold,cse,eliminate,fuse,vector,unroll" "--optimize inline,fold,cse,eliminate,fuse,vector,unroll,llvm"; do
		# shellcheck disable=SC2086
		out=$(timeout 100 "$B/engine" --query $query --scale 0.02 --repeat 2 --check $how 2>&1) || {
			echo "engine --query $query $how --check: $out"
			exit 1
		}
		nr=$((nr + 1))
	done
done
rows=$("$B/engine" --query q6 --scale 1 --check | grep -c 'naive evaluation agrees')
[ "$rows" = 1 ] || { echo "scale 1: the naive evaluation does not agree"; exit 1; }
lineitems=$("$B/engine" --query q6 --scale 1 --explain | sed -n 's/.*scan lineitem  (operator 1, \([0-9]*\) rows expected).*/\1/p')
[ "${lineitems:-0}" -ge 6000000 ] || { echo "scale 1: expected six million lineitems, got '$lineitems'"; exit 1; }
echo "FIGURE $nr ways of running twelve queries agree with the naive evaluation; $lineitems lineitems at scale 1"
