#!/bin/bash
# SPDX-License-Identifier: MIT
# A recording of epochs ends after a signal also where the child that ends an epoch, or its command, hangs: the last trace is whole, and a
# sentence says what was left out.  A child that outlives its recorder, which was killed, does not keep the next recorder away.  A
# writer of a store that is stopped is named, and not waited for.
. tests/live/begin.bash
cat >"$dir/test.py" <<'END'
import json, os, re, signal, subprocess, sys, time
B, DIR = sys.argv[1:]
PATIENCE_S = 300
SOON_S = 60 # a busy machine takes longer than the 5 s that are promised, and what never ends is told from it
bad, begun = [], []

def expect(holds, sentence):
    if not holds:
        bad.append(sentence)
        print(sentence)

def wait_for(condition):
    begin = time.monotonic()
    while not condition() and time.monotonic() - begin < PATIENCE_S:
        time.sleep(0.02)
    return condition()

def text(name):
    return open(f"{DIR}/{name}").read() if os.path.exists(f"{DIR}/{name}") else ""

def start(words, said):
    p = subprocess.Popen([f"{B}/tailor", *words], stderr=open(f"{DIR}/{said}", "w"), stdout=subprocess.DEVNULL)
    begun.append(p)
    return p

def end_of(recorder, what, patience_s=SOON_S):
    begin = time.monotonic()
    try:
        recorder.wait(patience_s)
    except subprocess.TimeoutExpired:
        recorder.kill()
        expect(False, f"{what}: expected the end within seconds, got none in {patience_s} s")
    return time.monotonic() - begin

def children(pid):
    try:
        return [int(c) for c in open(f"/proc/{pid}/task/{pid}/children").read().split()]
    except OSError:
        return []

def state(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0]
    except OSError:
        return "gone"

def complete(trace):
    return os.path.exists(trace) and '"END"' in subprocess.run([f"{B}/tailor", "dump", "--json", trace], capture_output=True,
                                                               text=True).stdout

def newest(stem):
    return max(f"{DIR}/{f}" for f in os.listdir(DIR) if f.startswith(stem + ".0"))

host = subprocess.Popen(["sh", "-c", "while :; do :; done"])
begun.append(host)
try:
    # A command that hangs: it ignores the signal, and has the whole of a processor.
    with open(f"{DIR}/command", "w") as f:
        f.write(f"echo $$ >>{DIR}/hangs\ntrap '' TERM INT HUP\nwhile :; do :; done\n")
    run = start(["attach", "--epochs", "1s", "--epoch-command", f"sh {DIR}/command", "-o", f"{DIR}/e.tlr", str(host.pid)], "said")
    expect(wait_for(lambda: text("hangs")), "expected the command of the first epoch")
    run.terminate()
    took = end_of(run, "a command that hangs")
    print(f"FIGURE a command that hangs: ended {took:.2f} s after TERM")
    expect("the trace stays" in text("said"), f"expected a sentence that the trace stays, got {text('said')}")
    expect(complete(newest("e")) or "was not written in time" in text("said"),
           f"expected the last epoch's trace to be whole, or a sentence, got {text('said')}")
    for pid in map(int, text("hangs").split()):
        expect(wait_for(lambda: state(pid) in ("gone", "Z")), f"expected the command to be ended, {pid} runs")

    # A writer of the store that is stopped.
    store = f"{DIR}/w.tlrs"
    run = start(["watch", "--epochs", "1s", "--store", store, str(host.pid)], "watch")
    stopped = []
    def stop_child():
        for pid in children(run.pid):
            os.kill(pid, signal.SIGSTOP)
            stopped.append(pid)
        return stopped
    expect(wait_for(stop_child), "expected a child that adds an epoch")
    run.terminate()
    took = end_of(run, "a child that is stopped")
    print(f"FIGURE a child that is stopped: ended {took:.2f} s after TERM")
    expect("the trace stays" in text("watch"), f"expected a sentence that the trace stays, got {text('watch')}")

    # What creates its files is stopped: a cut cannot be made, and its end does not wait for each file again.
    run = start(["watch", "--epochs", "1s", "--store", f"{DIR}/hung.tlrs", str(host.pid)], "hung")
    stopped.clear()
    expect(wait_for(lambda: any(f.startswith("hung.tlrs.epochs") for f in os.listdir(DIR))), "expected a first trace")
    # the list of children may lack one while another ends, so each look stops those that it has
    expect(wait_for(lambda: stop_child() and "timed out" in text("hung")),
           f"expected a sentence that no file could be created, got {text('hung')}")
    run.terminate()
    took = end_of(run, "a process that creates files is stopped")
    print(f"FIGURE a process that creates files is stopped: ended {took:.2f} s after TERM")
    for pid in stopped:
        if state(pid) != "gone":
            os.kill(pid, signal.SIGKILL)

    # The recorder is killed, its child is not.
    run = start(["watch", "--epochs", "1s", "--store", store, str(host.pid)], "killed")
    stopped.clear()
    expect(wait_for(stop_child), "expected a child that adds an epoch")
    run.kill()
    run.wait()
    again = start(["watch", "--epochs", "1s", "--store", f"{DIR}/other.tlrs", "-d", "1", str(host.pid)], "again")
    end_of(again, "the next recorder", PATIENCE_S)
    expect(again.returncode == 0, f"expected the next recorder to begin beside a child of the killed one, got {text('again')}")
    asked = start(["status", str(host.pid)], "asked")
    end_of(asked, "status")
    expect("has no recorder" in text("asked"), f"expected that there is no recorder, got {text('asked')}")
    for pid in stopped:
        os.kill(pid, signal.SIGKILL)
finally:
    for p in begun:
        p.kill()
sys.exit(1 if bad else 0)
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir"

# A writer of a store that is stopped is named, and not waited for.
flock "$dir/locked.tlrs-lock" sleep 1000 &
holder=$!
disown $holder
trap 'pkill -KILL -P $holder; kill -KILL $holder; rm -rf "$dir"' EXIT
is_locked() { ! flock -n "$dir/locked.tlrs-lock" true; }
wait_for is_locked
kill -STOP $holder
timeout "$PATIENCE_S" "$B/tailor" db add "$dir/locked.tlrs" "$dir"/e.0*.tlr 2>"$dir/locked" &&
	fail "expected a store that is locked to be refused"
grep -q "another process writes to it: process $holder (flock), which is stopped" "$dir/locked" ||
	fail "expected a sentence that names process $holder, got $(cat "$dir/locked")"
finish
