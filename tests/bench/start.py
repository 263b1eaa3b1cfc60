#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What the agent adds to the start and end of a program that does nothing: start.py BUILD [ROUNDS]

/bin/true alone; with the agent preloaded, which starts a recorder of its own; with a recorder that already runs (of a
`tailor run`); and switched off.  Interleaved, each round in an order that rotates; medians of run time, the median of the
differences to the same round's run alone, and its bootstrap's 95 % interval.  Between rounds the recorders of the last one end.
Then: was each of those heard that a running recorder stood beside?  And the processor time of a whole recording of it, with the recorder,
beside perf record's with the same event, rate and stack bytes.  Nothing here fails a check.
"""
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

B = os.path.abspath(sys.argv[1])
ROUNDS = max(3, int(sys.argv[2]) if len(sys.argv) > 2 else 100)
TRUE = "/bin/true"


def seconds(environment):
    begin = time.perf_counter()
    pid = os.posix_spawn(TRUE, [TRUE], environment)
    _, status = os.waitpid(pid, 0)
    if status:
        sys.exit(f"start: {TRUE} with {environment}: status {status}")
    return time.perf_counter() - begin


def interval(values):
    rng = random.Random(1)
    medians = sorted(statistics.median(rng.choices(values, k=len(values))) for _ in range(1000))
    return medians[25], medians[974]


def recorders_of(directory):
    """Is a recorder at work that writes to this folder?"""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                command = f.read()
        except OSError:
            continue
        if f"{directory}/own-".encode() in command:
            return True
    return False


def measure(directory, beside):
    """beside: what a child of `tailor run` has in its environment"""
    clean = {"PATH": os.environ["PATH"]}
    agent = dict(clean, LD_PRELOAD=f"{B}/libtailor.so")
    ways = {
        "alone": lambda n: clean,
        "own recorder": lambda n: dict(agent, TAILOR_OUTPUT=f"{directory}/own-{n}.tlr"),
        "recorder runs": lambda n: dict(clean, **beside),
        "switched off": lambda n: dict(agent, TAILOR_OFF="1"),
    }
    times = {way: [] for way in ways}
    names = list(ways)
    for n in range(ROUNDS):
        for way in names[n % len(names):] + names[:n % len(names)]:
            times[way].append(seconds(ways[way](n)))
            if way == "own recorder":
                for _ in range(200):
                    time.sleep(0.02)
                    if not recorders_of(directory):
                        break
    print(f"{TRUE}, {ROUNDS} rounds, in turn: ms")
    print(f"{'':16}{'median':>8}{'added':>8}  95 % interval")
    for way, of in times.items():
        added = [(a - b) * 1e3 for a, b in zip(of, times["alone"])]
        low, high = interval(added)
        what = f"{statistics.median(added):8.2f}  {low:.2f} to {high:.2f}" if way != "alone" else ""
        print(f"{way:16}{statistics.median(of) * 1e3:8.2f}{what}")


def processor_ms(command):
    """Of the whole tree."""
    pid = os.posix_spawn(command[0], command, dict(os.environ))
    _, status, usage = os.wait4(pid, 0)
    if status:
        sys.exit(f"start: {' '.join(command)}: status {status}")
    return 1e3 * (usage.ru_utime + usage.ru_stime)


def recordings(directory):
    ways = {"alone": [TRUE], "tailor run": [f"{B}/tailor", "run", "-q", "-e", "task-clock", "-o", f"{directory}/t.tlr", "--", TRUE]}
    if shutil.which("perf"):
        ways["perf record"] = [shutil.which("perf"), "record", "-q", "-B", "-N", "-e", "task-clock", "-F", "4000",
                               "--call-graph", "dwarf,16384", "-o", f"{directory}/p.data", "--", TRUE]
    got = {way: [] for way in ways}
    for _ in range(min(ROUNDS, 20)):
        for way, command in ways.items():
            got[way].append(processor_ms(command))
    print("processor time with the recorder, ms: " + ", ".join(f"{way} {statistics.median(ms):.1f}" for way, ms in got.items()))


def main():
    with tempfile.TemporaryDirectory() as d:
        # its child says what it has in its environment, and lives until its input ends
        host = ["/bin/sh", "-c", f"env -0 >{d}/part; mv {d}/part {d}/environment; read line"]
        with subprocess.Popen([f"{B}/tailor", "run", "-q", "-o", f"{d}/outer.tlr", "--"] + host, stdin=subprocess.PIPE) as recorder:
            for _ in range(500):
                if os.path.exists(f"{d}/environment"):
                    break
                time.sleep(0.02)
            with open(f"{d}/environment") as f:
                pairs = [entry.split("=", 1) for entry in f.read().split("\0") if entry]
            measure(d, {k: v for k, v in pairs if k.startswith(("LD_PRELOAD", "TAILOR_"))})
            recorder.stdin.close()
        dump = subprocess.run([f"{B}/tailor", "dump", f"{d}/outer.tlr"], capture_output=True, text=True).stdout
        heard = sum(" IMAGE " in line and "/true" in line for line in dump.splitlines())
        print(f"{heard} of {ROUNDS} were heard by the recorder that ran")
        recordings(d)


main()
