#!/bin/bash
# SPDX-License-Identifier: MIT
# A clock of a processor counts while that has nothing to run, and some kernels take no samples then (as guests: of all processors but the
# first).  Programs' samples do not stand for that time: each has what it says itself, on whichever processor it runs half of the time.
. tests/live/begin.bash
[ "$(id -u)" = 0 ] || skip "the whole machine is recorded by root only"
cat >"$dir/test.py" <<'END'
import glob, json, os, signal, subprocess, sys, time
B, DIR = sys.argv[1:]
PATIENCE_S, LEAST, ROUNDS, HOST_S = 300, 300, 5, 3
# works and sleeps in turn, on one processor
HOST = """import os, sys, time
os.sched_setaffinity(0, {int(sys.argv[1])})
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end:
    until = time.process_time() + 0.01
    while time.process_time() < until: pass
    time.sleep(0.01)
print(time.process_time())"""

def one_round(n):
    """of a host on each of the two processors: what it says that it used, its weight, and its samples; nothing where this machine was too
    busy to write the trace's end in the seconds that a recorder has for it after a signal"""
    store = f"{DIR}/{n}.tlrs"
    watch = subprocess.Popen([f"{B}/tailor", "watch", "--all", "-e", "task-clock", "--epochs", "10m", "-q", "--store", store])
    begin = time.monotonic()
    while not glob.glob(f"{store}.epochs/*.tlr") and time.monotonic() - begin < PATIENCE_S and watch.poll() is None:
        time.sleep(0.05)
    cpus = sorted(os.sched_getaffinity(0))
    hosts = [subprocess.Popen([sys.executable, "-c", HOST, str(cpu), str(HOST_S)], stdout=subprocess.PIPE, text=True) for cpu in
             (cpus[0], cpus[-1])]
    used = [float(h.communicate()[0]) for h in hosts]
    watch.send_signal(signal.SIGINT)
    watch.wait(PATIENCE_S)
    rows = []
    for trace in glob.glob(f"{store}.epochs/*.tlr"):
        r = subprocess.run([f"{B}/tailor", "report", "--json", "--view", "processes", "--top", "0", "--mark", "all", trace],
                           capture_output=True, text=True)
        if r.returncode == 1 and "the end is missing" in r.stderr:
            return []
        if r.returncode:
            sys.exit(f"expected a report of {trace} ({os.path.getsize(trace)} bytes), got exit {r.returncode}: {r.stderr}")
        rows += json.loads(r.stdout)["tables"]["processes"]
    return [(u, sum(r["weight"] for r in rows if r["pid"] == h.pid) / 1e9, sum(r["samples"] for r in rows if r["pid"] == h.pid))
            for h, u in zip(hosts, used)]

sums = [[0, 0, 0], [0, 0, 0]]
for n in range(ROUNDS):
    for total, part in zip(sums, one_round(n)):
        for i in range(3):
            total[i] += part[i]
    if min(s[2] for s in sums) >= LEAST:
        break
else:
    print(f"skipped, because this machine gave {min(s[2] for s in sums)} samples of a host in {ROUNDS} rounds")
    sys.exit(77)
bad = 0
for where, (used, weight, samples) in zip(("first", "last"), sums):
    print(f"FIGURE on the {where} processor: {used:.2f} s by its own clock, {weight:.2f} s by {samples} samples")
    if abs(weight / used - 1) > 0.25:
        print(f"on the {where} processor: expected {used:.2f} s, got {weight:.2f}")
        bad = 1
sys.exit(bad)
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir"
finish
