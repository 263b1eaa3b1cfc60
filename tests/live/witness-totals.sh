#!/bin/bash
# SPDX-License-Identifier: MIT
# Totals are those of `perf stat` on the same process at the same time: of one event, of five (LONG=1: of three, too), and of eight that
# take turns.
. tests/live/begin.bash
command -v perf >/dev/null || skip "there is no perf to compare with"
# The kernel's clocks count its own time in any case, also where user code alone is sampled.
[ "$(plain_event)" = task-clock ] || skip "the kernel's part of the time may not be sampled by this user"
cat >"$dir/test.py" <<'END'
import csv, io, json, os, re, subprocess, sys
sys.path.insert(0, "tests")
from evidence import decide, skip

B, DIR = sys.argv[1:]
TRACE, COUNTS = f"{DIR}/t.tlr", f"{DIR}/counts"
SOFTWARE = ["task-clock", "page-faults", "cpu-clock", "minor-faults", "context-switches"]
SWITCHES = "context-switches"  # a sample each, which weighs how long the thread was away; where it was preempted, an event of its own
HARDWARE = ["cycles", "instructions", "branches", "branch-misses", "cache-references", "cache-misses", "bus-cycles", "ref-cycles"]
HOST = [f"{B}/engine", "--query", "q3", "--scale", "0.2", "--threads", "2", "--repeat", "30"]
ENOUGH = 300  # samples: at a rate the last period, which is not counted to its end, is below a third of a per cent
bad = 0

def counted_by_perf(names):
    return subprocess.run(["perf", "stat", "-x,", "-o", COUNTS, "-e", ",".join(names), *HOST], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0

def of_perf():
    """Event -> total; clocks are in ms there.  Empty where perf could not count one, or not all the time."""
    totals = {}
    for row in csv.reader(l for l in open(COUNTS) if l.strip() and not l.startswith("#")):
        if not row[0].replace(".", "").isdigit():
            return {}
        totals[row[2].split(":")[0]] = float(row[0]) * (1e6 if row[1] == "msec" else 1)
    return totals

def of_tailor(names):
    """Event -> (samples, total of their weights) of the process that became the engine; of switches, their number"""
    report = json.loads(subprocess.run([f"{B}/tailor", "report", "--json", TRACE], capture_output=True, check=True).stdout)
    engine = {p["pid"] for p in report["processes"] if p["executable"].endswith("/engine")}
    if len(engine) != 1:
        sys.exit(f"expected one process of the engine, got {report['processes']}")
    sums = {name: [0, 0] for name in names}
    for event in (e["name"] for e in report["events"] if e["name"] != "run queue"): # a part of the switches' time
        name = SWITCHES if event == "preempted" else event
        command = [f"{B}/tailor", "export", "--format", "csv", "--event", event, TRACE]
        table = subprocess.run(command, capture_output=True, check=True).stdout
        for r in csv.DictReader(io.StringIO(table.decode())):
            if int(r["pid"]) in engine:
                sums[name][0] += float(r["share"])
                sums[name][1] += (1 if name == SWITCHES else float(r["weight"])) * float(r["share"])
    return sums

def counts(names, field="value"):
    """Event -> the sum of its counters' own values, as the trace has them; of "lost", the samples that found their ring full"""
    dump = subprocess.run([f"{B}/tailor", "dump", TRACE], capture_output=True, check=True, text=True).stdout
    values = dict.fromkeys(names, 0)
    for event, value in re.findall(rf" COUNT event=(\w+) .*?\b{field}=(\w+)", dump):
        if int(event, 0) < len(names):
            values[names[int(event, 0)]] += int(value, 0)
    return values

def witnesses(names, name, theirs):
    """perf's total.  A processor's clock goes on while the kernel switches the counters beside it: where threads are preempted all the
    time, ours counts up to a twentieth more than perf's, whose counters are fewer.  So it is also held against perf's task-clock times
    the ratio of our two counters."""
    counted = counts(names) if name == "cpu-clock" else {}
    return [theirs[name]] + ([theirs["task-clock"] * counted[name] / counted["task-clock"]] if counted.get("task-clock") else [])

def within(names, part):
    """A block: one recording of perf, which counts the engine.  Perf counts from exec on, and tailor what the process did before, too: far
    below a hundredth."""
    def block(_):
        p = subprocess.run([f"{B}/tailor", "run", "-q", "-e", ",".join(names), "-o", TRACE, "--", "perf", "stat", "-x,", "-o", COUNTS,
                            "-e", ",".join(names), *HOST], capture_output=True, text=True)
        if p.returncode:
            sys.exit(f"{names}: expected exit status 0, got {p.returncode}: {p.stderr}")
        theirs = of_perf()
        ours = of_tailor(names)
        if SWITCHES in ours:  # the next sample of another event stands for a lost one, but each switch only for itself
            ours[SWITCHES][1] += counts(names, "lost")[SWITCHES]
        right = True
        for name in names:
            if ours[name][0] < ENOUGH or not theirs.get(name):
                continue
            off = min((ours[name][1] / total - 1 for total in witnesses(names, name, theirs)), key=abs)
            seen.setdefault(name, []).append(100 * off)
            right &= abs(off) <= part
        return right
    seen = {}
    holds = decide(f"{len(names)} events: totals are perf's within {part:.0%}", block)
    print(f"FIGURE {len(names)} events: " + ", ".join(f"{n} {', '.join(f'{x:+.2f} %' for x in v[:3])}" for n, v in seen.items()))
    return holds

for nr in (1, 3, 5) if os.environ.get("LONG") else (1, 5):
    bad |= not within(SOFTWARE[:nr], 0.02)
if counted_by_perf(["cycles"]) and of_perf():
    for names, part in (HARDWARE[:1], 0.02), (HARDWARE[:3], 0.02), (HARDWARE[:5], 0.02), (HARDWARE, 0.05):
        if counted_by_perf(names) and of_perf():
            bad |= not within(names, part)
else:
    print("no hardware counters: 8 that take turns were not tried")
sys.exit(bad)
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir"
finish
