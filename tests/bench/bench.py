#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""tailor beside perf, interleaved in one run: bench.py BUILD [ROUNDS]

What it compares, with the same event, period and registers on the same host:
  slowdown   the host's own run time (the engine's clock, without start and end) under each profiler against alone
  bytes      trace bytes per sample
  analysis   samples per second of `tailor report` and `perf report` on files of about equal sample counts

Each round runs all contenders once, in an order that rotates; medians of the rounds are printed, and ratios of medians.
Absolute times of a shared machine prove nothing; the ratios are what to look at.  Nothing here fails a check.
"""
import json
import os
import re
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

B = os.path.abspath(sys.argv[1])
ROUNDS = max(5, int(sys.argv[2]) if len(sys.argv) > 2 else 5)
PERF = shutil.which("perf")
REGISTERS = "bx,bp,sp,ip,r12,r13,r14,r15"
HOST = [f"{B}/engine", "--query", "fig9", "--scale", "0.5", "--threads", "2", "--repeat", "12"]


def run(command, **kw):
    p = subprocess.run(command, capture_output=True, text=True, **kw)
    if p.returncode != 0:
        sys.exit(f"bench: {' '.join(command)}: exit {p.returncode}\n{p.stderr[-2000:]}")
    return p


def host_seconds(output):
    """Sum of the engine's own times of its repetitions."""
    times = [float(ms) for ms in re.findall(r"^run \d+: ([0-9.]+) ms", output, re.M)]
    if not times:
        sys.exit(f"bench: the engine printed no run times:\n{output[:1000]}")
    return sum(times) / 1000


def event_that_works(directory):
    """Event and period that `tailor run` finds by itself, for both to use."""
    trace = f"{directory}/probe.tlr"
    run([f"{B}/tailor", "run", "-q", "-o", trace, "--", "/bin/sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"])
    event = json.loads(run([f"{B}/tailor", "report", "--json", trace]).stdout)["events"][0]
    return "task-clock" if "clock" in event["name"] else "cycles", event["period"] or 400000


def contenders(event, period):
    """name -> (command before the host's, file); by pairs that record the same."""
    perf = [PERF, "record", "-q", "-e", event, "-c", str(period), f"--user-regs={REGISTERS}"]
    tailor = [f"{B}/tailor", "run", "-q", "-e", event, "--period", str(period)]
    return {
        "alone": ([], None),
        "tailor, registers": (tailor + ["--stack", "0", "-o"], "tlr"),
        "perf, registers": (perf + ["-o"], "data"),
        "tailor, 2 KiB stacks": (tailor + ["--stack", "2048", "-o"], "tlr"),
        "perf, 2 KiB stacks": (perf + ["--call-graph", "dwarf,2048", "-o"], "data"),
    }


def nr_samples(path):
    if path.endswith(".tlr"):
        return json.loads(run([f"{B}/tailor", "report", "--json", path]).stdout)["samples"]["total"]
    out = run([PERF, "report", "-i", path, "--stdio", "--stats"]).stdout
    return sum(int(n) for n in re.findall(r"SAMPLE events:\s+(\d+)", out)[:1])


def sample_bytes(path):
    """Bytes of a trace's sample chunks: the rest is symbols and unwind tables, which perf leaves in their files."""
    with open(path, "rb") as f:
        data, at, total = f.read(), 0, 0
    while at + 32 <= len(data):
        kind, stored = struct.unpack_from("<4xHxxI", data, at)
        total += 32 + stored if kind == 2 else 0
        at += 32 + stored
    return total


def timed(command):
    begin = time.monotonic()
    run(command)
    return time.monotonic() - begin


def main():
    if not PERF:
        sys.exit("bench: perf is not installed (package linux-perf); there is nothing to compare with")
    with tempfile.TemporaryDirectory() as d:
        event, period = event_that_works(d)
        entries = contenders(event, period)
        seconds = {name: [] for name in entries}
        size = {name: [] for name in entries}
        paths = {}
        print(f"host: {' '.join(['engine'] + HOST[1:])}; event {event}, period {period};"
              f" registers {REGISTERS}")
        print(f"{ROUNDS} rounds, interleaved; medians")
        names = list(entries)
        for n in range(ROUNDS):
            for name in names[n % len(names):] + names[:n % len(names)]:
                command, extension = entries[name]
                path = f"{d}/{names.index(name)}.{extension}"
                out = run((command + [path, "--"] if command else []) + HOST).stdout
                seconds[name].append(host_seconds(out))
                if extension:
                    size[name].append(os.path.getsize(path) / nr_samples(path))
                    paths[name] = path
            if sys.stderr.isatty():
                print(f"\rround {n + 1} of {ROUNDS}", end="", file=sys.stderr)
        alone = statistics.median(seconds["alone"])
        print(f"\n{'':24}{'host, s':>10}{'slowdown':>10}{'spread':>16}{'samples':>10}{'B/sample':>10}{'in samples':>12}")
        for name in names:
            ratios = sorted(s / alone for s in seconds[name])
            spread = f"{ratios[0]:.3f}-{ratios[-1]:.3f}"
            line = f"{name:24}{statistics.median(seconds[name]):10.3f}{statistics.median(ratios):10.3f}{spread:>16}"
            if size[name]:
                line += f"{nr_samples(paths[name]):10}{statistics.median(size[name]):10.1f}"
            if name.startswith("tailor"):
                line += f"{sample_bytes(paths[name]) / nr_samples(paths[name]):12.1f}"
            print(line)

        print(f"\n{'analysis':24}{'samples':>10}{'seconds':>10}{'samples/s':>12}")
        reports = {
            "tailor report": (paths["tailor, registers"], [f"{B}/tailor", "report"]),
            "perf report": (paths["perf, registers"], [PERF, "report", "--stdio", "-i"]),
            "tailor report, stacks": (paths["tailor, 2 KiB stacks"], [f"{B}/tailor", "report", "--attribute", "stack"]),
            "perf report, stacks": (paths["perf, 2 KiB stacks"], [PERF, "report", "--stdio", "-g", "caller", "-i"]),
        }
        took = {name: [] for name in reports}
        for n in range(ROUNDS):
            order = list(reports)
            for name in order[n % len(order):] + order[:n % len(order)]:
                if "perf report, stacks" == name and n > 0:
                    continue  # minutes a run: once is enough
                path, command = reports[name]
                took[name].append(timed(command + [path]))
        rate = {}
        for name, (path, _) in reports.items():
            nr, s = nr_samples(path), statistics.median(took[name])
            rate[name] = nr / s
            print(f"{name:24}{nr:10}{s:10.3f}{rate[name]:12.0f}")
        print(f"\ntailor report : perf report = {rate['tailor report'] / rate['perf report']:.2f} : 1;"
              f" with stacks {rate['tailor report, stacks'] / rate['perf report, stacks']:.2f} : 1")


main()
