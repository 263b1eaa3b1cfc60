#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""One inherited counter per processor, or each thread's own: scopes.py BUILD [ROUNDS]

What either costs a host that makes threads (ns per thread, made and joined) and that switches between them (ns per switch), for 1 to
8 events at 100 samples/s; interleaved, medians, what is added to the host alone.
"""
import os
import re
import statistics
import subprocess
import sys

B = os.path.abspath(sys.argv[1])
ROUNDS = max(3, int(sys.argv[2]) if len(sys.argv) > 2 else 5)
EVENTS = ["task-clock", "page-faults", "cycles", "instructions", "cpu-clock", "minor-faults", "major-faults", "alignment-faults"]


def run(command):
    p = subprocess.run(command, capture_output=True, text=True)
    if p.returncode:
        sys.exit(f"scopes: {' '.join(command)}: exit {p.returncode}\n{p.stderr[-1000:]}")
    return {k: float(v) for k, v in re.findall(r"^(\w+) (\d+)$", p.stdout, re.M)}


def main():
    subprocess.run(["tests/hosts/build.sh", B], check=True)
    host = [f"{B}/hosts/thread_costs", "3000", "60000"]
    usable = []
    for e in EVENTS:
        p = subprocess.run([f"{B}/tailor", "run", "-q", "-r", "100", "-e", e, "-o", "/dev/null", "--", "true"], capture_output=True)
        if p.returncode == 0:
            usable.append(e)
    ways = {("alone", 0): host}
    for nr in (1, 2, 4, 8):
        for scope in ("cpu", "thread"):
            if nr <= len(usable):
                ways[scope, nr] = [f"{B}/tailor", "run", "-q", "-r", "100", "--stack", "0", "--scope", scope,
                                   "-e", ",".join(usable[:nr]), "-o", "/dev/null", "--"] + host
    got = {way: [] for way in ways}
    for n in range(ROUNDS):
        names = list(ways)
        for way in names[n % len(names):] + names[:n % len(names)]:
            got[way].append(run(ways[way]))
    median = lambda way, what: statistics.median(r[what] for r in got[way])
    alone = {what: median(("alone", 0), what) for what in ("thread", "switch")}
    print(f"\nscopes, {os.cpu_count()} processors, {ROUNDS} rounds: a thread costs {alone['thread']:.0f} ns, a switch {alone['switch']:.0f} ns")
    print(f"{'scope':10}{'events':>8}{'+ ns a thread':>16}{'+ ns a switch':>16}")
    for scope, nr in ways:
        if nr:
            print(f"{scope:10}{nr:8}{median((scope, nr), 'thread') - alone['thread']:16.0f}{median((scope, nr), 'switch') - alone['switch']:16.0f}")


main()
