#!/bin/bash
# SPDX-License-Identifier: MIT
# `tailor diff` of two recordings of one program lists nothing but once in twenty times; where an operator does 20 % more, or 10 %, it lists
# that one, with three traces a side also 5 %; a line is listed if and only if its change exceeds the margin that is shown.  Of another
# query it names operators, also with several traces a side, and --fail-above fails.
# Long: some thirty recordings.
. tests/live/begin.bash
judge /usr/bin/python3 - "$B" "$dir" <<'END'
import json, os, subprocess, sys
sys.path.insert(0, "tests")
from evidence import SURE, allowed_rate, decide, gather

B, DIR = sys.argv[1:]
RATE = str(allowed_rate(20000))
first_s, executions = {}, {}
pairs = alarms = 0

def run(*command, expected=(0,)):
    p = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if p.returncode not in expected:
        sys.exit(f"{' '.join(command)}: expected exit {expected}, got {p.returncode}\n{p.stdout[-1000:]}{p.stderr[-1000:]}")
    return p

def host(trace, *options):
    """By a clock, which takes turns with nobody: the engine's output, and samples of operators."""
    engine = run(f"{B}/tailor", "run", "-q", "-e", "task-clock", "-r", RATE, "-o", trace, "--", f"{B}/engine", *options).stdout
    operators = run(f"{B}/tailor", "report", "--view", "components", "--level", "operator", "--json", "--top", "0", trace).stdout
    return engine, sum(r["samples"] for r in json.loads(operators)["tables"]["operator"])

def query(name, which):
    """A recording of a query of 300 samples and ten executions at least."""
    trace = f"{DIR}/{name}.tlr"
    def record(seconds):
        first_s[which] = seconds
        engine, samples = host(trace, "--query", which, "--scale", "0.05", "--threads", "2", "--seconds", str(seconds))
        return min(samples, 30 * engine.count("\nrun "))
    gather(300, record, first_s.get(which, 0.2))
    return trace

def work(name, wanted, slow=None):
    """A recording of operators that work, one of which may do more, of so many samples: of as many executions as that needs."""
    trace = f"{DIR}/{name}.tlr"
    def record(_):
        nr = executions.get(wanted, 10)
        samples = host(trace, "--query", "calibrate", "--scale", "0.005", "--threads", "1", "--repeat", str(nr),
                       *(["--slow", slow] if slow else []))[1]
        if samples < wanted:
            executions[wanted] = min(2 * nr + 1, int(1.1 * nr * wanted / (samples + 1)) + 1)
        return samples
    gather(wanted, record)
    return trace

def unchanged(nr):
    """The nr-th recording of 14,000 samples without a change.  Claims have these in common: within one, each is in one block."""
    if not os.path.exists(f"{DIR}/same{nr}.tlr"):
        work(f"same{nr}", 14000)
    return f"{DIR}/same{nr}.tlr"

def diff(*arguments):
    """Its report, which does not contradict itself."""
    report = json.loads(run(f"{B}/tailor", "diff", "--json", "--all", "--top", "0", *arguments).stdout)
    for r in report["tables"]["changes"]:
        change, margin = r.get("cost_change"), r.get("cost_margin")
        if change is not None and bool(r["significant"]) != (margin is not None and abs(change) > margin):
            sys.exit(f"diff {' '.join(arguments)}: expected a line to be listed if its change is more than its margin, got {r}")
    if not 0 <= report["between_runs"] < 10 or report["confidence"] != 0.95:
        sys.exit(f"diff {' '.join(arguments)}: expected what the margins are made of, got {report}")
    return report

def listed(*arguments):
    return [r["name"] for r in diff(*arguments)["tables"]["changes"] if r["significant"]]

# A block is a fresh pair of 2,500 samples each.  The confidence is 95 % for a whole report, so 95 of 100 pairs or more are alike.  With one
# false alarm in five, 80 are.
def alike(nr):
    global pairs, alarms
    names = listed(work("a", 2500), work("b", 2500))
    pairs, alarms = pairs + 1, alarms + bool(names)
    if names:
        print(f"pair {nr}: expected no change, got {names}")
    return not names

# A block is a fresh pair of 14,000 samples each.  The operator has 35 %: the margin is 8 %, three standard errors of a change, so that
# 20 % are found in 97 of 100 pairs or more; 10 % in 70.
def grown(nr, percent):
    names = listed(unchanged(nr), work("b", 14000, f"work 8={percent}"))
    print(f"pair {nr}, work 8 with {percent} % more: listed are {names}")
    return "work 8" in names

# A block is six fresh traces.  The margin is 4 to 5 %: 5 % are found more often than not, and never if 30 % are taken for noise.
def grown_by_little(nr):
    a, b = zip(*[(unchanged(3 * nr + i), work(f"b{i}", 14000, "work 8=5")) for i in range(3)])
    names = listed(",".join(a), ",".join(b))
    print(f"block {nr}, work 8 with 5 % more, three traces a side: listed are {names}")
    return "work 8" in names

# A block is three recordings.  Of fig9 an execution takes six times as long as of q3, and half of it is the group by, which has 5 % of q3:
# no noise of a machine comes near to that.  If changes were taken for noise, no block would name any, or fail: one that agrees is enough.
def other(nr):
    a, b, c = query("a", "q3"), query("b", "q3"), query("c", "fig9")
    one, several = listed(a, c), listed(f"{a},{b}", c)
    failed = run(f"{B}/tailor", "diff", "--fail-above", "50%", a, c, expected=(0, 3)).returncode
    agrees = any(n.startswith("only in ") or n == "group by" for n in one) and several and failed == 3
    if not agrees:
        print(f"block {nr}: expected operators that changed, a change at least with two traces a side, and exit 3 of --fail-above 50%; "
              f"got {one}, {several}, exit {failed}")
    return agrees

holds = decide("diff of a program with itself lists nothing in 19 of 20 pairs, and not in 4 of 5", alike, 0.95, 0.8)
print(f"FIGURE diff of one program with itself: {alarms} alarms in {pairs} pairs")
holds &= decide("diff lists an operator that does 20 % more in 9 of 10 pairs", lambda nr: grown(nr, 20), 0.9, 0.4)
holds &= decide("diff lists an operator that does 10 % more in half of the pairs", lambda nr: grown(nr, 10), 0.5, 0.05)
holds &= decide("diff of three traces a side lists an operator that does 5 % more in half of the pairs", grown_by_little, 0.5, 0.05)
holds &= decide("diff of q3 and fig9 names operators that changed, with one trace a side and with several, and fails", other, wrong=SURE)
sys.exit(not holds)
END
finish
