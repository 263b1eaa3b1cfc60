#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Walking call stacks, beside perf: stacks.py BUILD [ROUNDS]

The same programs, event, period and snapshot size (8 KiB), recorded by both; then both walk every stack and print every
frame: `tailor unwind --frames` and `perf script -F ip --no-inline`, interleaved, medians of the rounds.  Samples per second are
of the whole command, and without what it takes to start (a trace's symbols and tables are read then).  Memory is the largest
resident set.  Nothing here fails a check.
"""
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

B = os.path.abspath(sys.argv[1])
ROUNDS = max(3, int(sys.argv[2]) if len(sys.argv) > 2 else 5)
PERF = shutil.which("perf")
REGISTERS = "bx,bp,sp,ip,r12,r13,r14,r15"
STACK = "8192"
HOSTS = {
    "engine, no tags": [f"{B}/engine", "--query", "fig9", "--scale", "0.5", "--threads", "2", "--seconds", "8", "--tag", "none"],
    "20 frames of 64 functions": [f"{B}/hosts/deep", "8", "2"],
}


def run(command, output=subprocess.PIPE):
    """Seconds of processor time and of the clock, the largest resident set in MiB, and what it printed."""
    begin = time.monotonic()
    p = subprocess.Popen(command, stdout=output, stderr=subprocess.PIPE)
    out, err = p.communicate() if output == subprocess.PIPE else (b"", p.stderr.read())
    _, status, usage = os.wait4(p.pid, 0) if p.returncode is None else (0, p.returncode, None)
    if status:
        sys.exit(f"stacks: {' '.join(command)}: status {status}\n{err.decode()[-2000:]}")
    seconds = time.monotonic() - begin
    return {"clock": seconds, "cpu": usage.ru_utime + usage.ru_stime if usage else 0,
            "mib": usage.ru_maxrss / 1024 if usage else 0, "out": (out or b"").decode()}


def walk(command):
    with open(os.devnull, "wb") as null:
        return run(command, null)


def perf_samples(path):
    out = run([PERF, "report", "-i", path, "--stdio", "--stats"])["out"]
    return sum(int(n) for n in re.findall(r"SAMPLE events:\s+(\d+)", out)[:1])


def perf_frames(path):
    """Frames of a stack in what perf prints: it does not get through generated code."""
    out = run([PERF, "script", "-i", path, "-F", "ip", "--no-inline"])["out"]
    return sum(bool(line.strip()) for line in out.splitlines()) / max(perf_samples(path), 1)


def main():
    if not PERF:
        sys.exit("stacks: perf is not installed (package linux-perf); there is nothing to compare with")
    subprocess.run(["tests/hosts/build.sh", B], check=True)
    with tempfile.TemporaryDirectory() as d:
        probe = f"{d}/probe.tlr"
        run([f"{B}/tailor", "run", "-q", "-o", probe, "--", "/bin/true"])
        event = json.loads(run([f"{B}/tailor", "report", "--json", probe])["out"])["events"][0]["name"]
        event = "task-clock" if "clock" in event else "cycles"
        period = "100000" if event == "task-clock" else "300000"
        print(f"\nwalking every stack; event {event}, period {period}, {STACK} bytes of stack; {ROUNDS} rounds, interleaved; medians")
        print(f"{'':28}{'stacks':>9}{'frames':>8}{'stacks/s':>10}{'by cpu':>10}{'walk only':>11}{'MiB':>7}")
        for name, host in HOSTS.items():
            trace, data = f"{d}/t.tlr", f"{d}/t.data"
            run([f"{B}/tailor", "run", "-q", "-e", event, "--period", period, "--stack", STACK, "-o", trace, "--"] + host)
            run([PERF, "record", "-q", "-e", event, "-c", period, f"--user-regs={REGISTERS}", "--call-graph", f"dwarf,{STACK}",
                 "-o", data, "--"] + host)
            summary = run([f"{B}/tailor", "unwind", trace])["out"]
            stacks, frames = re.search(r"(\d+) with stack bytes, \d+ frames, ([0-9.]+) per stack", summary).groups()
            took = {"tailor": [], "perf": []}
            alone = []
            for _ in range(ROUNDS):
                took["tailor"].append(walk([f"{B}/tailor", "unwind", "--frames", trace]))
                took["perf"].append(walk([PERF, "script", "-i", data, "-F", "ip", "--no-inline"]))
                alone.append(float(re.search(r"; (\d+) stacks/s", run([f"{B}/tailor", "unwind", trace])["out"])[1]))
            nr = {"tailor": int(stacks), "perf": perf_samples(data)}
            depth = {"tailor": float(frames), "perf": perf_frames(data)}
            rate = {}
            for who in took:
                clock = nr[who] / statistics.median(t["clock"] for t in took[who])
                cpu = nr[who] / max(statistics.median(t["cpu"] for t in took[who]), 1e-9)
                rate[who] = cpu
                line = f"{who + ', ' + name:28}{nr[who]:9}{depth[who]:8.1f}{clock:10.0f}{cpu:10.0f}"
                line += f"{statistics.median(alone):11.0f}" if who == "tailor" else f"{'':11}"
                print(line + f"{max(t['mib'] for t in took[who]):7.0f}")
            stacks_ratio = rate["tailor"] / rate["perf"]
            print(f"{'':28}tailor : perf = {stacks_ratio:.1f} : 1 stacks, {stacks_ratio * depth['tailor'] / depth['perf']:.1f} : 1"
                  " frames, by processor time\n")


main()
