#!/bin/bash
# SPDX-License-Identifier: MIT
# Where counters were multiplexed, or samples were lost, weights stand for what there was, and the report says so: the same samples with and
# without the counters' own words at their ends.  Where threads moved between processors, counters took no turns, though each was enabled
# for longer than it could count.
set -u
B=$1
[ -e "$B/bench/synthetic" ] || { echo "skipped, because $B/bench/synthetic has not been built (make table)"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
"$B/bench/synthetic" 4000 5 "$dir/whole.tlr" events && "$B/bench/synthetic" 4000 5 "$dir/turns.tlr" events turns &&
	"$B/bench/synthetic" 4000 5 "$dir/migrated.tlr" events migrated || exit 1
/usr/bin/python3 - "$B/tailor" "$dir" <<'END'
import json, subprocess, sys

tailor, dir = sys.argv[1:]
def report(name, *arguments):
    out = subprocess.run([tailor, "report", *arguments, f"{dir}/{name}.tlr"], capture_output=True, text=True, check=True).stdout
    return json.loads(out) if "--json" in arguments else " ".join(out.split())
bad = 0
def expect(what, expected, actual):
    global bad
    if abs(expected - actual) > 0.002 * expected:
        bad = 1
        print(f"{what}: expected {expected}, got {actual}")
def weights(name, event):
    return {t["tid"]: t["weight"] for t in report(name, "--view", "threads", "--event", event, "--json")["tables"]["threads"]}
whole, turns = weights("whole", "cycles"), weights("turns", "cycles")
for tid, weight in whole.items():
    expect(f"cycles of thread {tid}", weight * (4 if tid == min(whole) else 1), turns[tid])
whole, turns = weights("whole", "instructions"), weights("turns", "instructions")
for tid, weight in whole.items():
    expect(f"instructions of thread {tid}", weight * 1.5, turns[tid])
text = report("turns", "--view", "threads")
for said in ("samples cover 81 % of cycles (multiplexed)",
             "67 % of instructions (samples were lost)"):
    if said not in text:
        bad = 1
        print(f"tailor report --view threads: expected '{said}', got: {text[:500]}")
if "running 81 % of the time" not in report("turns"):
    bad = 1
    print(f"tailor report: expected 'running 81 % of the time', got: {report('turns')[:500]}")
for name in "whole", "migrated":
    if weights(name, "cycles") != weights("whole", "cycles") or weights(name, "instructions") != weights("whole", "instructions"):
        bad = 1
        print(f"{name}: expected the weights that samples have, got {weights(name, 'cycles')} and {weights(name, 'instructions')}")
    if "samples cover" in report(name, "--view", "threads") or "multiplexed" in report(name):
        bad = 1
        print(f"tailor report {name}.tlr: says that weights were scaled where nothing is missing")
sys.exit(bad)
END
