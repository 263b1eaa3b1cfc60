# SPDX-License-Identifier: MIT
"""Traces of a program, predictions of tailor whatif written before they are measured, and medians of runs: for predict.py and calibrate.py.

  CORES="1 2 4 8 16"   numbers of processors (those that this machine has)
  ROUNDS=5             runs of each cell; TRACES=3: recorded runs of each program
  PREFIX="chrt -r 1"   before each command: on a busy machine, real-time threads are alone (root)
"""
import json, math, os, statistics, subprocess, tempfile

HERE = sorted(os.sched_getaffinity(0))
CORES = [n for n in map(int, os.environ.get("CORES", "1 2 4 8 16").split()) if n <= len(HERE)]
ROUNDS, TRACES = int(os.environ.get("ROUNDS", 5)), int(os.environ.get("TRACES", 3))
PREFIX = os.environ.get("PREFIX", "").split()
# inside of the prefix: what begins on a busy machine waits outside
TIMED = ["bash", "-c", 's=${EPOCHREALTIME/./}; "$@" >/dev/null; e=${EPOCHREALTIME/./}; echo $(((e - s) * 1000))', "bash"]


def cpus(n):
    return ["taskset", "-c", ",".join(str(c) for c in HERE[:n])]


def run(command, **kw):
    r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **kw)
    if r.returncode:
        raise RuntimeError(f"{' '.join(command)}: {r.returncode}\n{r.stderr[-600:]}")
    return r.stdout


def within(group):
    return ["sh", "-c", f'echo $$ >{group}/cgroup.procs && exec "$@"', "sh"] if group else []


class Cells:
    """Cells of one table.  own: the program prints the time of its work, in ns; else the time of the whole command counts."""

    def __init__(self, tailor, out):
        self.tailor, self.cells, self.times, self.tmp = tailor, [], [], tempfile.mkdtemp()
        os.makedirs(out, exist_ok=True)
        self.out, self.file, self.calibration = out, open(f"{out}/predictions.tsv", "w"), []

    def runs_ns(self, n, command, group=None, own=False):
        """ROUNDS runs, after the prediction and at once: a machine's speed changes."""
        self.times.append([self.run_ns(n, command, group, own) for _ in range(ROUNDS)])
        return self.times[-1]

    @staticmethod
    def run_ns(n, command, group=None, own=False):
        return int(run(within(group) + PREFIX + cpus(n) + ([] if own else TIMED) + command).split()[-1])

    def record(self, name, n, command, group=None, own=False, nr=TRACES):
        """So many traces, and the median of the time that the program says, or None."""
        quiet = [] if own else ["sh", "-c", 'exec "$@" >/dev/null', "sh"]
        traces, own_ns = [f"{self.tmp}/{name}-{i}.tlr" for i in range(nr)], []
        for trace in traces:
            said = run(within(group) + PREFIX +
                       [self.tailor, "run", "-q", "--no-preload", "-e", "task-clock,context-switches", "--rate", "500", "--stack", "2048",
                        "-o", trace, "--"] + cpus(n) + quiet + command)  # the recorder has all processors
            own_ns.append(int(said.split()[-1]) if own else 0)
        return traces, statistics.median(own_ns) if own else None

    def whatif(self, traces, options):
        kept = f"{self.tmp}/kept"
        command = [self.tailor, "whatif", "--json", "--mark", "all", "--keep", kept] + self.calibration + options + traces
        r = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if r.returncode:
            return None, r.stderr.strip()
        return json.loads(r.stdout), open(kept).read().splitlines()[1]

    def predict(self, kind, name, traced, options, n, command, group=None, octaves=0.0):
        traces, own_ns = traced
        said, crc = self.whatif(traces, options)
        if said is None:
            print(f"refused: {kind} {name}: {crc}")
            self.cells.append({"kind": kind, "name": name, "refused": crc})
            return
        p = said["tables"]["predictions"][0]
        # a program's start and end are in the trace, and not in what it prints: they stay
        outside = said["measured_ns"] - own_ns if own_ns else 0
        cell = {"kind": kind, "name": name, "predicted_ns": p["completion_ns"] - outside, "low_ns": p["low_ns"] - outside,
                "high_ns": p["high_ns"] - outside, "before_ns": said["measured_ns"] - outside, "replay_error": said["replay_error"],
                "bound": said["bound"], "octaves": octaves}
        self.cells.append(cell)
        print(f"{kind}\t{name}\t{crc}\t{cell['predicted_ns']:.0f}\t{cell['low_ns']:.0f}\t{cell['high_ns']:.0f}", file=self.file, flush=True)
        self.measure(cell, (n, command, group, own_ns is not None))

    def predict_cores(self, name, base, command, own=False):
        traced = self.record(f"{name}-{base}", base, command, own=own)
        for n in CORES:
            if n != base:
                self.predict("cores", f"{name} {base} to {n}", traced, ["--cores", str(n)], n, command, octaves=abs(math.log2(n / base)))
        return traced

    def measure(self, c, runs):
        c["measured_ns"] = statistics.median(self.runs_ns(*runs))
        c["error"] = c["predicted_ns"] / c["measured_ns"] - 1
        c["inside"] = c["low_ns"] <= c["measured_ns"] <= c["high_ns"]
        print(f"{c['kind']:9} {c['name']:34} before {c['before_ns'] / 1e6:8.1f} ms  predicted {c['predicted_ns'] / 1e6:8.1f}"
              f" ({c['low_ns'] / 1e6:.1f} to {c['high_ns'] / 1e6:.1f})  measured {c['measured_ns'] / 1e6:8.1f}"
              f"  error {100 * c['error']:+6.1f} %{'' if c['inside'] else '  outside'}  replay {100 * c['replay_error']:+.1f} %"
              f"  bound by {c['bound']}", flush=True)

    def summary(self, name, cells):
        errors = sorted(abs(c["error"]) for c in cells)
        if errors:
            print(f"{name:9} {len(errors):3} cells: mean {100 * statistics.mean(errors):.1f} %, median {100 * statistics.median(errors):.1f} %, "
                  f"90th percentile {100 * errors[min(len(errors) - 1, int(0.9 * len(errors)))]:.1f} %, "
                  f"inside the interval {100 * sum(c['inside'] for c in cells) / len(cells):.0f} %, whose median is "
                  f"{100 * statistics.median((c['high_ns'] - c['low_ns']) / c['predicted_ns'] for c in cells):.0f} % wide")

    def end(self):
        self.file.close()
        done = [c for c in self.cells if "error" in c]
        for kind in dict.fromkeys(c["kind"] for c in done):
            self.summary(kind, [c for c in done if c["kind"] == kind])
        self.summary("all", done)
        print(f"{len(self.cells) - len(done)} refused")
        json.dump({"processors": len(HERE), "cells": self.cells}, open(f"{self.out}/cells.json", "w"), indent=1)
        return done
