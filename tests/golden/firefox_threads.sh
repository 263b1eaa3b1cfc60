#!/bin/bash
# SPDX-License-Identifier: MIT
# The export for the Firefox Profiler grows with the samples: twice as many threads make it twice as large, and it is at most three
# times as large as a line of text for each sample.
. tests/golden/begin.bash
timeout 600 /usr/bin/python3 - "$B/tailor" "$dir" <<'END'
import json, subprocess, sys
import trace_file as t

tailor, dir = sys.argv[1:]
EACH, DEPTH = 5, 20  # samples of a thread, frames of a sample


# Compilers that a make starts: each has its own part of a program in common.
def make(nr_threads):
    trace, pids, chains, marks = t.Trace(), [], [], b""
    for n in range(nr_threads):
        pid = 1000 + n
        trace.add(t.RECORDS, t.record("PROCESS", pid, 1, "/usr/bin/cc", "cc") +
                  b"".join(t.record("LOAD", pid, pid, pid, 0x10000 + 64 * i, 0x10000 + 64 * i, 64, i, f"compile_part_{i}", b"")
                           for i in range(2 * DEPTH)) +
                  t.record("MARK", pid, 1, 0, 0, n, 0, 0, "unit", f"unit {n}", 0, 0, 0, 0))
        for i in range(EACH):
            pids.append(pid)
            chains += [0x10000 + 64 * ((i * n + f) % (2 * DEPTH)) + 8 for f in range(DEPTH - 1)]
    nr = len(pids)
    trace.add(t.SAMPLES, t.samples(nr, [(1, 2, t.deltas(range(2000, 2000 + 1000 * nr, 1000))), (2, 2, t.deltas(pids)),
                                        (3, 2, t.deltas(pids)), (5, 3, t.leb(0x10008)), (7, 3, t.leb(100000)), (9, 3, t.leb(2)),
                                        (64 + 8, 3, t.leb(0x10008)), (12, 3, t.leb(DEPTH - 1)), (13, 2, t.deltas(chains))]))
    trace.write(f"{dir}/t.tlr")
    return subprocess.run([tailor, "export", "--format", "firefox", f"{dir}/t.tlr"], stdout=subprocess.PIPE, check=True).stdout


few, many = make(150), make(300)
j = json.loads(many)
own = 0
names, stacks = j["shared"]["stringArray"], j["shared"]["stackTable"]
for thread in j["threads"]:
    for stack in thread["samples"]["stack"]:
        own += 1  # its end of line
        while stack is not None:
            own += 1 + len(names[j["shared"]["funcTable"]["name"][j["shared"]["frameTable"]["func"][stacks["frame"][stack]]]])
            stack = stacks["prefix"][stack]
nr = sum(thread["samples"]["length"] for thread in j["threads"])
marks = sum(thread["markers"]["length"] for thread in j["threads"])
print(f"FIGURE export for the Firefox Profiler: {len(many) / own:.2f} times the text of {nr} samples of {len(j['threads'])} threads")
if nr != 300 * EACH or marks != 300 or own < nr * DEPTH * 10:
    sys.exit(f"expected {300 * EACH} samples of {DEPTH} frames and 300 marks, got {nr} samples, {marks} marks, {own} bytes of names")
if len(many) > 2.2 * len(few):
    sys.exit(f"150 threads: {len(few)} bytes; 300 threads: expected about twice as much, got {len(many)}")
if len(many) > 3 * own:
    sys.exit(f"expected at most three times the {own} bytes of the samples' own text, got {len(many)}")
END
