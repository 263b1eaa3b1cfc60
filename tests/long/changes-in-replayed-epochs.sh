#!/bin/bash
# SPDX-License-Identifier: MIT
# `tailor db changes` raises no alarm in 720 quiet hours, finds planted changes, a plan flip and a recompilation storm: hours are resampled
# from epochs of the engine that are recorded here, with the spread that these have.
. tests/live/begin.bash
cat >"$dir/test.py" <<'END'
import os, signal, subprocess, sys, time
sys.path.insert(0, "tests")
from store_replay import Changes, Real
B, DIR = sys.argv[1:]
EPOCHS, PATIENCE_S = 40, 300
bad = 0

def expect(holds, sentence):
    global bad
    if not holds:
        bad = 1
        print(sentence)

def traces():
    return sorted(f"{DIR}/{f}" for f in os.listdir(DIR) if f.startswith("engine."))

run = subprocess.Popen([f"{B}/tailor", "run", "-q", "--epochs", "1s", "-o", f"{DIR}/engine.tlr", "--", f"{B}/engine", "--query", "q3",
                        "--scale", "0.02", "--threads", "2", "--repeat", "1000000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
begin = time.monotonic()
while len(traces()) < EPOCHS and time.monotonic() - begin < PATIENCE_S:
    time.sleep(0.5)
run.send_signal(signal.SIGTERM)
run.wait()
subprocess.run([f"{B}/tailor", "db", "add", f"{DIR}/real.tlrs", *traces()], check=True)
real = Real(f"{DIR}/real.tlrs")
if real.epochs < 10:
    print(f"skipped, because only {real.epochs} epochs had 300 samples: the machine was too busy")
    sys.exit(77)
lines = [f"{100 * p:.1f} ({100 * real.spread[s]:.1f})" for s, p in real.share.items()]
print("FIGURE", real.epochs, "epochs; shares and spread in %:", *lines)
spread = {s: min(0.04, x) for s, x in real.spread.items()}
# beside other programs a second's shares differ by 5 % and more, which is what a change of 5 % is lost in
small = 6 if max(spread[s] for s in spread if real.share[s] >= 0.05) <= 0.02 else 0
Changes(f"{B}/tailor", f"{DIR}/real.tlrs", DIR, real.share, spread, 300000).judge(expect, small)
sys.exit(bad)
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir"
finish
