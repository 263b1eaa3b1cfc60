#!/bin/bash
# SPDX-License-Identifier: MIT
# Of two plans that a host runs in turn, what a row cost is divided by the executions of its own plan, also by those that no sample is of.
. tests/live/begin.bash

record() { # SECONDS: $n samples of the plan that has fewer
	timeout 300 "$B/tailor" run -q -o "$dir/t.tlr" -- "$B/hosts/two_plans" 10 $((1000000 * $1)) 2>"$dir/err" ||
		{ fail "tailor run -- two_plans: expected exit 0, got $?: $(cat "$dir/err")"; return 1; }
	"$B/tailor" report --view plan --json "$dir/t.tlr" >"$dir/json" || { fail "tailor report --view plan: exit $?"; return 1; }
	n=$(/usr/bin/python3 - "$dir/json" 2>&1 <<'END'
import json, sys
tables = json.load(open(sys.argv[1]))["tables"]
samples = {r["id"]: r["samples"] for r in tables["plan"]}
# executions before the first sample and behind the last one do not count: with 25 in each of them there are none
if sum(samples.values()) < 1000:
    print(0)
    sys.exit()
# executions, as the division had them
got = {r["id"]: samples[r["id"]] / (r["samples_per_row"] * r["actual_rows"]) for r in tables["rows"] if r["samples_per_row"]}
if set(got) == {2, 12} and (round(got[2], 6), round(got[12], 6)) != (30, 10):
    sys.exit(f"expected 30 and 10 executions, got {got}")
print(min(samples.get(2, 0), samples.get(12, 0)))
END
	) || { fail "$n"; return 1; }
}
gather 5 record
finish
