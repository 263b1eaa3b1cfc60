#!/bin/bash
# SPDX-License-Identifier: MIT
# Where the kernel may be sampled: of a loop that touches fresh pages, `--view stalls` says page faults first, and of one that calls the
# kernel, the kernel; both sums are what the kernel's samples are.
. tests/live/begin.bash
[ "$(plain_event)" = task-clock ] || skip "the kernel may not be sampled by this user"
record() { # LOOP SECONDS
	"$B/tailor" run -q -e task-clock,page-faults -o "$dir/t.tlr" -- "$B/hosts/planted" "$1" "$2" ||
		{ fail "tailor run: exit $?"; return 1; }
	"$B/tailor" report --view stalls --mark run --json "$dir/t.tlr" >"$dir/json" || { fail "tailor report: exit $?"; return 1; }
	"$B/tailor" export --format csv --mark run --event task-clock "$dir/t.tlr" >"$dir/csv" ||
		{ fail "tailor export: exit $?"; return 1; }
	n=$(/usr/bin/python3 -c 'import json, sys; print(int(json.load(sys.stdin)["samples"]))' <"$dir/json")
}
for loop in fresh-pages:page_fault system-calls:kernel read-zeros:kernel; do
	gather 500 record "${loop%:*}" || continue
	/usr/bin/python3 - "${loop#*:}" "$dir/json" "$dir/csv" <<'PYTHON' || fail "report --view stalls of ${loop%:*}: see above"
import csv, json, sys
rows = json.load(open(sys.argv[2]))["tables"]["summary"]
causes = {r["cause_key"]: r for r in rows if r["cause_key"] in ("page_fault", "kernel")}
if next(iter(causes), None) != sys.argv[1]:
    sys.exit(f"expected {sys.argv[1]} first, got {rows}")
# what one cause has at least and the other at most is all that the samples say of the kernel
weight = {"kernel": 0, "user": 0}
for r in csv.DictReader(open(sys.argv[3])):
    weight[r["mode"]] += float(r["weight"]) * float(r["share"])
kernel = weight["kernel"] / sum(weight.values())
none = {"at_least": 0, "at_most": 0}
a, b = causes.get("page_fault", none), causes.get("kernel", none)
for one, other in (a, b), (b, a):
    if abs(one["at_least"] + other["at_most"] - kernel) > 1e-6:
        sys.exit(f"expected bounds that add up to the kernel's part of the time, {kernel}, got {list(causes.values())}")
PYTHON
done
"$B/tailor" report --view stalls --svg "$dir/s.svg" "$dir/t.tlr" >/dev/null && grep -q '<rect class="f' "$dir/s.svg" ||
	fail "report --view stalls --svg: expected bars, got: $(head -c 300 "$dir/s.svg")"
finish
