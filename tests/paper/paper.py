#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The figures and the table of "Tailored Profiling" (A. Beischl et al., Profiling Dataflow Systems on Multiple Abstraction Levels,
EuroSys 2021) for the test engine, measured now: paper.py BUILD writes BUILD/paper.md, with the command lines that were used.

Environment: SCALE (1).
"""
import os
import re
import shlex
import subprocess
import sys

B = sys.argv[1]
SCALE = os.environ.get("SCALE", "1")
FOLDER = f"{B}/paper"
QUERIES = ["q1", "q3", "q6", "q16", "q18"]
page = []


def run(*command):
    p = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, timeout=240)
    if p.returncode:
        sys.exit(f"paper: {shlex.join(command)}: exit {p.returncode}\n{p.stdout[-1000:]}{p.stderr[-2000:]}")
    return p.stdout


def title(text, says):
    page.append(f"## {text}\n\n{says}\n")


def show(*command, lines=60):
    """A command and what it said."""
    out = run(*command).rstrip().split("\n")
    cut = [] if len(out) <= lines else [f"... {len(out) - lines} more lines"]
    page.append("    $ " + shlex.join(command) + "\n\n```\n" + "\n".join(out[:lines] + cut) + "\n```\n")


def record(query, repeat, *options):
    """One trace of a query on one thread; what the engine said of its runs."""
    trace = f"{FOLDER}/{query}{''.join(options).replace('--', '-')}.tlr"
    command = [f"{B}/tailor", "run", "-q", "-o", trace, *options, "--", f"{B}/engine", "--query", query, "--scale", SCALE,
               "--threads", "1", "--repeat", str(repeat)]
    out = run(*command)
    page.append("    $ " + shlex.join(command) + "\n")
    return trace, [float(ms) for ms in re.findall(r"^run \d+: ([0-9.]+) ms", out, re.M)]


def report(trace, *options, lines=60):
    show(f"{B}/tailor", "report", *options, trace, lines=lines)


def table_2():
    title("Table 2: samples that end on a component", "Per query: samples, and how each of them was attributed.")
    for query in QUERIES:
        trace, _ = record(query, 5)
        report(trace, "--view", "methods", "--view", "reasons")


def main():
    os.makedirs(FOLDER, exist_ok=True)
    page.append(f"# Profiling Dataflow Systems on Multiple Abstraction Levels: its figures, for the test engine at scale {SCALE}\n")
    title("Figure 9: the plan with its costs (domain expert)", "Shares of time per operator, beside estimated and actual rows.")
    fig9, _ = record("fig9", 5)
    report(fig9, "--view", "plan")
    title("Figure 6: the same samples on two levels", "The plan is figure 9's; the hottest lines of its IR:")
    report(fig9, "--view", "ir", "--hottest", "--top", "25")
    title("Figure 7: operators over time", "One execution.")
    report(fig9, "--view", "timeline", "--mark", "run#3")
    title("Figure 11: one query, two plans", "`part` stands for the paper's `partsupp`.  Plan b probes orders first: it keeps every row of the "
          "first half of lineitem, and drops every row of the second, where the join on part has nothing left to do.")
    traces = []
    for query in ("fig10a", "fig10b"):
        trace, times = record(query, 5)
        traces.append(trace)
        page.append(f"{query}: {min(times):.1f} ms, the best of {len(times)} executions.\n")
        report(trace, "--view", "plan")
        report(trace, "--view", "timeline", "--mark", "run#3")
    show(f"{B}/tailor", "diff", *traces)
    title("Figure 12: memory accesses per operator", "Addresses of figure 9's operators.")
    report(fig9, "--view", "memory", lines=100)
    title("Figure 13: what sampling costs", "The engine alone and under each way of sampling, in turn.")
    show(f"{B}/tailor", "overhead", "--quick", "--svg", f"{FOLDER}/overhead.svg", "--", f"{B}/engine", "--query", "q16", "--scale", SCALE,
         "--threads", "1", "--repeat", "5")
    table_2()
    with open(f"{B}/paper.md", "w", encoding="utf-8") as f:
        f.write("\n".join(page))
    print(f"{B}/paper.md")


main()
