#!/bin/bash
# SPDX-License-Identifier: MIT
# Node's code has names however a script gets there (ES module with top-level await, -e, stdin, threads, cluster, vm), and so has that of
# another embedder of V8, which opens no file and makes isolates in memory of earlier ones: at least 98 % of the samples in generated code.
# What is inlined from another file is on no line in front of the function that it is inlined in: V8 tells its places, but not its file.
. tests/live/begin.bash
judge /usr/bin/python3 tests/hosts/jits.py "$B" --check \
	"node module:adapter" "node -e:adapter" "node stdin:adapter" "node worker:adapter" "node cluster:adapter" "node vm:adapter" \
	"v8 embedded:adapter"
command -v node >/dev/null || finish
cat >"$dir/inner.js" <<'END'
exports.inner = function inner(x) {
  return (x * 31 + (x >> 3)) ^ (x << 2);
};
END
{
	printf '// a comment\n%.0s' {1..20}
	cat <<'END'
const { inner } = require('./inner.js');
function outer(n) { let s = 0;
  for (let i = 0; i < n; i++) s = (s + inner(s + i)) | 0;
  return s; }
for (let k = 0, e = process.cpuUsage().user + 1e6 * process.argv[2]; process.cpuUsage().user < e; k++) outer(1e6);
END
} >"$dir/outer.js"
seconds=0.5
lines() {
	"$B/tailor" run -q -e "$(plain_event)" -o "$dir/t.tlr" -- node "$dir/outer.js" $seconds || return 2
	"$B/tailor" report --view lines --json --top 0 "$dir/t.tlr" | /usr/bin/python3 -c '
import json, sys
rows = [r for r in json.load(sys.stdin)["tables"]["lines"] if r["file"].endswith("/outer.js")]
above = sum(r["samples"] for r in rows if r["line"] <= 20)
n = sum(r["samples"] for r in rows)
print(f"FIGURE inlined from another file: {n} samples of the outer one, {above} of them above its functions")
sys.exit(77 if n < 200 else above > 0.02 * n)'
	local status=$?
	[ $status != 77 ] || seconds=$(awk "BEGIN { print 2 * $seconds }")
	return $status
}
decide --sure "what is inlined from another file is on no line above the function" lines
finish
