#!/bin/bash
# SPDX-License-Identifier: MIT
# Node's code has names however a script gets there (ES module with top-level await, -e, stdin, threads, cluster, vm), and so has that of
# another embedder of V8, which opens no file and makes isolates in memory of earlier ones: at least 98 % of the samples in generated code.
# What is inlined from another file is on no line before or behind the function that it is inlined in: V8 tells places, and of no file.
# Functions that V8 inlined, from the same and from another file, have their own time, and their callers have it as well.
# A function that only calls others, and that V8 interprets, is on call stacks, too.
. tests/live/begin.bash
judge /usr/bin/python3 tests/hosts/jits.py "$B" --check \
	"node module:adapter" "node -e:adapter" "node stdin:adapter" "node worker:adapter" "node cluster:adapter" "node vm:adapter" \
	"v8 embedded:adapter"
command -v node >/dev/null || finish
{
	echo 'exports.first = function first(x) { return (x * 31 + (x >> 3)) ^ (x << 2); };'
	printf '// a comment\n%.0s' {1..80}
	echo 'exports.last = function last(x) { return (x * 33 + (x >> 4)) ^ (x << 3); };'
} >"$dir/inner.js"
{
	printf '// a comment\n%.0s' {1..20}
	cat <<'END'
const { first, last } = require('./inner.js');
function outer(n) { let s = 0;
  for (let i = 0; i < n; i++) s = (s + first(s + i) + last(s ^ i)) | 0;
  return s; }
for (let k = 0, e = process.cpuUsage().user + 1e6 * process.argv[2]; process.cpuUsage().user < e; k++) handler();
function handler() { return outer(1e6); }
END
	printf '// a comment\n%.0s' {1..80}
} >"$dir/outer.js"
seconds=0.5
lines() {
	"$B/tailor" run -q -e "$(plain_event)" -o "$dir/t.tlr" -- node "$dir/outer.js" $seconds || return 2
	"$B/tailor" report --view lines --json --top 0 "$dir/t.tlr" | /usr/bin/python3 -c '
import json, sys
rows = [r for r in json.load(sys.stdin)["tables"]["lines"] if r["file"].endswith("/outer.js")]
outside = sum(r["samples"] for r in rows if not 20 < r["line"] <= 25)
n = sum(r["samples"] for r in rows)
print(f"FIGURE inlined from another file: {n} samples of the outer one, {outside} of them on comments")
sys.exit(77 if n < 200 else outside > 0.02 * n)'
	local status=$?
	[ $status != 77 ] || seconds=$(awk "BEGIN { print 2 * $seconds }")
	return $status
}
decide --sure "what is inlined from another file is on no line of another function" lines
"$B/tailor" report --view components --level function --json "$dir/t.tlr" | /usr/bin/python3 -c '
import json, sys
total = {r["name"]: r["total_samples"] for r in json.load(sys.stdin)["tables"]["function"]}
print("FIGURE interpreted caller: in {handler} of {outer} samples of what it calls".format(**total))
sys.exit(total["handler"] < 0.95 * total["outer"])' || fail "a function that V8 interprets is not on call stacks"

# The three do the same work in 3 : 1 : 1, and are so small that V8 puts all of them into handler(), by way of work().
cat >"$dir/inlined.js" <<'END'
exports.heavy = function heavy(n) { let s = 0; for (let i = 0; i < 3 * n; i++) s = (s * 31 + i) | 0; return s; };
exports.light = function light(n) {
  let s = 1;
  for (let i = 0; i < n; i++)
    s = (s * 31 + i) | 0;
  return s; };
END
cat >"$dir/inlines.js" <<'END'
const { heavy, light } = require('./inlined.js');
function near(n) { let s = 1; for (let i = 0; i < n; i++) s = (s * 31 + i) | 0; return s; }
function work(x) { return heavy(1000 + x) + light(1000 + x) + near(1000 + x); }
function handler(until) { let k = 0; while (process.cpuUsage().user < until) for (let i = 0; i < 1000; i++) k += work(i & 3); return k; }
handler(process.cpuUsage().user + 1e6 * process.argv[2]);
END
seconds=1
inlined() {
	"$B/tailor" run -q -e "$(plain_event)" -o "$dir/t.tlr" -- node "$dir/inlines.js" $seconds || return 2
	"$B/tailor" report --view components --level function --json --top 0 "$dir/t.tlr" | /usr/bin/python3 -c '
import json, sys
row = {r["name"]: r for r in json.load(sys.stdin)["tables"]["function"]}
names = ("heavy", "light", "near", "work", "handler")
own, total = ({name: row.get(name, {}).get(key, 0) for name in names} for key in ("samples", "total_samples"))
n = sum(own.values())
print(f"FIGURE inlined by V8: {n} samples, self {own}, total {total}")
inside = own["heavy"] + own["light"] + own["near"]
planted = {"heavy": 60, "light": 20, "near": 20}
sys.exit(77 if n < 2000 else not (inside >= 0.9 * n and total["work"] >= 0.95 * inside and total["handler"] >= total["work"] and
                                  all(abs(100 * own[name] / inside - share) < 3 for name, share in planted.items())))'
	local status=$?
	[ $status != 77 ] || seconds=$(awk "BEGIN { print 2 * $seconds }")
	return $status
}
decide --nearly "functions that V8 inlined have the time that was planted in them" inlined
finish
