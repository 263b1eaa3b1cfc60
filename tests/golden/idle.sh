#!/bin/bash
# SPDX-License-Identifier: MIT
# In a recording of a whole machine, what processors do while they have nothing to run is no program's: shares are of the rest, in the
# report, its views, top, the exports and the store, and a sentence says how much it was.  Seen from another PID namespace PID 0 are
# programs, whose samples stay.
. tests/golden/begin.bash
/usr/bin/python3 - "$B/tailor" "$dir" <<'END'
import csv, io, json, subprocess, sys
import trace_file
from trace_file import RECORDS, record

tailor, folder = sys.argv[1:]
IDLE, BUSY = 3000, 1000
bad = 0

def output(*words):
    return subprocess.run([tailor, *words], stdout=subprocess.PIPE, check=True).stdout.decode()

def expect(what, expected, got):
    global bad
    if got != expected:
        bad = 1
        print(f"{what}: expected {expected}, got {got}")

def make(name, *processes, unsampled=0, begin=trace_file.HEADER):
    trace = trace_file.Trace(begin)
    ns = 10**6 * (IDLE + BUSY)
    trace.add(RECORDS, record("COUNT", 0, 0, 0, ns, ns, ns, IDLE + BUSY, 0, 0, ns, 10**6 * unsampled))
    trace.add(RECORDS, b"".join(record("PROCESS", pid, 0, executable, comm) for pid, executable, comm in processes))
    trace.add_ips([0x400000] * IDLE, 10**6, pid=0)
    trace.add_ips([0x400000 + 16 * (i % 2) for i in range(BUSY)], 10**6, pid=1000)
    trace.write(f"{folder}/{name}")
    return f"{folder}/{name}"

machine = make("machine.tlr", (2, "", "kthreadd"), (1000, "/bin/busy", "busy"))
inside = make("inside.tlr", (1000, "/bin/busy", "busy"))
SENTENCE = "idle: processors had nothing to run for 75.0 % of the time; shares are of the other 25.0 %"
for trace, samples, shares in (machine, BUSY, [1]), (inside, IDLE + BUSY, [0.75, 0.25]):
    report = json.loads(output("report", "--json", trace))
    expect(f"{trace}: samples", samples, report["samples"]["total"])
    expect(f"{trace}: idle", 0.75 if trace == machine else None, report.get("idle"))
    expect(f"{trace}: text", trace == machine, SENTENCE in " ".join(output("report", "--view", "warnings", trace).split()))
    for view in [], ["--view", "processes"]:
        text = output("report", *view, trace)
        expect(f"{trace}: head", [trace == machine, False], [f"; {BUSY} without idle processors" in text, "pass the filter" in text])
    rows = json.loads(output("report", "--view", "processes", "--json", trace))["tables"]["processes"]
    expect(f"{trace}: processes", shares, [r["share"] for r in rows])
    rows = list(csv.DictReader(io.StringIO(output("export", "--format", "csv", trace))))
    expect(f"{trace}: export", samples, round(sum(float(r["share"]) for r in rows)))
    store = f"{trace}s"
    output("db", "add", store, trace)
    stored = json.loads(output("db", "report", store, "--view", "processes", "--json"))["tables"]["processes"]
    expect(f"{trace}: store", shares, [r["share"] for r in stored])
    top = json.loads(output("top", "--json", trace).splitlines()[-1])
    expect(f"{trace}: top", samples, top["samples"])
expect("filtered: head", True, " pass the filter" in output("report", "--view", "lines", "--to", "3.5005", machine))
# A processor that is halted counts no cycles, so their share is none of the time.
COUNTED = (record("HEADER", 0, 2, "test", 0, "host", "x86_64", "6.1", 1, "/", [["host"]]) +
           record("EVENT", 0, 0, "planted-cycles", "cycles", 0, 0, 100000, 0, 0, 0, 0, 0, "cpu", 0))
counted = make("counted.tlr", (2, "", "kthreadd"), (1000, "/bin/busy", "busy"), begin=COUNTED)
text = " ".join(output("report", "--view", "warnings", counted).split())
expect("cycles: text", [True, False],
       ["idle: 75.0 % of planted-cycles is of processors that had nothing to run" in text, "% of the time" in text])
# what of it the kernel took no samples of
half = make("half.tlr", (2, "", "kthreadd"), (1000, "/bin/busy", "busy"), unsampled=IDLE + BUSY)
report = json.loads(output("report", "--json", half))
expect("half: idle", [0.875, 1], [report.get("idle"), report["events"][0]["sampled"]])
expect("half: of its event", 0.875, json.loads(output("report", "--json", "--event", report["events"][0]["name"], half)).get("idle"))
expect("half: of a part of the time", 0.75, json.loads(output("report", "--json", "--to", "1000", half)).get("idle"))
sys.exit(bad)
END
