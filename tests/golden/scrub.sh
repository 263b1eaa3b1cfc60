#!/bin/bash
# SPDX-License-Identifier: MIT
# `tailor scrub`: what must not be told is gone, and the reports that need none of it say the same as before.
set -u
B=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
say() { echo "$1"; bad=1; }
trace=tests/golden/v1.tlr
"$B/tailor" scrub -o "$dir/s.tlr" $trace >"$dir/out" || { cat "$dir/out"; say "tailor scrub: failed"; }
grep -q '113 samples' "$dir/out" || say "tailor scrub: expected a line with 113 samples, got: $(cat "$dir/out")"
"$B/tailor" scrub --drop-names --drop-code -o "$dir/n.tlr" $trace >/dev/null || say "tailor scrub --drop-names --drop-code: failed"

# gone: looked for in every byte that is in the file, uncompressed
for secret in BUILDING 1995-03-15 /opt/build -scale 'vm'; do
	"$B/tailor" dump --full "$trace" | grep -q -e "$secret" || say "expected '$secret' in $trace: this test would find nothing"
	"$B/tailor" dump --full "$dir/s.tlr" | grep -n -e "\"[^\"]*$secret" && say "tailor scrub: '$secret' is still there (above)"
done
hex=$(printf '/opt/build/build' | od -An -tx1 | tr -d ' \n')
"$B/tailor" dump --full "$dir/s.tlr" | grep -c "$hex" | grep -qx 0 || say "tailor scrub: a directory is left in an image's strings"
"$B/tailor" dump --full "$dir/n.tlr" | grep -n -e 'COMPONENT.*hash join' -e 'SOURCE.*define' &&
	say "tailor scrub --drop-names: names are still there (above)"
"$B/tailor" dump "$dir/s.tlr" | grep -q 'SAMPLES.*\[11 ' && say "tailor scrub: stack bytes are still there"

# the same as before
# (images whose directories told them apart become one)
for view in threads components pipelines reasons timeline; do
	"$B/tailor" report --view $view --json --top 0 "$trace" | grep -E '"(samples|share|weight|kernel|tid)"' >"$dir/before"
	"$B/tailor" report --view $view --json --top 0 "$dir/s.tlr" | grep -E '"(samples|share|weight|kernel|tid)"' >"$dir/after"
	cmp -s "$dir/before" "$dir/after" ||
		say "tailor report --view $view of the scrubbed trace differs: $(diff "$dir/before" "$dir/after" | head -n 5)"
done
"$B/tailor" report --view components --level operator --json "$dir/n.tlr" | grep '"samples"' >"$dir/after"
"$B/tailor" report --view components --level operator --json "$trace" | grep '"samples"' >"$dir/before"
cmp -s "$dir/before" "$dir/after" ||
	say "--drop-names --drop-code: expected the same samples per operator, got: $(diff "$dir/before" "$dir/after" | head -n 5)"

# functions that are inlined, and their files
host=tests/golden/views/host.tlr
"$B/tailor" scrub -o "$dir/h.tlr" $host >/dev/null || say "tailor scrub: failed"
"$B/tailor" dump "$host" | grep INLINES | grep -q synthetic || say "expected a directory in INLINES of $host: this test would find nothing"
"$B/tailor" dump "$dir/h.tlr" | grep -nE '(INLINES|LOAD).*synthetic' && say "tailor scrub: a directory is left (above)"
"$B/tailor" dump "$dir/h.tlr" | grep -q 'INLINES.*helper' || say "tailor scrub: expected the inlined functions' names to stay"
"$B/tailor" scrub --drop-names -o "$dir/h.tlr" $host >/dev/null || say "tailor scrub --drop-names: failed"
"$B/tailor" dump "$dir/h.tlr" | grep -n 'INLINES.*helper' && say "tailor scrub --drop-names: inlined functions have names (above)"

# misuse
cp "$trace" "$dir/own.tlr"
"$B/tailor" scrub -o "$dir/own.tlr" "$dir/own.tlr" 2>/dev/null
[ $? = 2 ] || say "tailor scrub over itself: expected exit 2"
cmp -s "$trace" "$dir/own.tlr" || say "tailor scrub over itself: the trace was changed"
head -c 20000 "$trace" >"$dir/cut.tlr"
"$B/tailor" scrub -o "$dir/c.tlr" "$dir/cut.tlr" >/dev/null 2>&1
[ $? = 1 ] || say "tailor scrub of a cut trace: expected exit 1"
[ $bad = 0 ] && echo "scrubbed traces say what they should and no more"
exit $bad
