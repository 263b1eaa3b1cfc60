#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How fast samples become a plan: analysis.py BUILD [ROUNDS]

Alone, on synthetic traces, `tailor report --view plan`; medians of processor time, wall time and the peak of memory; with one thread
and, in the last two columns, with as many as there are processors:
  5 M samples, 100 code objects        wanted: 5 M samples a second on one core
  10 M samples, 1,000 code objects     wanted: 3 s, 500 MiB
  1 M samples, 200,000 code objects    wanted: 1 s
The last two again of a host that tells of functions and lines only, half of its samples in code without unwind information.

Beside `perf report --stdio`, in turn, on the same samples, wanted: 20 times as fast:
  synthetic ones with registers, written as a trace and as perf.data (names of generated code in a perf map)
  those of the test engine with 2 KiB of stack, recorded by perf, imported with what the engine said

Beside `perf report --stdio --no-children`, in turn, on an equal recording of the engine (q3, 2 threads, 1.8 M samples or more, tag
register, no stacks), by processor time a sample; wanted: the default report 8 times as fast, the plan 15 times.

Ratios are medians of the rounds' ratios.  Nothing here fails a check: a shared machine's times prove nothing.
"""
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

B = os.path.abspath(sys.argv[1])
ROUNDS = int(sys.argv[2]) if len(sys.argv) > 2 else 5
CASES = ((5_000_000, 100, ""), (10_000_000, 1_000, ""), (1_000_000, 200_000, ""), (10_000_000, 1_000, "functions"),
         (1_000_000, 200_000, "functions"))
PEERS = ((1_000_000, 100), (5_000_000, 100), (1_000_000, 200_000))
PID = 1000  # synthetic.c's; perf looks for names of generated code in /tmp/perf-PID.map
PERF = shutil.which("perf")


def once(*command):
    """(processor time, wall time, MiB), or None where it failed."""
    begin = time.monotonic()
    pid = os.fork()
    if pid == 0:
        null = os.open("/dev/null", os.O_RDWR)
        for fd in range(3):
            os.dup2(null, fd)
        os.execv(command[0], command)
    _, status, usage = os.wait4(pid, 0)
    took = usage.ru_utime + usage.ru_stime, time.monotonic() - begin, usage.ru_maxrss / 1024
    return None if status else took


def plan_of(trace, *threads):
    return f"{B}/tailor", "report", *threads, "--view", "plan", trace


def alone(d):
    print(f"{'samples':>12}{'code objects':>14}{'seconds':>10}{'wall':>8}{'M samples/s':>13}{'MiB':>8}{'wall':>8}{'MiB':>6}"
          f"   medians of {ROUNDS}")
    for samples, objects, kind in CASES:
        subprocess.run([f"{B}/bench/synthetic", str(samples), str(objects), f"{d}/t.tlr", kind], check=True)
        runs, threaded = [], []
        for _ in range(ROUNDS):
            runs.append(once(*plan_of(f"{d}/t.tlr", "--threads", "1")))
            threaded.append(once(*plan_of(f"{d}/t.tlr")))
        if None in runs + threaded:
            sys.exit(f"tailor report --view plan failed on {samples} samples")
        seconds, wall, mib = (statistics.median(r[i] for r in runs) for i in range(3))
        _, wall_threaded, mib_threaded = (statistics.median(r[i] for r in threaded) for i in range(3))
        print(f"{samples:12}{objects:14}{seconds:10.2f}{wall:8.2f}{samples / seconds / 1e6:13.2f}{mib:8.0f}{wall_threaded:8.2f}{mib_threaded:6.0f}"
              f"   {kind}")


def beside(what, samples, trace, data):
    ours, perf = [], []
    for _ in range(ROUNDS):
        ours.append(once(*plan_of(trace)))
        perf.append(once(PERF, "report", "--stdio", "-i", data))
        if perf[-1] is None or ours[-1] is None:
            print(f"{what:34}{samples:10}   {'perf' if ours[-1] else 'tailor'} report failed on this file")
            return
        if perf[-1][1] > 30:
            break  # once is enough
    rate = [samples / statistics.median(r[0] for r in runs) / 1e6 for runs in (ours, perf)]
    ratio = [statistics.median(p[i] / o[i] for o, p in zip(ours, perf)) for i in range(2)]
    print(f"{what:34}{samples:10}{rate[0]:12.3f}{rate[1]:10.3f}{ratio[0]:10.1f}{ratio[1]:8.1f}")


def synthetic_peers(d):
    names = f"/tmp/perf-{PID}.map"
    for samples, objects in PEERS:
        if os.path.exists(names):
            print(f"{names} is there already: left out")
            return
        subprocess.run([f"{B}/bench/synthetic", str(samples), str(objects), f"{d}/t.tlr", f"perf={d}/perf.data"], check=True)
        try:
            shutil.move(f"{d}/perf.data.map", names)
            beside(f"registers, {objects} code objects", samples, f"{d}/t.tlr", f"{d}/perf.data")
        finally:
            os.unlink(names)


def recorded_peer(d):
    engine = [f"{B}/engine", "--query", "fig9", "--scale", "0.5", "--repeat", "3"]
    record = [PERF, "record", "-q", "-B", "-k", "mono", "-e", "task-clock", "-F", "2000", "--call-graph", "dwarf,2048"]
    p = subprocess.run([f"{B}/tailor", "run", "-q", "-r", "1", "-o", f"{d}/said.tlr", "--"] + record + ["-o", f"{d}/e.data"] + engine,
                       capture_output=True, text=True)
    if p.returncode:
        print(f"stacks: perf cannot record here: {p.stderr.strip()[-200:]}")
        return
    p = subprocess.run([f"{B}/tailor", "import", "--registrations", f"{d}/said.tlr", "-o", f"{d}/e.tlr", f"{d}/e.data"], capture_output=True,
                       text=True, check=True)
    samples = int(p.stderr.split(": ")[1].split()[0])
    beside("2 KiB stacks, the engine's fig9", samples, f"{d}/e.tlr", f"{d}/e.data")


REAL_WANTED = 1_800_000


def real_peer(d):
    """Each records a run of its own: one cannot be read as the other."""
    repeat = 30
    while True:
        engine = [f"{B}/engine", "--query", "q3", "--scale", "1", "--threads", "2", "--repeat", str(repeat)]
        p = subprocess.run([f"{B}/tailor", "run", "-r", "50000", "-e", "task-clock", "--stack", "0", "--registers", "r13", "-o",
                            f"{d}/real.tlr", "--"] + engine, capture_output=True, text=True, check=True)
        samples = int(p.stderr.rsplit(": ", 1)[1].split()[0])
        if samples >= REAL_WANTED or repeat > 1000:
            break
        repeat = int(1.2 * repeat * REAL_WANTED / max(samples, 1)) + 1
    p = subprocess.run([PERF, "record", "-q", "-F", "50000", "-e", "task-clock", "-o", f"{d}/real.data"] + engine, capture_output=True,
                       text=True)
    if p.returncode:
        print(f"real: perf cannot record here: {p.stderr.strip()[-200:]}")
        return
    theirs = len(subprocess.run([PERF, "script", "-i", f"{d}/real.data", "-F", "pid"], capture_output=True).stdout.splitlines())
    runs = {"default": [], "plan": [], "perf": []}
    for _ in range(ROUNDS):
        runs["default"].append(once(f"{B}/tailor", "report", f"{d}/real.tlr"))
        runs["plan"].append(once(*plan_of(f"{d}/real.tlr")))
        runs["perf"].append(once(PERF, "report", "--stdio", "--no-children", "-i", f"{d}/real.data"))
    if None in sum(runs.values(), []):
        print("real: a report failed")
        return
    ns = {who: statistics.median(r[0] for r in rs) / (theirs if who == "perf" else samples) * 1e9 for who, rs in runs.items()}
    print(f"\nreal, q3: {samples} samples (perf {theirs}); ns of processor time a sample: default report {ns['default']:.0f}, plan "
          f"{ns['plan']:.0f}, perf report {ns['perf']:.0f}: {ns['perf'] / ns['default']:.1f} and {ns['perf'] / ns['plan']:.1f} times as fast")


def main():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    with tempfile.TemporaryDirectory() as d:
        alone(d)
        if not PERF:
            print("perf is not installed (package linux-perf): there is nothing to compare with")
            return
        print(f"\n{'on the same samples':34}{'samples':>10}{'M/s, tailor':>12}{'perf':>10}{'ratio':>10}{'wall':>8}")
        synthetic_peers(d)
        recorded_peer(d)
        real_peer(d)


main()
