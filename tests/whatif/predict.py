#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Predictions of tailor whatif beside what is measured later: tests/whatif/predict.py TAILOR TASKS [OUT]

Every prediction is written into OUT/predictions.tsv, with the checksum of its trace, before any run that it is compared with.  A cell is one
prediction; what is measured is the median of ROUNDS runs without a recording.

  CORES="1 2 4 8 16"   numbers of processors (those that this machine has)
  ROUNDS=5             runs of each cell
  SECONDS_OF_WORK=1.2  processor time of a run
  ONLY="cores quota"   some kinds of cells: cores, operator, lock, skew, quota
  PREFIX="chrt -r 1"   before each command: on a busy machine, real-time threads are alone (root)
"""
import json, os, statistics, subprocess, sys, tempfile

TAILOR, TASKS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
OUT = os.path.abspath(sys.argv[3] if len(sys.argv) > 3 else "build/whatif")
HERE = sorted(os.sched_getaffinity(0))
CORES = [n for n in map(int, os.environ.get("CORES", "1 2 4 8 16").split()) if n <= len(HERE)]
ROUNDS = int(os.environ.get("ROUNDS", 5))
WORK_S = float(os.environ.get("SECONDS_OF_WORK", 1.2))
PREFIX = os.environ.get("PREFIX", "").split()
FOLDERS = {}
os.makedirs(OUT, exist_ok=True)
TMP = tempfile.mkdtemp()
THREADS = str(max(CORES))


def cpus(n):
    return ["taskset", "-c", ",".join(str(c) for c in HERE[:n])]


def run(command, **kw):
    r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kw)
    if r.returncode:
        raise RuntimeError(f"{' '.join(command)}: {r.returncode}\n{r.stderr[-600:]}")
    return r.stdout


def tasks(n, arguments):
    return PREFIX + cpus(n) + [TASKS] + arguments


def wall_ns(n, arguments, group=None):
    return int(run(within(group) + tasks(n, arguments)))


MEASURED = {}


def median_ns(n, arguments, group=None):
    """Of ROUNDS runs; what several cells predict is measured once."""
    key = (n, tuple(arguments), group)
    if key not in MEASURED:
        MEASURED[key] = statistics.median(wall_ns(n, arguments, group) for _ in range(ROUNDS))
    return MEASURED[key]


def within(group):
    return ["sh", "-c", f'echo $$ >{group}/cgroup.procs && exec "$@"', "sh"] if group else []


def record(name, n, arguments, group=None):
    """A trace, and the time of the work that the program itself printed."""
    trace = f"{TMP}/{name}.tlr"
    out = run(within(group) + PREFIX + cpus(n) +
              [TAILOR, "run", "-q", "--no-preload", "-e", "task-clock,context-switches", "--rate", "500", "--stack", "2048", "-o", trace, "--",
               TASKS] + arguments)
    return trace, int(out.split()[-1])


def whatif(trace, options):
    kept = f"{TMP}/kept"
    command = [TAILOR, "whatif", "--json", "--mark", "all", "--keep", kept] + options + [trace]
    r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if r.returncode:
        return None, r.stderr.strip()
    lines = open(kept).read().splitlines()
    return json.loads(r.stdout), lines[1]


CELLS = []  # name, trace's run in ns, cores, arguments, group
PREDICTIONS = open(f"{OUT}/predictions.tsv", "w")


def predict(kind, name, traced, options, n, arguments, group=None):
    trace, own_ns = traced
    said, crc = whatif(trace, CALIBRATION + options)
    if said is None:
        print(f"refused: {kind} {name}: {crc}")
        CELLS.append({"kind": kind, "name": name, "refused": crc})
        return
    p = said["tables"]["predictions"][0]
    # a program's start and end are in the trace, and not in what it prints: they stay
    outside = said["measured_ns"] - own_ns
    cell = {"kind": kind, "name": name, "predicted_ns": p["completion_ns"] - outside, "low_ns": p["low_ns"] - outside,
            "high_ns": p["high_ns"] - outside, "before_ns": own_ns, "replay_error": said["replay_error"], "bound": said["bound"],
            "run": (n, arguments, group)}
    CELLS.append(cell)
    print(f"{kind}\t{name}\t{crc}\t{cell['predicted_ns']:.0f}\t{cell['low_ns']:.0f}\t{cell['high_ns']:.0f}", file=PREDICTIONS, flush=True)


def calibrate():
    """How much longer a loop takes when so many processors do the same: of this machine, by copies of a program that is none of the cells'."""
    alone = None
    path = f"{OUT}/calibration"
    with open(path, "w") as f:
        for n in CORES:
            copies = [subprocess.Popen(PREFIX + cpus(n) + [TASKS, "few", "--threads", "1", "--work", str(UNITS // 6)],
                                       stdout=subprocess.PIPE, text=True) for _ in range(n)]
            times = [int(c.communicate()[0]) for c in copies]
            alone = alone or statistics.median(times)
            print(n, f"{max(1, statistics.median(times) / alone):.3f}", file=f)
    return ["--calibration", path] if os.environ.get("CALIBRATE", "1") == "1" else []


def quota_group(quota):
    """A cgroup with so many processors' time, or None where none can be made."""
    for folder, write in (("/sys/fs/cgroup/cpu", [("cpu.cfs_quota_us", str(int(quota * 100000))), ("cpu.shares", "262144")]),
                          ("/sys/fs/cgroup", [("cpu.max", f"{int(quota * 100000)} 100000"), ("cpu.weight", "10000")])):
        group = f"{folder}/tailor-whatif-{quota}"
        try:
            os.makedirs(group, exist_ok=True)
            for name, text in write:
                with open(f"{group}/{name}", "w") as f:
                    f.write(text)
            FOLDERS[quota] = group
            return group
        except OSError:
            try:
                os.rmdir(group)
            except OSError:
                pass
    return None


unit = min(wall_ns(1, ["few", "--threads", "1", "--work", "1000"]) for _ in range(3)) / 500
UNITS = int(WORK_S * 1e9 / unit)
CALIBRATION = calibrate()
W = ["--threads", THREADS, "--work", str(UNITS)]
print(f"{len(HERE)} processors; a unit takes {unit / 1e3:.1f} us, a run {UNITS} units; "
      f"slow-down beside others: {open(f'{OUT}/calibration').read().split()[1::2]}")

PROGRAMS = {
    "even": ["even"] + W, "queue": ["queue"] + W, "straggler": ["straggler"] + W, "phases": ["phases"] + W,
    "serial": ["serial", "--share", "20"] + W, "locked": ["locked", "--share", "10"] + W,
    "sleeping": ["sleeping", "--threads", THREADS, "--work", str(UNITS // 2)], "few": ["few"] + W,
    "pipeline": ["pipeline", "--work", str(UNITS)],
}
ONLY = os.environ.get("ONLY", "cores operator lock skew quota").split()
for name, arguments in PROGRAMS.items() if "cores" in ONLY else ():
    for base in [n for n in (2, 8) if n in CORES] or CORES[:1]:
        traced = record(f"{name}-{base}", base, arguments)
        for n in CORES:
            if n != base:
                predict("cores", f"{name} {base} to {n}", traced, ["--cores", str(n)], n, arguments)
base = 2 if 2 in CORES else CORES[0]
for name in ("even", "phases", "serial") if "operator" in ONLY else ():
    slow = PROGRAMS[name] + ["--slow", "a=100"]
    predict("operator", f"{name}: step_a freed of 100 %", record(f"{name}-slow", base, slow), ["--component", "function:step_a=-50%"], base,
            PROGRAMS[name])
    predict("operator", f"{name}: step_a slowed by 50 %", record(f"{name}-plain", base, PROGRAMS[name]),
            ["--component", "function:step_a=+50%"], base, PROGRAMS[name] + ["--slow", "a=50"])
for base in [n for n in CORES if n > 1] if "lock" in ONLY else ():
    locked = ["locked", "--share", "50"] + W
    predict("lock", f"no lock, {base} cores", record(f"locked-{base}", base, locked), ["--lock", "take_ticket"], base, locked + ["--unlocked"])
    traced = record(f"straggler-{base}", base, PROGRAMS["straggler"])
    said, _ = whatif(traced[0], [])
    groups = [r["option"].split()[2] for r in said["tables"]["predictions"] if r["option"].startswith("skew=threads")] if said else []
    if groups:
        predict("skew", f"no straggler, {base} cores", traced, ["--skew", f"threads:{groups[0]}"], base,
                ["even", "--threads", THREADS, "--work", str(UNITS + 2 * (UNITS // int(THREADS)))])
base = 2 if 2 in CORES else CORES[0]
QUIET = quota_group(64) if "quota" in ONLY and "chrt" not in PREFIX else None
unlimited = record("quota", base, PROGRAMS["even"], QUIET) if QUIET else None
for quota in (0.5, 1, 1.5) if QUIET else ():
    group = quota_group(quota) if quota < base and "chrt" not in PREFIX else None
    if group:
        predict("quota", f"even: quota {quota}", unlimited, ["--quota", str(quota)], base, PROGRAMS["even"], group)
        predict("quota", f"even: quota {quota} taken away", record(f"quota-{quota}", base, PROGRAMS["even"], group), ["--quota", "none"], base,
                PROGRAMS["even"], QUIET)
if not FOLDERS:
    print("quotas skipped, because no cgroup can be made here, or threads are real-time ones")
PREDICTIONS.close()
print(f"{len(CELLS)} predictions are in {OUT}/predictions.tsv; now they are measured")

for c in CELLS:
    if "run" in c:
        c["measured_ns"] = median_ns(*c["run"])
        c["error"] = c["predicted_ns"] / c["measured_ns"] - 1
        c["inside"] = c["low_ns"] <= c["measured_ns"] <= c["high_ns"]
        print(f"{c['kind']:9} {c['name']:34} before {c['before_ns'] / 1e6:8.1f} ms  predicted {c['predicted_ns'] / 1e6:8.1f}"
              f" ({c['low_ns'] / 1e6:.1f} to {c['high_ns'] / 1e6:.1f})  measured {c['measured_ns'] / 1e6:8.1f}  error {100 * c['error']:+6.1f} %"
              f"{'' if c['inside'] else '  outside'}  replay {100 * c['replay_error']:+.1f} %  bound by {c['bound']}")
for group in FOLDERS.values():
    os.rmdir(group)


def summary(name, cells):
    errors = sorted(abs(c["error"]) for c in cells)
    if errors:
        print(f"{name:9} {len(errors):3} cells: mean {100 * statistics.mean(errors):.1f} %, median {100 * statistics.median(errors):.1f} %, "
              f"90th percentile {100 * errors[min(len(errors) - 1, int(0.9 * len(errors)))]:.1f} %, "
              f"inside the interval {100 * sum(c['inside'] for c in cells) / len(cells):.0f} %")


done = [c for c in CELLS if "error" in c]
for kind in dict.fromkeys(c["kind"] for c in done):
    summary(kind, [c for c in done if c["kind"] == kind])
summary("all", done)
print(f"{len(CELLS) - len(done)} refused")
for c in CELLS:
    c.pop("run", None)
json.dump({"processors": len(HERE), "cells": CELLS}, open(f"{OUT}/cells.json", "w"), indent=1)
