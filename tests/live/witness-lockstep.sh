#!/bin/bash
# SPDX-License-Identifier: MIT
# A program whose loop is as long as the sampling period, or a few times as long, gets shares within 2 points of its own count, of every
# event that this machine has: in main threads, in all threads with --scope thread, and by signals.  What is left in the default scope,
# where counters that threads and processes inherit keep the period that they were born with, is measured and shown (LONG=1, as more events
# and loops).
# Long: until shares are decided.
. tests/live/begin.bash
cat >"$dir/test.py" <<'PYTHON'
import collections, csv, io, itertools, os, subprocess, sys
sys.path.insert(0, "tests")
from evidence import allowed_rate, decide

B, DIR = sys.argv[1:]
TRACE, HOST = f"{DIR}/t.tlr", f"{B}/hosts/lockstep"
WANTED = 4000  # samples a block, of the two parts
# A clock's period: half as often as the kernel allows, which stops one for a tick that rings too often in the tick before.
CLOCK_PERIOD = max(200000, 2 * 10**9 // allowed_rate(10000))
EVENTS = [("task-clock", 1, 1, CLOCK_PERIOD), ("cycles", 0, 0, 500000), ("instructions", 0, 1, 500000)]
PROGRAMS = [(1, 0.3)]  # periods that the loop is long, share of its first part
CASES = [("cpu", "main"), ("thread", "thread"), ("signal", "main")]
HOW = {"cpu": ["--scope", "cpu"], "thread": ["--scope", "thread"], "signal": ["--sampler", "signal"]}
INHERITED = []
if os.environ.get("LONG"): # make check-long
    EVENTS.insert(1, ("cpu-clock", 1, 0, CLOCK_PERIOD))
    PROGRAMS = [(periods, share) for periods in (0.5, 1, 1.5, 2, 3) for share in (0.1, 0.3, 0.5, 0.7)]
    CASES.append(("thread", "main"))
    INHERITED = ["thread", "process"]
cycles = collections.defaultdict(lambda: 16000)

def record(event, scope, where, times=1, share=0.3):
    """-> (share of the first part by samples, by the program's own count, samples of both, different periods); None: there is no
    such counter here."""
    name, kind, config, period = event
    command = [HOST, str(kind), str(config), str(int(period * times)), str(share), str(int(cycles[name, times] / times)), where]
    p = subprocess.run([f"{B}/tailor", "run", "-q", *HOW[scope], "--stack", "0", "-e", f"{name}:u@{period}", "-o", TRACE,
                        "--", *command], capture_output=True, text=True)
    if p.returncode == 77 or "cannot sample" in p.stderr:
        return None
    if p.returncode:
        sys.exit(f"{' '.join(p.args)}: expected exit status 0, got {p.returncode}: {p.stderr}")
    counted = [int(n) for n in p.stdout.split()]
    export = subprocess.run([f"{B}/tailor", "export", "--format", "csv", TRACE], capture_output=True, text=True, check=True).stdout
    weight, samples, periods = collections.Counter(), 0, set()
    for r in csv.DictReader(io.StringIO(export)):
        if r["function"] in ("first_part", "second_part"):
            weight[r["function"]] += float(r["weight"]) * float(r["share"])
            samples += 1
            periods.add(r["weight"])
    if samples < WANTED:
        cycles[name, times] *= 2
    return 100 * weight["first_part"] / max(1, sum(weight.values())), 100 * counted[0] / sum(counted), samples, len(periods)

bad = False
for event in EVENTS:
    if record(event, "cpu", "main") is None:
        print(f"no {event[0]} here")
        continue
    for (scope, where), (times, share) in itertools.product(CASES, PROGRAMS):
        seen = []
        def block(_):
            # If periods vary, hundreds of them go through the loop, each from another place on: the share's standard deviation is below
            # a point.  If they do not, the samples of a second or two stand in the same few places of the loop, whichever these are:
            # shares of 20 and of 43 % were seen instead of 30.
            said = record(event, scope, where, times, share)
            if said[2] < WANTED:
                return None
            seen.append(said)
            return abs(said[0] - said[1]) <= 2
        claim = f"{event[0]}, {' '.join(HOW[scope])}, {where} thread, a loop of {times} periods"
        bad |= not decide(f"{claim}, {share:.0%} of it one part: shares within 2 points", block)
        print(f"FIGURE {claim}: " + ", ".join(f"{a:.1f} % ({b:.1f} counted, {p} periods)" for a, b, _, p in seen[:3]))
    for where in INHERITED:
        seen = [record(event, "cpu", where) for _ in range(3)]
        print(f"FIGURE {event[0]}, --scope cpu, a new {where}: " +
              ", ".join(f"{a:.1f} % ({b:.1f} counted, {p} periods)" for a, b, _, p in seen))

# Programs that run for far less than a period are named: here ten of them, beside one that runs for longer.
script = "for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; exec " + f"{HOST} 1 1 1000000 0.3 2500 main"
subprocess.run([f"{B}/tailor", "run", "-q", "-e", "task-clock:u@1000000000", "-o", TRACE, "--", "sh", "-c", script],
               stdout=subprocess.DEVNULL, check=True)
view = " ".join(subprocess.run([f"{B}/tailor", "report", "--view", "processes", TRACE], capture_output=True, text=True).stdout.split())
if "true: 10 of its 10 tasks have no sample" not in view:
    print(f"report --view processes: expected that all tasks of 'true' have no sample, got: {view}")
    bad = True
sys.exit(bad)
PYTHON
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir"
finish
