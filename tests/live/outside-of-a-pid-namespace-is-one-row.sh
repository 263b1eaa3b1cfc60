#!/bin/bash
# SPDX-License-Identifier: MIT
# A recorder of the whole machine inside of a PID namespace: processes outside of it, which all have the number 0, are one row, and no code
# that a JIT did not name. The process inside has its own.
. tests/live/begin.bash
inside=(unshare --pid --fork --mount-proc)
[ "$(id -u)" = 0 ] || skip "all processors are counted by root"
timeout 20 "${inside[@]}" true 2>/dev/null || skip "no PID namespace can be made here"
outside='[other PID namespace]'
"$B/hosts/busy" 100000000 >/dev/null & others=($!)
trap 'kill -9 "${others[@]}" 2>/dev/null; rm -rf "$dir"' EXIT

record() { # SECONDS
	timeout 300 "${inside[@]}" bash -c '"$1/hosts/busy" 100000000 >/dev/null & "$1/tailor" "${@:2}"; kill -9 $!' bash "$B" \
		"${way[@]}" --duration "$1" 2>"$dir/err" || { fail "${way[*]}: exit $?: $(cat "$dir/err")"; return 1; }
	n=$("$B/tailor" "${of[@]}" --view processes --json | /usr/bin/python3 -c '
import json, sys
rows = json.load(sys.stdin)["tables"]["processes"]
inside = [r["samples"] for r in rows if r["name"] == "busy"]
print(int(min(sum(r["samples"] for r in rows if r["name"] == sys.argv[1]), *inside) if inside else 0))' "$outside")
}
way=(attach -q --all -o "$dir/t.tlr")
of=(report "$dir/t.tlr")
if gather 200 record; then
	"$B/tailor" report "$dir/t.tlr" >"$dir/report"
	grep -q 'did not name' "$dir/report" && fail "code of other programs is taken for a JIT's: $(head -3 "$dir/report")"
	grep -q "record outside of the container" "$dir/err" || fail "nothing says why other processes have no names: $(cat "$dir/err")"
	"$B/tailor" report --view processes --json --top 0 "$dir/t.tlr" | /usr/bin/python3 -c '
import json, sys
rows = json.load(sys.stdin)["tables"]["processes"]
names = [r["name"] for r in rows if r["pid"] == 0]
print("process 0:", names)
sys.exit(names != [sys.argv[1]])' "$outside" || fail "expected one process 0, $outside"
fi
finish
