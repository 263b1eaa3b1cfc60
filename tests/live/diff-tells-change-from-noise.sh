#!/bin/bash
# SPDX-License-Identifier: MIT
# `tailor diff` of recordings of the same query names nothing but once in twenty times; of another query it names operators, also with
# several traces a side, and --fail-above fails.  LONG=1: so many pairs that one false alarm in five is told from one in twenty.
. tests/live/begin.bash
judge /usr/bin/python3 - "$B" "$dir" <<'END'
import json, os, subprocess, sys
sys.path.insert(0, "tests")
from evidence import decide, gather

B, DIR = sys.argv[1:]
wrong = 0.8 if os.environ.get("LONG") else 0.5
first_s = {}

def run(*command, expected=(0,)):
    p = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if p.returncode not in expected:
        sys.exit(f"{' '.join(command)}: expected exit {expected}, got {p.returncode}\n{p.stdout[-1000:]}{p.stderr[-1000:]}")
    return p

def recording(name, query):
    """Its path, with 300 samples and ten executions at least; by a clock, which takes turns with nobody."""
    trace = f"{DIR}/{name}.tlr"
    def record(seconds):
        first_s[query] = seconds
        engine = run(f"{B}/tailor", "run", "-q", "-e", "task-clock", "-o", trace, "--", f"{B}/engine", "--query", query, "--scale", "0.05",
                     "--threads", "2", "--seconds", str(seconds))
        operators = run(f"{B}/tailor", "report", "--view", "components", "--level", "operator", "--json", "--top", "0", trace).stdout
        return min(sum(r["samples"] for r in json.loads(operators)["tables"]["operator"]), 30 * engine.stdout.count("\nrun "))
    gather(300, record, first_s.get(query, 0.2))
    return trace

def diff(*arguments):
    return json.loads(run(f"{B}/tailor", "diff", "--json", "--top", "0", *arguments).stdout)

pairs = alarms = 0
# A block is a fresh pair.  A line counts if its change is more than chance (95 % over all lines) and more than a third of itself: the sides
# are alike in 95 of 100 pairs or more.  If chance or noise were left out, or too small by half, most pairs would have such a line.
def alike(nr):
    global pairs, alarms
    a, b = recording("a", "q3"), recording("b", "q3")
    named = [f"{r['name']} {r['change']:+.3f} +- {r['chance']}" for r in diff(a, b)["tables"]["changes"] if r["significant"]]
    pairs, alarms = pairs + 1, alarms + bool(named)
    if named:
        print(f"pair {nr}: expected no change, got {named}")
    return not named

# A block is three recordings.  Of fig9 an execution takes six times as long as of q3, and half of it is the group by, which has 5 % of q3:
# no noise of a machine comes near to that.  If changes were taken for noise, no block would name any, or fail.
def other(nr):
    a, b, c = recording("a", "q3"), recording("b", "q3"), recording("c", "fig9")
    one, several = diff(a, c), diff(f"{a},{b}", c)
    failed = run(f"{B}/tailor", "diff", "--fail-above", "50%", a, c, expected=(0, 3)).returncode
    names = [r["name"] for r in one["tables"]["changes"] if r["significant"]]
    agrees = any(n.startswith("only in ") or n == "group by" for n in names) and several["significant"] >= 1 and failed == 3
    if not agrees:
        print(f"block {nr}: expected operators that changed, a change at least with two traces a side, and exit 3 of --fail-above 50%; "
              f"got {names}, {several['significant']} changes, exit {failed}: {one['notes']}")
    return agrees

holds = decide("diff of one query with itself names nothing", alike, 0.95, wrong)
print(f"FIGURE diff of one query with itself: {alarms} alarms in {pairs} pairs")
holds &= decide("diff of q3 and fig9 names operators that changed, with one trace a side and with several, and fails", other)
sys.exit(not holds)
END
finish
