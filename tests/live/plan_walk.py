# SPDX-License-Identifier: MIT
"""Nodes of an interpreted plan against their witness: plan_walk.py BUILD one|several

hosts/plan_nodes counts the steps that each node works, and all its nodes work by one function.  A block is a recording; it agrees if each
node has the share of samples that it has of the steps, within LEAST or four standard deviations, and all but MISSED of the samples in
queries are on a node.  Two scans that were taken for one another, or for one, would be off by 5 % of all.

one      one process; also: nodes are frames of call stacks
several  children run the same plan: one plan, with the samples of all
"""
import collections
import json
import math
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, "tests")
from evidence import NEARLY, allowed_rate, decide, skip  # noqa: E402

B, WHAT = sys.argv[1:3]
WANTED = 1500  # samples of a block
LEAST = 0.025
MISSED = 0.03
CHILDREN = 2 if WHAT == "several" else 0
longest_s = [1.0]  # that a block has taken to have as many


def run(*command):
    p = subprocess.run(command, capture_output=True, text=True)
    if p.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit {p.returncode}: {p.stderr}")
    return p.stdout


def report(trace, *options):
    return json.loads(run(f"{B}/tailor", "report", "--json", *options, trace))


def block(number):
    with tempfile.TemporaryDirectory() as directory:
        trace = os.path.join(directory, "t.tlr")
        while True:
            printed = run(f"{B}/tailor", "run", "-q", "--rate", str(allowed_rate(4000)), "-e", "task-clock", "-o", trace, "--",
                          f"{B}/hosts/plan_nodes", str(1000 * longest_s[0]), str(CHILDREN))
            if report(trace)["samples"]["total"] >= WANTED:
                break
            if longest_s[0] > 60:
                skip(f"this machine gave fewer than {WANTED} samples in {longest_s[0]:.0f} s")
            longest_s[0] *= 2
        return judge(trace, printed)


def judge(trace, printed):
    steps = collections.Counter()
    for line in printed.splitlines():
        name, n = line.rsplit("\t", 1)
        steps[name] += int(n)
    total = sum(n for name, n in steps.items() if name != "other")

    rows = report(trace, "--view", "plan")["tables"]["plan"]
    got = collections.Counter()
    for r in rows:
        got[r["name"] if r["query"] else "other"] += r["samples"]
    missed, n = got.pop("(no node)"), sum(got.values()) - got["other"]
    print(f"{n:.0f} samples on nodes, {missed:.0f} in queries alone, {got['other']:.0f} of none")
    agrees = missed <= MISSED * (n + missed)
    for name in steps:
        if name == "other":
            continue
        want, have = steps[name] / total, got[name] / n
        if abs(want - have) > max(LEAST, 4 * math.sqrt(want * (1 - want) / n)):
            print(f"{name}: {have:.3f} of the samples, {want:.3f} of the steps")
            agrees = False
    if WHAT == "one":
        check_stacks(trace)
    else:
        check_processes(trace, rows)
    return agrees


def check_stacks(trace):
    folded = os.path.join(os.path.dirname(trace), "folded")
    run(f"{B}/tailor", "export", "--overwrite", "--format", "folded", "--level", "node", "-o", folded, trace)
    with open(folded) as f:
        stacks = [line.rsplit(" ", 1)[0] for line in f]
    for wanted in ("output;join 1;join 2;scan a", "output;join 1;join 2;scan b", "output;join 1;(sorting)",
                   "output;join 1;total;output of totals;scan of totals"):
        if not any(s.endswith(wanted) for s in stacks):
            sys.exit(f"tailor export --format folded --level node: no stack {wanted!r}, but {stacks}")


def check_processes(trace, rows):
    names = [r["name"] for r in rows if r["name"] == "scan a"]
    if names != ["scan a"]:
        sys.exit(f"expected one plan of all processes, got {len(names)} nodes 'scan a'")
    pids = [p["pid"] for p in report(trace)["processes"] if p["samples"] > WANTED / 10]
    parts = 0
    for pid in pids:
        part = report(trace, "--view", "plan", "--process", str(pid))["tables"]["plan"]
        parts += sum(r["samples"] for r in part if r["name"] == "scan a")
    whole = sum(r["samples"] for r in rows if r["name"] == "scan a")
    if len(pids) < 2 or parts > whole + 0.5 or parts < 0.5 * whole:
        sys.exit(f"'scan a' has {whole} samples, and {parts} in the processes {pids}")


sys.exit(0 if decide(f"nodes have the shares of their work ({WHAT})", block, **NEARLY) else 1)
