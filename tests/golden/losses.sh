#!/bin/bash
# SPDX-License-Identifier: MIT
# Whatever lost them, lost samples are one number: a trace is made for each reason in LOSS_REASONS, and the report as text and JSON, the
# views, the page and the verdict have its count where the reason is of samples, and none where it is of something else.
. tests/golden/begin.bash
/usr/bin/python3 - "$B/tailor" "$dir" <<'END'
import json, re, subprocess, sys
import bombs, trace_file

tailor, folder = sys.argv[1:]
LOST, RECORDED = 250, 1000
reasons = re.findall(r'X\(([A-Z_]+), "([^"]+)", (SAMPLES|REGISTRATIONS|OTHER), ', open("jitreg/trace/trace.h").read())
assert len(reasons) >= 15 and {c for _, _, c in reasons} == {"SAMPLES", "REGISTRATIONS", "OTHER"}, reasons
bad = 0


def output(*words):
    return subprocess.run([tailor, *words], stdout=subprocess.PIPE, check=True).stdout.decode()


for _, reason, of in reasons:
    trace = trace_file.Trace()
    trace.add(trace_file.RECORDS, bombs.PROCESS + trace_file.record("LOSS", bombs.PID, reason, LOST - 50, 0) +
              trace_file.record("LOSS", bombs.PID, reason, 50, 0))
    trace.add(trace_file.SAMPLES, trace_file.samples(RECORDED, bombs.PLAIN))
    path = f"{folder}/t.tlr"
    trace.write(path)
    text, page = output("report", path), f"{folder}/t.html"
    report, view = json.loads(output("report", "--json", path)), json.loads(output("report", "--view", "processes", "--json", path))
    output("html", path, "-o", page)
    facts = open(page).read()
    lost = LOST if of == "SAMPLES" else 0
    by_reason = {x["reason"]: x["count"] for x in report["losses"]}
    if by_reason != {reason: LOST}:
        bad = 1
        print(f"{reason}: expected {LOST} in the JSON's losses, got {by_reason}")
    had = {"JSON": report["samples"]["lost"], "view": view["lost"], "text": int(re.search(r"(\d+)\s+lost", text).group(1)),
           "verdict": int((re.search(r"Lost: (\d+) samples \(20.0 %\), " + reason, text) or [0, 0])[1]),
           "page": int(re.search(r"samples in [0-9.]+ s, (\d+) lost", facts).group(1))}
    for where, n in had.items():
        if n != lost:
            bad = 1
            print(f"{reason}, of {of.lower()}: the {where} has {n}, not {lost}")
# Tasks without a sample are missing time only if a clock is sampled.
for name, kind, config, missing in (("task-clock", 1, 1, "time"), ("page-faults", 1, 2, "page-faults"), ("planted", 0, 0, "planted")):
    trace = trace_file.Trace(trace_file.record("HEADER", 0, 2, "test", 0, "host", "x86_64", "6.1", 1, "/", [["host"]]) +
                             trace_file.record("EVENT", 0, 0, name, "x", kind, config, 1000, 0, 0, 0, 0, 0, "cpu", 500))
    trace.add(trace_file.RECORDS, bombs.PROCESS + b"".join(
        trace_file.record("FORK", bombs.PID + 1 + n, bombs.PID, bombs.PID, time_ns=2000 + n) +
        trace_file.record("COMM", bombs.PID + 1 + n, 1, "short", time_ns=2100 + n) for n in range(20)))
    trace.add(trace_file.SAMPLES, trace_file.samples(RECORDED, bombs.PLAIN))
    trace.write(f"{folder}/t.tlr")
    text = " ".join(output("report", "--view", "processes", f"{folder}/t.tlr").split())
    if f"short: 20 of its 20 tasks have no sample" not in text or f"% of its {missing} is missing from its share" not in text:
        bad = 1
        print(f"{name}: expected that some of the {missing} of short tasks is missing, got: {text[-400:]}")
sys.exit(bad)
END
