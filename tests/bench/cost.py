#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What sampling costs the host, tailor beside perf record: cost.py BUILD [ROUNDS] [quick]

The same event, period and content on the same host, interleaved: each round runs the host alone and under every contender, in an
order that rotates; 15 rounds or, where those took longer than two minutes of a host, as many as fit, and at least 3 (ROUNDS: that
many, however long they take).  Added run time is by the engine's own clock (without start and end); added processor time is of host and
recorder together (wait4's rusage of the whole tree).  Printed are medians and the bootstrap's 95 % interval of the ratio ours :
perf's of what was added; and, at lower rates, what a sample costs.
"""
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

B = os.path.abspath(sys.argv[1])
QUICK = "quick" in sys.argv
LEAST = 3
ROUNDS = max(LEAST, int(sys.argv[2])) if len(sys.argv) > 2 else 15
SECONDS = 120 if len(sys.argv) <= 2 else float("inf")  # that a host may take before it has had all its rounds
PERF = shutil.which("perf")
RATE = 50000
# what is recorded: (title, tailor's options, perf's)
CONTENTS = [
    ("IP + time", ["--stack", "0", "--registers", "none"], ["-T"]),
    ("+ tag register", ["--stack", "0", "--registers", "r13"], ["-T", "--user-regs=sp,ip,r13"]),
    ("+ 8 KiB stack", ["--stack", "8192"], ["-T", "--call-graph", "dwarf,8192", "--user-regs=bx,bp,sp,ip,r12,r13,r14,r15"]),
]
# repetitions so that a run takes a second or two of each thread
HOSTS = {("q1", 1): ("1", "6"), ("q1", 2): ("1", "10"), ("q3", 1): ("1", "6"), ("q3", 2): ("1", "10")}


def host(query, threads):
    scale, repeat = HOSTS[query, threads]
    return [f"{B}/engine", "--query", query, "--scale", scale, "--threads", str(threads), "--repeat", repeat]


def run(command):
    """stdout, seconds of processor time of the whole tree."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        p = subprocess.Popen(command, stdout=out, stderr=err)
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if status:
            sys.exit(f"cost: {' '.join(command)}: exit {p.returncode}\n{err.read().decode()[-2000:]}")
        return out.read().decode(), usage.ru_utime + usage.ru_stime


def host_seconds(output):
    times = [float(ms) for ms in re.findall(r"^run \d+: ([0-9.]+) ms", output, re.M)]
    return sum(times) / 1000


def facts(path):
    """samples, lost, the recorder's processor seconds."""
    if path.endswith(".tlr"):
        r = json.loads(run([f"{B}/tailor", "report", "--json", path])[0])
        return r["samples"]["total"], r["samples"]["lost"], r["recorder_cpu_ns"] / 1e9
    out = run([PERF, "report", "-i", path, "--stdio", "--stats"])[0]
    count = lambda what: sum(int(n) for n in re.findall(what + r" events:\s+(\d+)", out)[:1])
    return count("SAMPLE"), count("LOST_SAMPLES") + count("LOST"), None


def cycles_per_second(directory):
    """Event that works here, and how much of it a busy processor has in a second."""
    trace = f"{directory}/probe.tlr"
    run([f"{B}/tailor", "run", "-q", "-r", "1000", "-o", trace, "--", "/bin/sh", "-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"])
    e = json.loads(run([f"{B}/tailor", "report", "--json", trace])[0])["events"][0]
    return ("task-clock", 1000000000) if "clock" in e["name"] else ("cycles", e["period"] * 1000)


def interval(added_ours, added_perf):
    """Bootstrap over rounds: the ratio of medians, and the ends of its 95 % interval."""
    rng = random.Random(1)
    n, ratios = len(added_ours), []
    for _ in range(4000):
        pick = [rng.randrange(n) for _ in range(n)]
        p = statistics.median(added_perf[i] for i in pick)
        if p > 0:
            ratios.append(statistics.median(added_ours[i] for i in pick) / p)
    ratios.sort()
    p = statistics.median(added_perf)
    ratio = statistics.median(added_ours) / p if p > 0 else float("nan")
    return (ratio, ratios[len(ratios) // 40], ratios[-1 - len(ratios) // 40]) if ratios else (ratio, float("nan"), float("nan"))


def measure(directory, query, threads, event, period, contents, rounds):
    """name -> rounds of (host seconds, processor seconds); files."""
    entries = {"alone": []}
    for title, ours, perfs in contents:
        entries["tailor", title] = [f"{B}/tailor", "run", "-q", "-e", event, "--period", str(period)] + ours + ["-o"]
        entries["perf", title] = [PERF, "record", "-q", "-B", "-N", "-e", event, "-c", str(period)] + perfs + ["-o"]
    got, files = {name: [] for name in entries}, {}
    names = list(entries)
    begin = time.monotonic()
    for n in range(rounds):
        if n >= LEAST and time.monotonic() - begin > SECONDS:
            break
        for name in names[n % len(names):] + names[:n % len(names)]:
            command = entries[name]
            if command:
                files[name] = f"{directory}/{names.index(name)}.{'tlr' if name[0] == 'tailor' else 'data'}"
                command = command + [files[name], "--"]
            out, cpu = run(command + host(query, threads))
            got[name].append((host_seconds(out), cpu))
        if sys.stderr.isatty():
            print(f"\r{query}, {threads} threads: round {n + 1} of {rounds} ", end="", file=sys.stderr)
    if sys.stderr.isatty():
        print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
    return got, files


def main():
    if not PERF:
        sys.exit("cost: perf is not installed (package linux-perf); there is nothing to compare with")
    pooled = {title: ([], [], [], []) for title, _, _ in CONTENTS}
    with tempfile.TemporaryDirectory() as d:
        event, per_second = cycles_per_second(d)
        period = per_second // RATE | 1
        print(f"\nwhat sampling costs: {event}, period {period} ({RATE}/s), at most {ROUNDS} rounds, interleaved")
        print("added: of the host's own run time; ratio ours : perf's with 95 % interval; CPU: host and recorder; n: rounds\n")
        print(f"{'host':6}{'n':>3} {'content':15}{'tailor':>8}{'perf':>8}{'ratio':>7}{'interval':>12}{'CPU':>6}{'lost':>7}{'perf':>7}")
        for query, threads in (list(HOSTS)[-1:] if QUICK else HOSTS):
            got, files = measure(d, query, threads, event, period, CONTENTS, ROUNDS)
            alone = statistics.median(s for s, _ in got["alone"])
            for title, _, _ in CONTENTS:
                ours = [g[0] / a[0] - 1 for g, a in zip(got["tailor", title], got["alone"])]
                perfs = [g[0] / a[0] - 1 for g, a in zip(got["perf", title], got["alone"])]
                cpu = [g[1] / a[1] - 1 for g, a in zip(got["tailor", title], got["alone"])]
                cpu_perf = [g[1] / a[1] - 1 for g, a in zip(got["perf", title], got["alone"])]
                for total, one in zip(pooled[title], (ours, perfs, cpu, cpu_perf)):
                    total.extend(one)
                ratio, low, high = interval(ours, perfs)
                nr, lost, _ = facts(files["tailor", title])
                nr_perf, lost_perf, _ = facts(files["perf", title])
                cpu_ratio = statistics.median(cpu) / statistics.median(cpu_perf)
                print(f"{query} x{threads:<2}{len(ours):3} {title:15}{100 * statistics.median(ours):7.1f}%{100 * statistics.median(perfs):7.1f}%"
                      f"{ratio:7.2f}{f'{low:.2f}-{high:.2f}':>12}{cpu_ratio:6.2f}{100 * lost / (nr + lost):6.1f}%"
                      f"{100 * lost_perf / (nr_perf + lost_perf):6.1f}%", flush=True)
        print("\nall of them together:")
        for title, (ours, perfs, cpu, cpu_perf) in pooled.items():
            ratio, low, high = interval(ours, perfs)
            cpu_ratio, cpu_low, cpu_high = interval(cpu, cpu_perf)
            print(f"{title:16}run time {ratio:5.2f} ({low:.2f}-{high:.2f}) : 1   processor time {cpu_ratio:5.2f}"
                  f" ({cpu_low:.2f}-{cpu_high:.2f}) : 1")
        if QUICK:
            return
        print(f"\nwhat a sample costs, q3 on 2 threads, ns of the host's processors (median of at most {max(5, ROUNDS // 3)} rounds)")
        print(f"{'rate':>8}  {'content':16}{'tailor':>8}{'perf':>8}{'recorder, % of a core':>24}")
        for rate in (10000, 2000):
            got, files = measure(d, "q3", 2, event, per_second // rate | 1, CONTENTS, max(5, ROUNDS // 3))
            for title, _, _ in CONTENTS:
                line = f"{rate:8}  {title:16}"
                for who in ("tailor", "perf"):
                    nr, _, recorder = facts(files[who, title])
                    added = statistics.median(g[0] - a[0] for g, a in zip(got[who, title], got["alone"]))
                    line += f"{2 * added / nr * 1e9:8.0f}"
                    if who == "tailor":
                        share = 100 * recorder / statistics.median(g[0] for g in got[who, title])
                print(line + f"{share:23.2f}%", flush=True)


main()
