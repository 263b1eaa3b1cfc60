#!/bin/bash
# SPDX-License-Identifier: MIT
# A program in a time namespace, whose clock is days ahead or behind, has its operators: what its agent says is converted to the kernel's
# clock. The recorder may be outside or inside of the namespace.
. tests/live/begin.bash
inside=(unshare --fork --time --monotonic)
timeout 20 "${inside[@]}" 100 true 2>/dev/null || skip "no time namespace can be made here (root and util-linux 2.36 can)"
[ -x "$B/engine" ] || skip "the engine is not built"

# of_run_phase: share of the samples of the query's run phase that are on operators, in thousandths; nothing if there are none.
of_run_phase() {
	"$B/tailor" report --view components --level operator --mark run --json "$dir/t.tlr" 2>/dev/null | /usr/bin/python3 -c '
import json, sys
rows = json.load(sys.stdin)["tables"]["operator"]
print(round(1000 * sum(r["share"] for r in rows if r["name"] != "(unattributed)")))' 2>/dev/null
}
record() { # SECONDS is unused: the query is repeated, the samples are counted
	timeout 300 "${command[@]}" >/dev/null 2>"$dir/err" || { fail "${command[*]}: exit $?: $(cat "$dir/err")"; return 1; }
	n=$("$B/tailor" report --samples "$dir/t.tlr" 2>/dev/null | wc -l)
}
query=("$B/engine" --query q6 --repeat 15)
run=("$B/tailor" run -q -o "$dir/t.tlr" --)
for where in outside inside; do
	for offset in 200000 -60; do
		if [ $where = outside ]; then
			command=("${run[@]}" "${inside[@]}" $offset "${query[@]}")
		else
			command=("${inside[@]}" $offset "${run[@]}" "${query[@]}")
		fi
		gather 300 record || continue
		share=$(of_run_phase)
		echo "recorder $where, clock $offset s ahead: $share of 1000 samples of the run phase are on operators"
		[ "${share:-0}" -ge 800 ] || fail "recorder $where, clock $offset s ahead: operators have no samples"
	done
done
finish
