#!/bin/bash
# SPDX-License-Identifier: MIT
# A join and a group-by fused into a groupjoin: `tailor diff` names the operators that went and the one that came, and no other as gone
# or come; the plan shows the groupjoin, and its task level still tells the join's part from the group-by's.
# Long: until the difference is decided; diff of planted changes is in golden/compare.
. tests/live/begin.bash
judge /usr/bin/python3 - "$B" "$dir" <<'END'
import json, subprocess, sys
sys.path.insert(0, "tests")
from evidence import SURE, decide, gather

B, DIR = sys.argv[1:]
FUSED = {"only in A: hash join", "only in A: group by", "only in B: groupjoin"}
PARTS = {"groupjoin build", "groupjoin probe", "groupjoin group by"}

def call(*command):
    p = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if p.returncode:
        sys.exit(f"{' '.join(command)}: expected exit 0, got {p.returncode}\n{p.stdout[-1000:]}{p.stderr[-1000:]}")
    return p.stdout

def table(name, *arguments):
    return json.loads(call(f"{B}/tailor", *arguments, "--json", "--top", "0"))["tables"][name]

first_s = {}
def recording(query, wanted):
    """Its path, with so many samples of operators, each of which is in the run phase."""
    trace = f"{DIR}/{query}.tlr"
    def record(seconds):
        first_s[query] = seconds
        call(f"{B}/tailor", "run", "-q", "-o", trace, "--", f"{B}/engine", "--query", query, "--scale", "0.005", "--threads", "1",
             "--seconds", str(seconds), "--check")
        return sum(r["samples"] for r in table("operator", "report", "--view", "components", "--level", "operator", trace))
    gather(wanted, record, first_s.get(query, 0.25))
    return trace

def exactly(what, got):
    if got:
        sys.exit(f"{what}; got {got}")

# A block is a recording of each plan.  The group by has 18 % of 1,500 samples, ten times what a line that is on one side only needs to be
# listed, and the hash join more.  The group-by's part of the groupjoin is
# one in 200 of what LLVM 14 compiles, and one in 5,000 of what LLVM 21 does: of 6,000 there is one in 7 of 10 blocks at least.  An operator
# that is matched with another one, or a task that is not told from its neighbour, is named in no block: one that agrees is enough.
def fused(nr):
    a, b = recording("q3", 1500), recording("q3-groupjoin", 6000)
    changes = table("changes", "diff", "--all", a, b)
    exactly("diff --all of q3 and q3-groupjoin: expected nothing to be in one of them only but " + ", ".join(sorted(FUSED)),
            [r["name"] for r in changes if r["there"] != "both" and r["name"] not in FUSED and not r["name"].endswith("(unattributed)")])
    said = call(f"{B}/tailor", "diff", "--top", "0", a, b)
    plan = call(f"{B}/tailor", "report", "--view", "plan", b)
    if "─ groupjoin\n" not in plan:
        sys.exit(f"report --view plan: expected a groupjoin, got:\n{plan}")
    tasks = {r["name"] for r in table("task", "report", "--view", "components", "--level", "task", b)}
    missing = [s for s in sorted(FUSED) if s not in said] + sorted(PARTS - tasks)
    if missing:
        print(f"block {nr}: expected {missing}, got tasks {sorted(tasks)} and:\n{said}")
    return not missing

sys.exit(not decide("diff names the hash join and the group by as gone, the groupjoin as come, and its parts are three tasks", fused,
                    wrong=SURE))
END
finish
