#!/bin/bash
# SPDX-License-Identifier: MIT
# Two queries whose morsels share two threads: --mark run#N has that query's samples and no others; the plan says which query it is of.
# A tag in a thread-local word is read with --sampler signal, and where it cannot be read the report begins with that.
. tests/live/begin.bash
record() { # SECONDS
	timeout 300 "$B/tailor" run -q --sampler signal -o "$dir/t.tlr" -- "$B/hosts/queries" $((1000 * $1)) 2>"$dir/err" ||
		{ fail "queries: $(cat "$dir/err")"; return 1; }
	timeout 300 "$B/tailor" report --json "$dir/t.tlr" >"$dir/json" 2>/dev/null
	n=$(/usr/bin/python3 -c 'import json, sys; print(json.load(sys.stdin)["samples"]["total"])' <"$dir/json")
}
gather 400 record || finish
for q in 1 2; do
	timeout 300 "$B/tailor" report --json --mark run#$q "$dir/t.tlr" >"$dir/json" 2>/dev/null
	/usr/bin/python3 -c '
import json, sys
q, r = sys.argv[1], json.load(open(sys.argv[2]))
own = {c["name"]: c["samples"] for c in r["components"] if c["samples"] and c["level"] in ("operator", 1)}
other = sum(n for name, n in own.items() if name != "scan " + q)
if other or not own.get("scan " + q):
    sys.exit(f"run#{q}: expected samples of scan {q} and no others, got {own}")
told = {c["name"]: (c.get("query"), c.get("runtime")) for c in r["components"] if c["level"] in ("operator", 1)}
if told.get("scan " + q) != ("query " + q, True):
    sys.exit(f"expected the query and the flag of scan {q}, got {told}")
' $q "$dir/json" || fail "run#$q"
done
timeout 300 "$B/tailor" report --view plan "$dir/t.tlr" >"$dir/plan" 2>/dev/null
grep -q '^query  *query 1: select a from one$' "$dir/plan" && grep -q '^query  *query 2: select sum(b) from two$' "$dir/plan" ||
	{ fail "plans without the texts of their queries:"; cat "$dir/plan"; }
grep -q 'query 1: scan 1' "$dir/plan" && grep -q 'query 2: scan 2' "$dir/plan" || { fail "plans without their queries:"; cat "$dir/plan"; }
timeout 300 "$B/tailor" run -q -o "$dir/word.tlr" -- "$B/hosts/queries" 10
timeout 300 "$B/tailor" report "$dir/word.tlr" 2>/dev/null | head -n 1 | grep -q 'thread-local.*--sampler' ||
	fail "expected a first line on the tag, got: $(timeout 300 "$B/tailor" report "$dir/word.tlr" 2>/dev/null | head -n 3)"
finish
