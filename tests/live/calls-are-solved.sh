#!/bin/bash
# SPDX-License-Identifier: MIT
# The n-queens program of O. Waddell and J. Ashley as a host: from 16 counters for 39 arcs, from entries alone, and from all arcs, every
# call that `--view calls` shows is what the program counted itself; what is assumed against the counts is said.
. tests/live/begin.bash
cat >"$dir/compare.py" <<'PYTHON'
import json, subprocess, sys
B, trace, said = sys.argv[1:]
truth = {}
names = [(2, "queens", "try-column"), (3, "try-column", "row-free?"), (4, "try-column", "diagonal-free?"), (10, "try-column", "try-column"),
	 (5, "row-free?", "exists?"), (7, "diagonal-free?", "column-of"), (6, "diagonal-free?", "exists?"), (8, "exists?", "same-row?"),
	 (8, "exists?", "on-diag?"), (11, "exists?", "exists?"), (9, "on-diag?", "on-diag-loop")]
for line in open(said):
    word = line.split()
    if word[0] == "call":
        truth[names[int(word[1])]] = int(word[2])
truth[None, "(elsewhere)", "queens"] = 1
page = json.loads(subprocess.run([B + "/tailor", "report", "--view", "calls", "--json", trace], stdout=subprocess.PIPE, check=True,
				 timeout=300).stdout)
got = {(r["site"], r["caller"], r["callee"]): r["calls"] for r in page["tables"]["calls"]}
if got != truth:
    sys.exit(f"expected {truth}, got {got}")
entered = {}
for (_, _, callee), calls in truth.items():
    entered[callee] = entered.get(callee, 0) + calls
functions = {r["name"]: r["executions"] for r in page["tables"]["functions"]}
if functions != entered:
    sys.exit(f"expected executions {entered}, got {functions}")
if any("contradict" in note or "estimated" in note for note in page.get("notes", [])):
    sys.exit(f"nothing is estimated or contradicts itself, got {page['notes']}")
print(len(got), "calls are right")
PYTHON
for n in 5 8; do
	for how in "minimal exit" "entries exit" "all exit" "minimal kill"; do
		timeout 300 "$B/tailor" run -q -o "$dir/t.tlr" -- "$B/hosts/queens" $n $how >"$dir/said"
		/usr/bin/python3 "$dir/compare.py" "$B" "$dir/t.tlr" "$dir/said" || fail "$n queens, $how"
	done
done
report() { timeout 300 "$B/tailor" report --view calls "$@" "$dir/t.tlr"; }
report --assume 'exists?.8->same-row?=5' | grep -q 'contradict each other' || fail "an assumption that cannot be is not said: $(report)"
report --assume 'exists?.8->nowhere=5' | grep -q "the trace has no such call" || fail "an assumption of nothing is not said: $(report)"
report --assume 'exists?=5' 2>"$dir/error"
[ $? = 2 ] && grep -q 'must be CALLER' "$dir/error" || fail "expected exit 2 and a sentence, got $(cat "$dir/error")"
report --sort callee --top 0 | awk '/^Call sites/ { on = 1; next } on && /[a-z]/ { print $NF }' | sed -n 2,13p | LC_ALL=C sort -c ||
	fail "not sorted by callee: $(report --sort callee --top 0)"
# growth that is not linear: five and six queens have 220 and 894 trials of a row
timeout 300 "$B/tailor" run -q -o "$dir/five.tlr" -- "$B/hosts/queens" 5 >/dev/null
timeout 300 "$B/tailor" run -q -o "$dir/six.tlr" -- "$B/hosts/queens" 6 >/dev/null
timeout 300 "$B/tailor" diff --json --level procedure --expr 'executions_b - 6/5 * executions_a' "$dir/five.tlr" "$dir/six.tlr" >"$dir/diff"
grep -q '"result": 630' "$dir/diff" || fail "expected 894 - 6/5 * 220 trials of a row: $(cat "$dir/diff")"
report --sort nothing | grep -q "Not sorted: no table here has a column 'nothing'" || fail "a column that is not there is not said"
finish
