#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The constants of intervals, from programs that are none of predict.py's: tests/whatif/calibrate.py TAILOR [OUT]

spread: how much the logarithm of a run's time differs from that of the next.  octave: what the model is wrong by for a factor of 2 in
processors, beyond that, and as independent errors for several.  Both are written into OUT/calibration, with how much longer work takes
beside other work, and what copied pages cost (pages.py), for `tailor whatif --calibration`.  Environment: as cells.py's.
"""
import math, os, shutil, statistics, subprocess, sys
from cells import Cells, CORES, HERE, PREFIX, ROUNDS, TRACES, cpus, run

if len(sys.argv) not in (2, 3) or sys.argv[1].startswith("-"):
    print("usage: tests/whatif/calibrate.py TAILOR [OUT]   (it measures for some minutes, and writes OUT/calibration)")
    sys.exit(0 if sys.argv[1:] in (["--help"], ["-h"]) else 2)
TAILOR, OUT = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else "build/whatif-calibration")
cells = Cells(TAILOR, OUT)
DATA = f"{cells.tmp}/data"
N = "4"

LOOP = ["python3", "-c", "import time\nt = time.monotonic_ns()\nfor i in range(6000000): pass\nprint(time.monotonic_ns() - t)"]
HASH = """
import hashlib, threading
data = bytes(1 << 20)
def work():
    for i in range(200): hashlib.sha256(data).digest()
threads = [threading.Thread(target=work) for i in range(4)]
for t in threads: t.start()
for t in threads: t.join()
"""


def make_data():
    """Text that compresses, like a log's."""
    state = 1
    with open(DATA, "w") as f:
        for i in range(400000):
            state = state * 1103515245 + 12345 & 0x7fffffff
            f.write(f"{i} {state % 1000} GET /page/{state % 77}/{state:x}\n")


def slowdown():
    alone, lines = None, []
    for n in CORES:
        copies = [subprocess.Popen(PREFIX + cpus(n) + LOOP, stdout=subprocess.PIPE, text=True) for _ in range(n)]
        times = [int(c.communicate()[0]) for c in copies]
        alone = alone or statistics.median(times)
        lines.append(f"{n} {max(1, statistics.median(times) / alone):.3f}\n")
    return lines


def copied():
    """What a page's copy takes more beside another processor, and what that one loses: in what the kernel's function for it takes alone."""
    if len(HERE) < 2:
        return []
    pages = [sys.executable, f"{os.path.dirname(os.path.abspath(__file__))}/pages.py"]
    trace = f"{cells.tmp}/pages.tlr"
    nr = int(run(PREFIX + [TAILOR, "run", "-q", "--no-preload", "-e", "task-clock", "--rate", "2000", "-o", trace, "--"] + pages + ["alone"]))
    stacks = (line.rsplit(" ", 1) for line in run([TAILOR, "export", "--format", "folded", trace]).splitlines())
    own = sum(float(ns) for stack, ns in stacks if "do_wp_page" in stack or "wp_page_copy" in stack) / nr
    alone, beside, other = map(float, run(PREFIX + pages + ["beside"]).split())
    return [f"copied {max(0.001, (beside - alone) / own):.2f} {max(0, other / own):.2f}\n"] if own > 0 else []


make_data()
PROGRAMS = {
    "xz": ["xz", "-T" + N, "-1", "--block-size=1MiB", "-k", "-c", DATA],
    "zstd": ["zstd", "-q", "-T" + N, "-9", "-B1MiB", "-c", DATA],
    "sort": ["sort", "--parallel=" + N, "-S64M", "-k4", DATA],
    "hash": ["python3", "-c", HASH],
    "gzip": ["sh", "-c", f"for i in 1 2 3 4; do gzip -6 -c {DATA} >/dev/null & done; wait"],
    "chain": ["sh", "-c", f"xz -0 -c {DATA} | xz -dc | gzip -4 -c | gzip -dc >/dev/null"],
}
MISSING = [tool for tool in ("xz", "zstd", "sort", "gzip") if not shutil.which(tool)]
PROGRAMS = {name: command for name, command in PROGRAMS.items() if not any(tool in " ".join(command).split() for tool in MISSING)}
if MISSING:
    print(f"left out, because {', '.join(MISSING)} {'is' if len(MISSING) == 1 else 'are'} not installed: programs that use it")
lines = slowdown() + copied()
open(f"{OUT}/calibration", "w").write("".join(lines))
cells.calibration = ["--calibration", f"{OUT}/calibration"]
for name, command in PROGRAMS.items():
    for base in [n for n in (1, 2, 8) if n in CORES]:
        cells.predict_cores(name, base, command)
done = cells.end()
logs = [[math.log(t) for t in times] for times in cells.times]
spread = math.sqrt(sum(sum((x - statistics.mean(l)) ** 2 for x in l) for l in logs) / max(1, sum(len(l) - 1 for l in logs)))
runs = spread ** 2 * (1 / TRACES + 1 / ROUNDS) * math.pi / 2  # of two medians
octave = math.sqrt(max(0, statistics.mean((math.log(1 + c["error"]) ** 2 - runs) / c["octaves"] for c in done))) if done else 0
lines += [f"spread {max(0.005, spread):.3f}\n", f"octave {max(0.005, octave):.3f}\n"]
open(f"{OUT}/calibration", "w").write("".join(lines))
print(f"{len(HERE)} processors: {' '.join(lines).split()}")
