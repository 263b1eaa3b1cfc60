#!/bin/bash
# SPDX-License-Identifier: MIT
# Weights of a program that moves between processors are those of its own clock: processors' shares within a point, under
# `tailor run` in both scopes and attached to; and no report says that counters were multiplexed where they were not.
# Long: until shares are decided.
. tests/live/begin.bash
# The host's clock has the kernel's time as well, which is not in the same proportion on both.
[ "$(plain_event)" = task-clock ] || skip "the kernel's part of the host's time may not be sampled by this user"
cat >"$dir/test.py" <<'END'
import csv, io, json, os, subprocess, sys
sys.path.insert(0, "tests")
from evidence import NEARLY, allowed_rate, decide, gather, skip

B, DIR = sys.argv[1:]
TRACE, HOST = f"{DIR}/t.tlr", f"{B}/hosts/migrates"
WANTED = 5000  # samples a block: at 10 % of them a share's standard deviation is 0.42 points, and less at even times
CPU = dict(zip(("on_first", "on_second"), sorted(os.sched_getaffinity(0))))
RATE = str(allowed_rate(10000))
length = 1
bad = 0

def tailor(*arguments):
    return subprocess.run([f"{B}/tailor", *arguments], capture_output=True, text=True, check=True).stdout

def by_processor():
    """Of the host: samples, and weight by processor (a kernel's sample is one of the function there that it interrupts)."""
    nr, weight = 0, {}
    for r in csv.DictReader(io.StringIO(tailor("export", "--format", "csv", TRACE))):
        nr += 1
        weight[int(r["cpu"])] = weight.get(int(r["cpu"]), 0) + float(r["weight"]) * float(r["share"])
        if r["function"] in CPU and int(r["cpu"]) != CPU[r["function"]]:
            sys.exit(f"a sample of {r['function']} on processor {r['cpu']}")
    return nr, weight

def part_without_samples():
    """Of what the counters counted: where interrupts come late (others have the processor), or are throttled, samples are missing, and
    not on both processors alike.  Counters of a processor say how many; those of a thread do not say where."""
    counted = had = 0
    for line in tailor("dump", "--json", "--samples", TRACE).splitlines():
        r = json.loads(line)
        if "sample" in r:
            had += r["weight"]
        elif r["record"] == "COUNT":
            counted += r["fields"]["value"]
    return 1 - had / counted

def record(how, turns, share):
    """-> (share of the first processor by weights, by the host's clock), in per cent; None: too few samples"""
    command = [HOST, str(length), str(turns), str(share)]
    if how == "attach":
        host = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        subprocess.run([f"{B}/tailor", "attach", "-q", "-r", RATE, "-o", TRACE, str(host.pid)], stderr=subprocess.DEVNULL, check=True)
        out, status = host.communicate()[0], host.returncode
    else:
        p = subprocess.run([f"{B}/tailor", "run", "-q", "-r", RATE, "--scope", how, "-o", TRACE, "--", *command],
                           stdout=subprocess.PIPE, text=True)
        out, status = p.stdout, p.returncode
    if status:
        sys.exit(f"{how}: {' '.join(command)}: expected exit status 0, got {status}")
    clock = [int(n) for n in out.split()]
    nr, weight = by_processor()
    if nr < WANTED or (how == "thread" and part_without_samples() > 0.005):
        return None
    return 100 * weight.get(CPU["on_first"], 0) / sum(weight.values()), 100 * clock[0] / sum(clock)

def enough(seconds):
    global length
    length = seconds
    subprocess.run([f"{B}/tailor", "run", "-q", "-r", RATE, "-o", TRACE, "--", HOST, str(seconds), "20", "0.1"], stdout=subprocess.DEVNULL)
    return by_processor()[0]

if len(CPU) < 2:
    skip("there are no two processors here")
gather(2 * WANTED, enough)  # of an attached one, a part is missing
for how in "cpu", "thread", "attach":
    for turns, share in (20, 0.1), (1, 0.1):
        seen = []
        def block(_):
            # If weights are right, the difference is noise, below half a point, and what has no samples, as much; if each processor's
            # samples stand for the time on all of them, the first has 36 % or more, in nine of ten blocks.
            pair = record(how, turns, share)
            if pair is None:
                return None
            seen.append(pair)
            return abs(pair[0] - pair[1]) <= 1
        # of an attached one the clock has a beginning that the recording has not
        if how == "attach" and turns == 1:
            continue
        holds = decide(f"{how}, {share:.0%} on one processor in {turns} turns: the share is that of the host's clock within a point",
                       block, **NEARLY)
        bad |= not holds
        print(f"FIGURE {how}, {turns} turns: " + ", ".join(f"{a:.2f} % (clock {b:.2f})" for a, b in seen[:3]))
        for view in [], ["--view", "functions"]:
            text = " ".join(tailor("report", *view, TRACE).split())
            if "multiplexed" in text and json.loads(tailor("report", "--json", TRACE))["events"][0]["name"] == "task-clock":
                print(f"{how}: tailor report {' '.join(view)} says 'multiplexed', and there is only a clock: {text[:300]}")
                bad = 1
sys.exit(bad)
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir"
finish
