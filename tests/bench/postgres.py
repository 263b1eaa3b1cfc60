#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What profiling costs a PostgreSQL server: postgres.py BUILD [ROUNDS]

TPC-H's 22 queries (QUERIES="q01 q06" for some, SCALE=0.2), without workers, JIT off, one after another on one connection, in each way once a
round, in an order that rotates: bare; preloaded and recorded by tailor at 1,000 and at 5,000 samples a second; recorded by perf with the
same stacks and event at 1,000; each query by EXPLAIN (ANALYZE); and with auto_explain (log_analyze, log_min_duration 0).  Rates are those that the
kernel allows (kernel.perf_event_max_sample_rate).  Time is the processor's, of the backend, because run times of a shared machine
prove little; also that of the recorder.  Printed: the geometric mean over queries of the median over rounds, as a multiple of bare.

    postgres.py BUILD ROUNDS pgbench    transactions of `pgbench -S` and of its TPC-B instead: bare, and preloaded with and without recording
"""
import collections
import math
import os
import re
import shutil
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "postgres"))
import cluster
import nodes

B = os.path.abspath(sys.argv[1])
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 7
TAILOR = B + "/tailor"
PERF = shutil.which("perf")
STACK = "16384"
MAX_RATE = int(open("/proc/sys/kernel/perf_event_max_sample_rate").read())


def tailor(trace, rate):
    return [TAILOR, "run", "-q", "-o", trace, "-r", str(rate), "--stack", STACK, "-e", "task-clock", "--"]


def ways(c):
    trace = c.writable("traces") + "/t"
    explain = {"session_preload_libraries": "auto_explain", "auto_explain.log_min_duration": "0", "auto_explain.log_analyze": "on"}
    w = {"bare": ([], {}, ""), "tailor, 1,000/s": (tailor(trace, 1000), {}, "")}
    if MAX_RATE >= 5000:
        w["tailor, 5,000/s"] = (tailor(trace, 5000), {}, "")
    if PERF:
        w["perf, 1,000/s"] = ([PERF, "record", "-q", "-o", trace + ".perf", "-e", "task-clock:u", "-F", str(min(1000, MAX_RATE)), "--call-graph",
                               "dwarf," + STACK, "--"], {}, "")
    w["EXPLAIN (ANALYZE)"] = ([], {}, "explain (analyze) ")
    w["auto_explain"] = ([], explain, "")
    return w


def recorder_ns(server):
    """Of the processes that record: the server's ancestors, and a recorder beside it."""
    total = 0
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = open(f"/proc/{pid}/cmdline").read().split("\0")
            if words[0] in (TAILOR, B + "/tailor-record", PERF) and server.cluster.data in " ".join(words):
                total += nodes.cpu_ns(pid)
        except (OSError, IndexError):
            pass
    return total


def queries(c):
    texts = cluster.queries(os.environ.get("QUERIES"))
    c.load(float(os.environ.get("SCALE", 0.2)))
    taken, recorders, all_ways = collections.defaultdict(list), collections.defaultdict(list), ways(c)
    names = list(all_ways)
    for r in range(ROUNDS):
        for name in names[r % len(names):] + names[:r % len(names)]:
            command, settings, before = all_ways[name]
            with c.server(tailor=command, settings=settings) as server, c.session("bench", nodes.options("off", 0)) as s:
                for text in texts.values():  # warm
                    s.run(text)
                recorder = recorder_ns(server)
                for q, text in texts.items():
                    begin = nodes.cpu_ns(s.pid)
                    s.run(before + text)
                    taken[name, q].append(nodes.cpu_ns(s.pid) - begin)
                recorders[name].append(recorder_ns(server) - recorder)
            print(f"round {r + 1} of {ROUNDS}: {name}", file=sys.stderr, flush=True)
    bare = {q: statistics.median(taken["bare", q]) for q in texts}
    all_bare = sum(bare.values())
    print(f"{'':20}{'backend':>9}{'worst':>8}{'recorder':>10}   {len(texts)} queries, {ROUNDS} rounds, {all_bare / 1e9:.1f} s bare")
    for name in names:
        ratios = {q: statistics.median(taken[name, q]) / bare[q] for q in texts}
        mean = math.exp(sum(math.log(x) for x in ratios.values()) / len(ratios))
        worst = max(ratios, key=ratios.get)
        print(f"{name:20}{mean:9.3f}{ratios[worst]:8.2f}{statistics.median(recorders[name]) / all_bare:10.3f}   worst: {worst}")
    print("backend: processor time as a multiple of bare, geometric mean; recorder: as a share of bare's")


def pgbench(c):
    """Processor time of the server for each transaction."""
    trace = c.writable("traces") + "/t"
    all_ways = {"bare": [], "preloaded, not recorded": [TAILOR, "run", "-q", "--dormant", "--"],
                "… without adapters": [TAILOR, "run", "-q", "--dormant", "--no-adapt", "--"], "recorded, 1,000/s": tailor(trace, 1000),
                "… without adapters ": tailor(trace, 1000)[:-1] + ["--no-adapt", "--"]}
    with c.server():
        subprocess.run([c.bin + "/pgbench", "-i", "-q", "-s", "5", "-h", c.socket, "-p", str(c.port), "-U", "postgres", "postgres"],
                       check=True, capture_output=True)
    transactions = {"-S": 20000, "-S -M prepared": 20000, "TPC-B": 3000}
    taken = collections.defaultdict(list)
    names = list(all_ways)
    for r in range(ROUNDS):
        for name in names[r % len(names):] + names[:r % len(names)]:
            with c.server(tailor=all_ways[name]) as server:
                for kind, nr in transactions.items():
                    begin, recorder = children_ns(server.pid), recorder_ns(server)
                    words = [] if kind == "TPC-B" else kind.split()
                    subprocess.run([c.bin + "/pgbench", "-n", *words, "-c", "4", "-j", "1", "-t", str(nr // 4), "-h", c.socket, "-p", str(c.port),
                                    "-U", "postgres", "postgres"], check=True, capture_output=True)
                    cluster.wait_for("its backends have ended", lambda: not clients(server))
                    taken[name, kind].append(((children_ns(server.pid) - begin) / nr / 1000, (recorder_ns(server) - recorder) / nr / 1000))
            print(f"round {r + 1} of {ROUNDS}: {name}", file=sys.stderr, flush=True)
    print(f"{'µs a transaction':26}" + "".join(f"{kind:>24}" for kind in transactions))
    for name in names:
        print(f"{name:26}" + "".join(f"{statistics.median(t[0] for t in taken[name, k]):15.1f} + {statistics.median(t[1] for t in taken[name, k]):5.1f} "
                                     for k in transactions))
    print("processor time of the backends + of the recorder; medians")


def children_ns(pid):
    """Processor time of a process's children that have ended."""
    fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
    return (int(fields[13]) + int(fields[14])) * (1_000_000_000 // os.sysconf("SC_CLK_TCK"))


def clients(server):
    found = subprocess.run(["pgrep", "-P", str(server.pid), "-f", r"postgres: .*\[local\]"], capture_output=True, text=True).stdout
    return re.findall(r"\d+", found)


def main():
    try:
        c = cluster.Cluster()
    except LookupError as e:
        print(f"skipped, because {e}")
        return
    with c:
        (pgbench if sys.argv[3:] == ["pgbench"] else queries)(c)


if __name__ == "__main__":
    main()
