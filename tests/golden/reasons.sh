#!/bin/bash
# SPDX-License-Identifier: MIT
# Causes of missing samples, stacks, registers and names, each planted in a trace that is made for it: the report and its warnings name
# it, and none of the others.  One table: cause, what is planted, what the report says.
. tests/golden/begin.bash
/usr/bin/python3 - "$B/tailor" "$dir" <<'END'
import os, re, struct, subprocess, sys
import bombs, trace_file
from bombs import FRAMES, LEVELS, PID, PLAIN, PROCESS, STACKED, load
from trace_file import deltas, leb, record, samples

tailor, folder = sys.argv[1:]
CODE = 0x400000
KNOWN = PROCESS + load(1, CODE, 4096, "work")
HOST = PROCESS + record("MMAP", PID, CODE, 4096, 0, 5, "/bin/host", b"", 0, 0, 0)
FRAMED = KNOWN + record("EH_FRAME", PID, 0x500000, 0, FRAMES)
DICTIONARY = LEVELS + record("COMPONENT", PID, 1, 0, 1, "c", "")


def event(name="task-clock", unit="ns", config=1, period=0, rate=4000, user_only=0, registers=0, stack=0):
    return record("EVENT", 0, 0, name, unit, 1, config, period, rate, 0, user_only, registers, stack, "cpu", 0)


def counted(value, running=None, on_cpu=0, weight=0, nr=0):
    running = value if running is None else running
    return record("COUNT", 0, 0, 0, value, running, running, nr, 0, on_cpu, weight)


def lost(reason):
    return record("LOSS", PID, reason, 250, 0)


def refused(sentence, kind="refused"):
    return record("NOTICE", 0, kind, sentence)


# Of NR samples 1 ms apart.
def sampled(columns=PLAIN, nr=1000):
    return samples(nr, [(1, 2, deltas(range(2000, 2000 + nr * 10**6, 10**6)))] + columns[1:])


def stack(*words):
    return STACKED + [(10, 3, leb(8 * len(words))), (11, 0, struct.pack(f"<{len(words)}Q", *words) * 1000)]


def chain(nr):
    return STACKED + [(12, 3, leb(nr)), (13, 2, deltas([CODE + 0x20] * nr * 1000))]


