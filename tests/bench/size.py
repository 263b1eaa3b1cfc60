#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a sample costs on disk, and what writing it costs: size.py BUILD [REPEAT]

The engine's query q3 with two threads, for each content that samples can have, beside `perf record` with the same event, period
and content:
  in samples   bytes of the trace's sample chunks, per sample
  file         bytes of the whole file, per sample.  A trace also holds the symbols, lines and unwind tables of the images that
               were hit, whatever the number of samples; perf leaves those in their files.
  ns/sample    processor time of the recorder (perf) itself, between a short and a long run: what starts and ends a recording
               is the same in both.  Of a core: at 2 x 10,000 samples a second.
Nothing here fails a check.
"""
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

B = os.path.abspath(sys.argv[1])
REPEAT = int(sys.argv[2]) if len(sys.argv) > 2 else 100
PERF = shutil.which("perf")
ALL = "ax,bx,cx,dx,si,di,bp,sp,ip,flags,r8,r9,r10,r11,r12,r13,r14,r15"
CONTENTS = {
    "tag register": (["--stack", "0"], ["--user-regs=ip,r13"]),
    "all registers": (["--stack", "0", "--registers", "all"], [f"--user-regs={ALL}"]),
    "2 KiB stacks": (["--stack", "2048"], ["--call-graph", "dwarf,2048"]),
    "8 KiB stacks": (["--stack", "8192"], ["--call-graph", "dwarf,8192"]),
}


def recorded(command):
    """Run; the processor seconds of the process itself, which has one thread, without those of the host that it starts."""
    p = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    os.waitid(os.P_PID, p.pid, os.WEXITED | os.WNOWAIT)
    with open(f"/proc/{p.pid}/schedstat") as f:
        seconds = int(f.read().split()[0]) / 1e9
    errors = p.stderr.read()
    if p.wait() != 0:
        sys.exit(f"size: {' '.join(command)}: exit {p.returncode}\n{errors.decode()[-2000:]}")
    return seconds


def nr_samples(path):
    if path.endswith(".tlr"):
        out = subprocess.run([f"{B}/tailor", "dump", "--json", path], capture_output=True, text=True, check=True).stdout
        return next(json.loads(line)["fields"]["samples"] for line in reversed(out.splitlines()) if '"record": "END"' in line)
    out = subprocess.run([PERF, "report", "-i", path, "--stdio", "--stats"], capture_output=True, text=True).stdout
    return sum(int(n) for n in re.findall(r"SAMPLE events:\s+(\d+)", out)[:1])


def sample_bytes(path):
    with open(path, "rb") as f:
        data, at, total = f.read(), 0, 0
    while at + 32 <= len(data):
        kind, stored = struct.unpack_from("<4xHxxI", data, at)
        total += 32 + stored if kind == 2 else 0
        at += 32 + stored
    return total


def measure(command, path):
    """A short and a long run of the host; (samples, bytes in samples, bytes of the file, seconds a sample)."""
    of = []
    for repeat in (max(1, REPEAT // 6), REPEAT):
        host = [f"{B}/engine", "--query", "q3", "--scale", "1", "--threads", "2", "--repeat", str(repeat)]
        seconds = recorded(command + ["-o", path, "--"] + host)
        of.append((nr_samples(path), seconds))
    samples = of[1][0]
    per_sample = (of[1][1] - of[0][1]) / max(1, samples - of[0][0])
    return samples, sample_bytes(path) if path.endswith(".tlr") else 0, os.path.getsize(path), per_sample


def line(name, samples, in_samples, in_file, seconds):
    print(f"{name:24}{samples:10}{in_samples / samples if in_samples else float('nan'):12.1f}{in_file / samples:10.1f}"
          f"{seconds * 1e9:11.0f}{seconds * 20000:11.2%}")


def main():
    with tempfile.TemporaryDirectory() as d:
        probe = f"{d}/probe.tlr"
        recorded([f"{B}/tailor", "run", "-q", "-o", probe, "--", "/bin/true"])
        out = subprocess.run([f"{B}/tailor", "dump", "--json", probe], capture_output=True, text=True, check=True).stdout
        event = next(o["fields"] for o in map(json.loads, out.splitlines()) if o.get("record") == "EVENT")
        name, period = ("task-clock" if "clock" in event["name"] else "cycles"), event["period"] or 400000
        print(f"host: engine q3, scale 1, 2 threads, {REPEAT} runs; event {name}, period {period}")
        print(f"{'':24}{'samples':>10}{'in samples':>12}{'file':>10}{'ns/sample':>11}{'of a core':>11}")
        for content, (ours, theirs) in CONTENTS.items():
            line(f"tailor, {content}", *measure([f"{B}/tailor", "run", "-q", "-e", name, "--period", str(period)] + ours,
                                                 f"{d}/t.tlr"))
            if PERF:
                line(f"perf, {content}", *measure([PERF, "record", "-q", "-e", name, "-c", str(period)] + theirs, f"{d}/p.data"))


main()
