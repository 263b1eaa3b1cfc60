#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How fast a trace becomes a plan, on synthetic traces: analysis.py BUILD [ROUNDS]

Prints samples per second of processor time and the peak of memory for `tailor report --view plan`, medians of the rounds:
  5 M samples, 100 code objects        wanted: 5 M samples a second on one core
  10 M samples, 1,000 code objects     wanted: 3 s, 500 MiB
  1 M samples, 200,000 code objects    wanted: 1 s
Nothing here fails a check: a shared machine's times prove nothing.
"""
import os
import resource
import statistics
import subprocess
import sys
import tempfile

B = os.path.abspath(sys.argv[1])
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
CASES = ((5_000_000, 100), (10_000_000, 1_000), (1_000_000, 200_000))


def once(trace):
    pid = os.fork()
    if pid == 0:
        os.dup2(os.open("/dev/null", os.O_WRONLY), 1)
        os.execv(f"{B}/tailor", ["tailor", "report", "--view", "plan", trace])
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"tailor report --view plan {trace}: status {status}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as d:
        print(f"{'samples':>12}{'code objects':>14}{'seconds':>10}{'M samples/s':>13}{'MiB':>8}   medians of {ROUNDS}")
        for samples, objects in CASES:
            trace = f"{d}/t.tlr"
            subprocess.run([f"{B}/bench/synthetic", str(samples), str(objects), trace], check=True)
            runs = [once(trace) for _ in range(ROUNDS)]
            seconds, mib = (statistics.median(r[i] for r in runs) for i in (0, 1))
            print(f"{samples:12}{objects:14}{seconds:10.2f}{samples / seconds / 1e6:13.2f}{mib:8.0f}")


main()
