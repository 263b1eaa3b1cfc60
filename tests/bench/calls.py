#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What jitreg's calls cost a host: calls.py BUILD [ROUNDS]

Without an agent, and with one whose recorder drains: ns of processor time a call (tests/bench/calls.c), in interleaved pairs.  And the
engine with its calls but no agent, beside the engine that is compiled without them: run times of the same queries, in interleaved pairs,
and the interval of their ratio.  Nothing here fails a check.
"""
import os
import random
import re
import statistics
import subprocess
import sys
import tempfile

B = os.path.abspath(sys.argv[1])
ROUNDS = max(3, int(sys.argv[2]) if len(sys.argv) > 2 else 15)
ENGINE = ["--query", "q3", "--scale", "0.2", "--threads", "1", "--repeat", "20"]


def output(command):
    p = subprocess.run(command, capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"calls: {' '.join(command)}: exit {p.returncode}\n{p.stderr[-1000:]}")
    return p.stdout


def per_call(command):
    return {name: float(ns) for name, ns in re.findall(r"^(.*): (-?[0-9.]+)$", output(command), re.M)}


def fastest_run_ms(program):
    return min(float(ms) for ms in re.findall(r"^run \d+: ([0-9.]+) ms", output([program] + ENGINE), re.M))


def interval(values):
    """Of the median: its bootstrap's 95 % interval."""
    rng = random.Random(1)
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(2000))
    return medians[50], medians[1949]


def main():
    got = {"no agent": [], "agent": []}
    with tempfile.TemporaryDirectory() as d:
        run = [f"{B}/tailor", "run", "-q", "-r", "100", "-o", f"{d}/t.tlr", "--"]
        for n in range(ROUNDS):
            for who in ("no agent", "agent") if n % 2 else ("agent", "no agent"):
                got[who].append(per_call((run if who == "agent" else []) + [f"{B}/bench/calls"]))
    print(f"\nns a call, medians of {ROUNDS} interleaved pairs, with the 95 % interval of the median")
    print(f"{'call':30}{'no agent':>10}{'interval':>14}{'agent':>10}{'interval':>14}")
    for name in got["agent"][0]:
        line = f"{name:30}"
        for who in ("no agent", "agent"):
            values = [g[name] for g in got[who]]
            low, high = interval(values)
            line += f"{statistics.median(values):10.1f}{f'{low:.1f}-{high:.1f}':>14}"
        print(line)
    ratios = []
    for n in range(ROUNDS):
        both = {}
        for program in (f"{B}/engine", f"{B}/bench/engine-silent")[::1 if n % 2 else -1]:
            both[program] = fastest_run_ms(program)
        ratios.append(both[f"{B}/engine"] / both[f"{B}/bench/engine-silent"])
    low, high = interval(ratios)
    print(f"\nthe engine with its calls and no agent, beside one without calls: {100 * (statistics.median(ratios) - 1):+.2f} % run time "
          f"({100 * (low - 1):+.2f} to {100 * (high - 1):+.2f} %), {ROUNDS} interleaved pairs of the fastest of 20 runs of q3")


main()
