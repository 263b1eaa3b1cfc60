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
# Executions before the first sample and behind the last one do not count: with 25 samples in each there are none.  A quarter of the time
# is the second plan's: with a thousand samples both have some.
if sum(samples.values()) < 1000:
    print(0)
    sys.exit()
# executions, as the division had them
got = {r["id"]: round(samples[r["id"]] / (r["samples_per_row"] * r["actual_rows"]), 6) for r in tables["rows"] if r["samples_per_row"]}
if got != {2: 30, 12: 10}:
    sys.exit(f"expected 30 executions of the first plan's scan and 10 of the second's, got {got} of {samples}")
print(min(samples[2], samples[12]))
END
	) || { fail "$n"; return 1; }
}
gather 5 record
finish
