#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# tests/bench/counts.py BUILD [ROUNDS [SCALE [QUERY...]]]: what counting executions costs the test engine, without a profiler: run times of
# --count none, minimal and all, one after another in each round and in another order each time.  Medians of the rounds, and of each round's
# differences from none; with the 95 % interval of the latter (of ranks).
import subprocess, sys

B = sys.argv[1]
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 7
SCALE = sys.argv[3] if len(sys.argv) > 3 else "0.3"
QUERIES = sys.argv[4:] or ["fig9", "fig10a", "q1", "q3", "q3-groupjoin", "q6", "q16", "q18", "calibrate-inline"]
HOW = ["none", "minimal", "all"]
REPEAT = "20"


def run(query, how):
    said = subprocess.run([B + "/engine", "--query", query, "--scale", SCALE, "--threads", "1", "--repeat", REPEAT, "--count", how],
                          stdout=subprocess.PIPE, check=True, text=True).stdout.splitlines()
    times = [float(line.split()[2]) for line in said if line.startswith("run ")]
    added = next((int(line.split()[-1]) for line in said if line.startswith("counters: ")), 0)
    return min(times), added  # what else runs only adds to a run's time


def median(v):
    v = sorted(v)
    return (v[(len(v) - 1) // 2] + v[len(v) // 2]) / 2


# Ranks between which the median lies in at least 95 % of all cases (binomial, p = 1/2).
def interval(v):
    v, n, below, k = sorted(v), len(v), 0.0, 0
    chance = 0.5 ** n
    while below + chance <= 0.025:
        below += chance
        chance *= (n - k) / (k + 1)
        k += 1
    return (v[k - 1], v[n - k]) if k else (v[0], v[-1])


print(f"{ROUNDS} rounds of {REPEAT} runs (the shortest counts), scale {SCALE}, one thread")
print(f"{'query':<17}{'none':>9}{'minimal':>22}{'all':>22}{'additions':>22}")
for query in QUERIES:
    time, added = {how: [] for how in HOW}, {}
    for n in range(ROUNDS):
        for how in HOW[n % 3:] + HOW[:n % 3]:
            ms, added[how] = run(query, how)
            time[how].append(ms)
    text = f"{query:<17}{median(time['none']):>6.1f} ms"
    for how in ("minimal", "all"):
        more = [100 * (a / b - 1) for a, b in zip(time[how], time["none"])]
        low, high = interval(more)
        text += f"{median(more):>+7.1f} % ({low:+.1f}..{high:+.1f})".rjust(22)
    print(text + f"{added['minimal']:>10} {added['all']:>11}", flush=True)
