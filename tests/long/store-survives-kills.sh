#!/bin/bash
# SPDX-License-Identifier: MIT
# Recorder and writer of a store are killed fifty times, at random moments: the store is whole each time, in the end it has an epoch of each
# trace, with that trace's samples, and each trace goes on until shortly before the kill.
. tests/live/begin.bash
cat >"$dir/test.py" <<'END'
import json, os, random, signal, statistics, subprocess, sys, time
B, DIR = sys.argv[1:]
KILLS = 50
STORE, FOLDER = f"{DIR}/w.tlrs", f"{DIR}/w.tlrs.epochs"
HOST = [f"{B}/engine", "--query", "q3", "--scale", "0.02", "--threads", "1", "--repeat", "10000000"]
random.seed(5)
bad, lost = 0, []

def tailor(*arguments):
    return subprocess.run([f"{B}/tailor", *arguments], capture_output=True, text=True)

def fail(sentence):
    global bad
    bad = 1
    print(sentence)

def expect_whole(after):
    if os.path.exists(STORE) and os.path.getsize(STORE):
        r = tailor("db", "check", STORE)
        if r.returncode and "nothing was added" not in r.stderr:
            fail(f"expected a whole store after {after}: {r.stdout}{r.stderr}")

def traces():
    return sorted(f"{FOLDER}/{f}" for f in os.listdir(FOLDER) if f.endswith(".tlr")) if os.path.isdir(FOLDER) else []

def last_record_ns(trace):
    times = [json.loads(line)["time_ns"] for line in tailor("dump", "--json", trace).stdout.splitlines() if '"SAMPLES"' in line]
    return max(times, default=None)

for kill in range(KILLS):
    before = set(traces())
    run = subprocess.Popen([f"{B}/tailor", "watch", "-q", "--store", STORE, "--epochs", "500ms", "--keep", "1000", "--cost", "20%", "--",
                            *HOST], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    time.sleep(random.uniform(0.3, 3))
    subprocess.run(["pkill", "-9", "-s", str(run.pid)])
    killed_ns = time.monotonic_ns()
    run.wait()
    new = sorted(set(traces()) - before)
    last = last_record_ns(new[-1]) if new else None
    if last:
        lost.append((killed_ns - last) / 1e9)
    expect_whole(f"kill {kill}")
for moment in range(KILLS):
    p = subprocess.Popen([f"{B}/tailor", "db", "add", STORE, *traces()], stderr=subprocess.DEVNULL)
    time.sleep(random.uniform(0, 1))
    p.kill()
    p.wait()
    expect_whole(f"kill {moment} of its writer")
tailor("db", "add", STORE, *traces())
samples = []
for trace in traces():
    r = tailor("report", "--json", "--mark", "all", trace)
    if r.stdout:
        samples.append(json.loads(r.stdout)["samples"]["total"])
stored = json.loads(tailor("db", "report", STORE, "--view", "epochs", "--json").stdout)["tables"]["epochs"]
if sorted(n for n in samples if n) != sorted(e["samples"] for e in stored if e["samples"]):
    fail(f"expected an epoch of each of {len(samples)} traces, got {len(stored)}")
print(f"FIGURE {len(stored)} epochs, {KILLS} kills of each; from the last samples to the kill {statistics.median(lost):.2f} s, "
      f"at most {max(lost):.2f} s")
if statistics.median(lost) > 1:
    fail(f"expected less than a second to be lost, got {lost}")
sys.exit(bad)
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir"
finish