NONE = dict(samples=None)
FAULTS = event("page-faults", "", 2, 11, 0)
R = "./cap: it has file capabilities, so the kernel ends its counters when it is executed; record it as root"
CAUSES = {
    # no samples
    "filter": (dict(options=["--from", "100000"]), "none of the 1000 recorded samples passes the filter"),
    "all lost": (dict(NONE, records=lost("ring full")), "No samples: all were lost"),
    "no end": (dict(NONE, end=None), "No samples: the trace has no end"),
    "counters refused": (dict(NONE, records=counted(43421) + refused("no samples of " + R), cpu_ns=32 * 10**8),
                         r"used 3.20 s of processor time, of which its counters ran for 43.4 us: ./cap: it has file capabilities"),
    "counters ended": (dict(NONE, records=counted(43421), cpu_ns=32 * 10**8), "its counters ran for 43.4 us: the reason is unknown"),
    "nothing ran": (dict(NONE, records=counted(0)), "the command used no processor time"),
    "short": (dict(NONE, event=event(), records=counted(100000), cpu_ns=900000),
              "used 100 us of processor time, and samples are 250 us apart"),
    "short, uncounted": (dict(NONE, event=event(), cpu_ns=900000), "used 900 us of processor time, and samples are 250 us apart"),
    "few events": (dict(NONE, event=FAULTS, records=counted(3, 10**9)), "page-faults was counted 3 times, and a sample is taken every 11"),
    "kernel only": (dict(NONE, event=event(user_only=1), records=counted(5 * 10**8)),
                    "none of the 500 ms of processor time that the command"),
    "undecodable": (dict(event=event(), block=samples(1000, [(1, 9, b"")])), "none of the 1 blocks of samples could be decoded"),
    "unknown, counted": (dict(NONE, records=counted(5 * 10**8)), "reason is unknown. Seen: .*counters ran for 500 ms"),
    "unknown, used": (dict(NONE, cpu_ns=5 * 10**8), "reason is unknown. Seen: .*the command used 500 ms"),
    "unknown": (dict(NONE), r"reason is unknown. Seen: the recording was 1.000 s long; no counter said"),
    # stacks
    "truncated": (dict(event=event(stack=16), records=FRAMED, samples=stack(CODE + 9, CODE + 9), options=["--view", "tree"]),
                  r"longer than 0.0156 KiB, which were recorded \(--stack 65528\)"),
    "truncated import": (dict(event=event(stack=16), records=FRAMED, samples=stack(CODE + 9, CODE + 9), options=["--view", "tree"],
                              way="import"), r"longer than 0.0156 KiB, which were recorded \(perf record --call-graph dwarf,65528\)"),
    "longest": (dict(event=event(stack=65528), records=FRAMED, block=bombs.of_one_stack(100, struct.pack("<Q", CODE + 9) * 8191),
                     options=["--view", "tree"]), r"longer than 64 KiB, which were recorded\)"),
    "whole": (dict(event=event(stack=1024), records=FRAMED, samples=stack(CODE + 9, CODE + 9), options=["--view", "tree"]), r"\[broken\]"),
    "undescribed": (dict(event=event(stack=16), records=HOST,
                         samples=stack(1, 2), options=["--view", "tree"]), "end at code without unwind information"),
    "no stack": (dict(event=event(), records=FRAMED, samples=STACKED, options=["--view", "tree"]),
                 r"no stack was recorded \(--stack 65528\)"),
    "stack not given": (dict(event=event(stack=1024), records=FRAMED, samples=STACKED, options=["--view", "tree"]),
                        "no stack was recorded, though it was asked for"),
    "chain cut": (dict(event=event(), records=FRAMED, samples=chain(126), options=["--view", "tree"]), "longer than the 127 addresses"),
    "chain that ends": (dict(event=event(), records=FRAMED, samples=chain(125), options=["--view", "tree"]), None),
    "registers not recorded": (dict(records=HOST + DICTIONARY), "no user registers were recorded"),
    "registers not given": (dict(event=event(registers=128), records=HOST + DICTIONARY), "the kernel gave no user registers"),
    "host": (dict(event=event(stack=16), records=HOST + record("EH_FRAME", PID, 0x500000, 0, FRAMES) + DICTIONARY, samples=stack(0, 0)),
             "code of the host that no component called"),
    # names
    "names of others": (dict(records=PROCESS + record("REGION", PID, CODE, 4096, "", 0) +
                             refused("names of generated code not read: /tmp/perf-7.map belongs to user 65534, and process 7 to user 0")),
                        r"did not name. /tmp/perf-7.map belongs to user 65534"),
    "no names": (dict(records=PROCESS + record("REGION", PID, CODE, 4096, "", 0)), r"did not name. Enable its perf map"),
    # numbers
    "multiplexed": (dict(records=KNOWN + counted(10**9, 5 * 10**8, 10**9, nr=1000)), "Multiplexed: the event ran 50 % of the time"),
    "covered": (dict(records=KNOWN + counted(2000, weight=1000, nr=1000)), "Covered: samples stand for 50 %"),
    "few samples": (dict(records=KNOWN, nr=9), "Few samples"),
    "fallback": (dict(records=KNOWN + refused("cycles unavailable (no PMU); using task-clock", "fallback")), "Event: cycles unavailable"),
    "disk full": (dict(records=KNOWN + lost("trace write failed") + refused("writing the trace failed: " + os.strerror(28), "loss")),
                  r"Lost: 250 samples \(20.0 %\), trace write failed. Write the trace to a disk with more room"),
    "file too large": (dict(records=KNOWN + lost("trace write failed") + refused("writing the trace failed: " + os.strerror(27), "loss")),
                       "writing the trace failed: File too large"),
    "damaged": (dict(records=KNOWN, damage=True), "damaged"),
    "nothing": (dict(records=KNOWN), None),
}
for _, reason, of, sentence in re.findall(r'X\(([A-Z_]+), "([^"]+)", (SAMPLES|REGISTRATIONS|OTHER),\s*\\?\s*"([^"]+)"\)',
                                          open("jitreg/trace/trace.h").read()):
    CAUSES["loss: " + reason] = (dict(records=KNOWN + lost(reason)),
                                 re.escape(sentence) + "|" + r"Lost: 250 samples \(20.0 %\), " + re.escape(reason))
# What is true of a trace beside its cause: what lost samples were lost by.
BESIDE = {"all lost": {"loss: ring full"}, "disk full": {"loss: trace write failed"}, "file too large": {"loss: trace write failed"}}


def plant(event=event(period=100000, rate=0), records=KNOWN, samples=PLAIN, nr=1000, block=None, end=10**9, cpu_ns=0, way="run",
          damage=False, options=()):
    head = record("HEADER", 0, 2, "test", 0, "host", "x86_64", "6.1", 1, "/", [["host"]], way, 0)
    trace = trace_file.Trace(head + event)
    trace.add(trace_file.RECORDS, records)
    if block or samples:
        trace.add(trace_file.SAMPLES, block or sampled(samples, nr))
    if damage:
        trace.add(trace_file.RECORDS, records)
        trace.parts[-1] = trace.parts[-1][:-4] + b"\0\0\0\0"
    if end:
        trace.add(trace_file.END, record("END", 0, 0, 0, 0, 0, cpu_ns, time_ns=end))
    path = f"{folder}/t.tlr"
    with open(path, "wb") as f:
        f.write(b"".join(trace.parts))
    filters = [o for o in options if "view" not in o and o != "tree"]
    p = [subprocess.run([tailor, "report", *o, path], stdout=subprocess.PIPE, stderr=subprocess.STDOUT).stdout.decode()
         for o in (filters, ["--view", "warnings", *options])]
    return re.sub(r"\s+", " ", " ".join(p))


bad = 0
for cause, (how, expected) in CAUSES.items():
    said = plant(**how)
    if expected and not re.search(expected, said):
        bad = 1
        print(f"{cause}: expected '{expected}', got: {said[:1200]}")
    for other, (_, sentence) in CAUSES.items():
        if other != cause and sentence and sentence != expected and other not in BESIDE.get(cause, ()) and re.search(sentence, said):
            bad = 1
            print(f"{cause}: expected no word of '{other}' ({sentence}), got: {said[:1200]}")
print(f"        {len(CAUSES)} causes planted")
sys.exit(bad)
END
