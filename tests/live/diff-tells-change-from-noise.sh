#!/bin/bash
# SPDX-License-Identifier: MIT
# `tailor diff` of recordings of the same query names nothing (at most one false alarm in all pairs), also with several traces a side;
# of another query it names operators that are only there.  LONG=1: more recordings, so more than 20 pairs.
set -u
B=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
runs=$([ "${LONG:-}" ] && echo 8 || echo 5)
bad=0
record() { # OUT QUERY ; by a clock, which takes turns with nobody
	timeout 120 "$B/tailor" run -q -e task-clock -o "$dir/$1.tlr" -- "$B/engine" --query "$2" --scale 0.05 --threads 2 --repeat 30 \
		>"$dir/log" 2>&1 ||
		{ echo "tailor run -- engine --query $2: failed"; cat "$dir/log"; exit 1; }
}
changes() { "$B/tailor" diff --json "$@" | sed -n 's/^  "significant": \([0-9]*\).*/\1/p'; }
for i in $(seq "$runs"); do record "$i" q3; done
record other fig9
pairs=0 alarms=0
for i in $(seq "$runs"); do
	for j in $(seq $((i + 1)) "$runs"); do
		n=$(changes "$dir/$i.tlr" "$dir/$j.tlr")
		pairs=$((pairs + 1))
		[ "$n" = 0 ] && continue
		alarms=$((alarms + 1))
		"$B/tailor" diff "$dir/$i.tlr" "$dir/$j.tlr"
	done
done
echo "FIGURE diff of one query with itself: $alarms alarms in $pairs pairs"
[ $alarms -le 1 ] || { echo "expected at most 1 alarm, got $alarms (above)"; bad=1; }
"$B/tailor" diff "$dir/1.tlr" "$dir/other.tlr" >"$dir/out"
grep -q 'only in [AB]: \|group by' "$dir/out" ||
	{ echo "diff of q3 and fig9: expected operators that changed, got:"; cat "$dir/out"; bad=1; }
n=$(changes "$dir/1.tlr,$dir/2.tlr" "$dir/other.tlr")
[ "${n:-0}" -ge 1 ] || { echo "diff of two q3 and one fig9: expected at least 1 change, got $n"; bad=1; }
# a query that takes longer fails in a script, one that is the same does not say so by its operators
"$B/tailor" diff --fail-above 50% "$dir/1.tlr" "$dir/other.tlr" >"$dir/out"
[ $? = 3 ] || { echo "diff --fail-above 50% of q3 and fig9: expected exit 3, got:"; cat "$dir/out"; bad=1; }
exit $bad
