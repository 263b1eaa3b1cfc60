#!/bin/bash
# SPDX-License-Identifier: MIT
# `tailor watch` ends within 5 s of SIGTERM, whenever that comes.  Where it, the child that ends an epoch, or both are killed at any
# moment, the next one begins at once, and at most an epoch is lost.  An attach beside recorders that are stopped takes a second longer
# at most.
# Alone: times are measured.
. tests/live/begin.bash
cat >"$dir/test.py" <<'END'
import json, os, random, signal, statistics, subprocess, sys, time
B, DIR = sys.argv[1:]
KILLS, TERMS, EPOCH_S = int(os.environ.get("KILLS", 50)), int(os.environ.get("TERMS", 30)), 3
STORE, FOLDER = f"{DIR}/w.tlrs", f"{DIR}/w.tlrs.epochs"
random.seed(7)
bad, begun = 0, []

def fail(sentence):
    global bad
    bad = 1
    print(sentence)

def start(words, **how):
    p = subprocess.Popen([f"{B}/tailor", *words], stdout=subprocess.DEVNULL, stderr=open(f"{DIR}/said", "w"), **how)
    begun.append(p)
    return p

def watch():
    return start(["watch", "--epochs", f"{EPOCH_S}s", "--keep", "1000", "--cost", "20%", "--store", STORE, str(host.pid)])

def children(pid):
    try:
        return [int(c) for c in open(f"/proc/{pid}/task/{pid}/children").read().split()]
    except OSError:
        return []

def traces_of(pid):
    return sorted(f"{FOLDER}/{f}" for f in os.listdir(FOLDER) if f"-{pid}." in f) if os.path.isdir(FOLDER) else []

def processor_s(pid):
    return sum(map(int, open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[11:13])) / os.sysconf("SC_CLK_TCK")

def kill(pid, how):
    try:
        os.kill(pid, how)
    except ProcessLookupError:
        pass

def weight_s(trace):
    r = subprocess.run([f"{B}/tailor", "report", "--json", "--mark", "all", trace], capture_output=True, text=True)
    return sum(e["weight"] for e in json.loads(r.stdout)["events"]) / 1e9 if r.stdout else 0

def is_recording(run, patience_s):
    begin = time.monotonic()
    while run.poll() is None and time.monotonic() - begin < patience_s:
        if any(map(os.path.getsize, traces_of(run.pid))):
            return time.monotonic() - begin
        time.sleep(0.01)
    return None

def kills():
    runs, starts, with_child = [], [], 0
    for nr in range(KILLS):
        run = watch()
        began = is_recording(run, 30)
        if began is None:
            fail(f"kill {nr}: expected a recorder at once after the one before was killed, got {open(f'{DIR}/said').read()}")
            kill(run.pid, signal.SIGKILL)
            continue
        starts.append(began)
        before_s = processor_s(host.pid)
        time.sleep(random.uniform(0, 1.5 * EPOCH_S))
        what = ("recorder", "child", "both")[nr % 3]
        until = time.monotonic() + 2 * EPOCH_S
        while what != "recorder" and not children(run.pid) and time.monotonic() < until:
            time.sleep(0.002)
        inner = children(run.pid)
        with_child += bool(inner)
        for pid in inner if what != "recorder" else []:
            kill(pid, signal.SIGKILL)
        if what == "child": # the recorder goes on until it is ended
            time.sleep(0.2)
            if run.poll() is not None:
                fail(f"kill {nr}: expected the recorder to go on without its child, got exit {run.returncode}")
            after_s = processor_s(host.pid)
            kill(run.pid, signal.SIGTERM)
        else:
            after_s = processor_s(host.pid)
            kill(run.pid, signal.SIGKILL)
        run.wait()
        runs.append((run.pid, after_s - before_s))
    time.sleep(2)
    lost = [host_s - sum(map(weight_s, traces_of(pid))) for pid, host_s in runs]
    print(f"FIGURE {len(runs)} of {KILLS} kills ({with_child} beside a child): the next recorder recorded after "
          f"{statistics.median(starts):.2f} s, at most {max(starts):.2f} s; of the host's time {statistics.median(lost):.2f} s "
          f"were lost, at most {max(lost):.2f} s")
    if max(lost) > EPOCH_S:
        fail(f"expected at most an epoch to be lost, got {lost}")
    every = [t for pid, _ in runs for t in traces_of(pid) if os.path.getsize(t)]
    subprocess.run([f"{B}/tailor", "db", "add", STORE, *every], stderr=subprocess.DEVNULL)
    r = subprocess.run([f"{B}/tailor", "db", "check", STORE], capture_output=True, text=True)
    if r.returncode:
        fail(f"expected a whole store, got {r.stdout}{r.stderr}")

def terms():
    took = []
    for nr in range(TERMS):
        run = watch()
        time.sleep(random.uniform(0, 1.5 * EPOCH_S))
        begin = time.monotonic()
        kill(run.pid, signal.SIGTERM)
        run.wait()
        took.append(time.monotonic() - begin)
    print(f"FIGURE SIGTERM at {TERMS} moments: {sum(t <= 5 for t in took)} ended within 5 s, at most {max(took):.2f} s")
    if max(took) > 5:
        fail(f"expected each to end within 5 s, got {sorted(took)[-5:]}")

def attach_s():
    times = []
    for _ in range(3):
        begin = time.monotonic()
        attach = start(["attach", "-q", "-d", "500ms", "-o", f"{DIR}/a.tlr", str(sleeper.pid)])
        try:
            attach.wait(120)
        except subprocess.TimeoutExpired:
            attach.kill()
        times.append(time.monotonic() - begin)
    return statistics.median(times)

def beside_stopped():
    alone, recorders = attach_s(), []
    for nr in (1, 5, 20):
        while len(recorders) < nr:
            r = start(["run", "-q", "-o", f"{DIR}/stopped.{len(recorders)}.tlr", "--", "sleep", "1000"])
            while not os.path.exists(f"{DIR}/stopped.{len(recorders)}.tlr") and r.poll() is None:
                time.sleep(0.02)
            time.sleep(0.3)
            kill(r.pid, signal.SIGSTOP)
            recorders.append(r)
        beside = attach_s()
        print(f"FIGURE attach beside {nr} recorders that are stopped: {beside:.2f} s, alone {alone:.2f} s")
        if beside > alone + 1:
            fail(f"expected a second more at most beside {nr} stopped recorders, got {beside:.2f} s, and {alone:.2f} s alone")
    for r in recorders:
        for pid in children(r.pid):
            kill(pid, signal.SIGKILL)
        kill(r.pid, signal.SIGKILL)

host = subprocess.Popen(["sh", "-c", "while :; do :; done"])
sleeper = subprocess.Popen(["sleep", "10000"])
begun += [host, sleeper]
try:
    kills()
    terms()
    beside_stopped()
finally:
    for p in begun:
        if p.poll() is None:
            p.kill()
sys.exit(bad)
END
judge /usr/bin/python3 -u "$dir/test.py" "$B" "$dir"
finish
