#!/bin/bash
# SPDX-License-Identifier: MIT
# A join and a group-by fused into a groupjoin: `tailor diff` names the operators that went and the one that came, and no scan;
# the plan shows the groupjoin, and its task level still tells the join's part from the group-by's.
set -u
B=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
for query in q3 q3-groupjoin; do
	timeout 120 "$B/tailor" run -q -o "$dir/$query.tlr" -- \
		"$B/engine" --query $query --scale 0.1 --threads 1 --repeat 40 --check >"$dir/log" 2>&1 ||
		{ echo "tailor run -- engine --query $query --check: failed"; cat "$dir/log"; exit 1; }
done
expect() { # WHAT PATTERN
	grep -qE "$2" "$dir/out" || { echo "$1: expected a line like '$2', got:"; cat "$dir/out"; bad=1; }
}
"$B/tailor" diff "$dir/q3.tlr" "$dir/q3-groupjoin.tlr" >"$dir/out" 2>&1
expect "diff of q3 and q3-groupjoin" 'only in A: group by'
expect "diff of q3 and q3-groupjoin" 'only in B: groupjoin'
"$B/tailor" report --view plan "$dir/q3-groupjoin.tlr" >"$dir/out" 2>&1
expect "report --view plan" groupjoin
"$B/tailor" report --view components --level task "$dir/q3-groupjoin.tlr" >"$dir/out" 2>&1
expect "report --level task" 'groupjoin build'
expect "report --level task" 'groupjoin probe'
expect "report --level task" 'groupjoin group by'
exit $bad
