#!/bin/bash
# SPDX-License-Identifier: MIT
# Recorder and writer of a store are killed fifty times, at random moments: the store is whole each time, in the end it has an epoch of each
# trace, with that trace's samples, and of the processor time that its host took until the kill less than a second is in none.
. tests/live/begin.bash
cat >"$dir/test.py" <<'END'
import json, os, random, signal, statistics, subprocess, sys, time
B, DIR = sys.argv[1:]
KILLS = 50
STORE, FOLDER = f"{DIR}/w.tlrs", f"{DIR}/w.tlrs.epochs"
HOST = [f"{B}/engine", "--query", "q3", "--scale", "0.02", "--threads", "1", "--repeat", "10000000"]
random.seed(5)
bad, lost, pauses = 0, [], []

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

def host_of(recorder):
    """0: there is none yet"""
    for pid in open(f"/proc/{recorder}/task/{recorder}/children").read().split():
        try:
            if open(f"/proc/{pid}/cmdline", "rb").read().startswith(f"{B}/engine".encode()):
                return int(pid)
        except OSError:
            pass
    return 0

def processor_s(pid):
    return sum(map(int, open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK") if pid else 0

def weight_s(trace):
    r = tailor("report", "--json", "--mark", "all", trace)
    return sum(e["weight"] for e in json.loads(r.stdout)["events"]) / 1e9 if r.stdout else 0

def last_record_ns(trace):
    times = [json.loads(line)["time_ns"] for line in tailor("dump", "--json", trace).stdout.splitlines() if '"SAMPLES"' in line]
    return max(times, default=None)

for kill in range(KILLS):
    before = set(traces())
    run = subprocess.Popen([f"{B}/tailor", "watch", "-q", "--store", STORE, "--epochs", "500ms", "--keep", "1000", "--cost", "20%", "--",
                            *HOST], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    time.sleep(random.uniform(0.3, 3))
    host = host_of(run.pid)
    host_s = processor_s(host)
    os.kill(run.pid, signal.SIGKILL)
    killed_ns = time.monotonic_ns()
    subprocess.run(["pkill", "-9", "-s", str(run.pid)]) # the host, and who ended an epoch just then
    run.wait()
    new = sorted(set(traces()) - before)
    last = last_record_ns(new[-1]) if new else None
    if last:
        pauses.append((killed_ns - last) / 1e9)
    lost.append(host_s - sum(map(weight_s, new)))
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
print(f"FIGURE {len(stored)} epochs, {KILLS} kills of each; of the host's time at most {max(lost):.2f} s are lost (median "
      f"{statistics.median(lost):.2f} s); from the last samples to the kill {statistics.median(pauses):.2f} s, at most {max(pauses):.2f} s")
if max(lost) > 1: # by the clock it is more, where the host waits for a processor
    fail(f"expected less than a second of the host's time to be lost, got {lost}")
sys.exit(bad)
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir"
finish
