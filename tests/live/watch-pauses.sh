#!/bin/bash
# SPDX-License-Identifier: MIT
# A recorder with epochs pauses on SIGUSR2, and goes on with the next one: what a program did meanwhile is counted by nobody.
. tests/live/begin.bash
cat >"$dir/test.py" <<'END'
import glob, json, os, signal, subprocess, sys, time
B, DIR = sys.argv[1:]
PATIENCE_S, QUIET_S, PAUSED_CPU_S = 300, 1.5, 1

def wait_for(condition, what):
    begin = time.monotonic()
    while not condition():
        if time.monotonic() - begin > PATIENCE_S:
            sys.exit(f"expected {what}")
        time.sleep(0.05)

def size():
    return sum(os.path.getsize(f) for f in glob.glob(f"{DIR}/p.*.tlr"))

def cpu_s():
    with open(f"/proc/{host.pid}/schedstat") as f:
        return int(f.read().split()[0]) / 1e9

def is_quiet():
    before = size()
    time.sleep(QUIET_S)
    return size() == before

host = subprocess.Popen([f"{B}/hosts/busy", "1000000"], stdout=subprocess.DEVNULL)
recorder = subprocess.Popen([f"{B}/tailor", "attach", "-q", "-e", "task-clock:u", "--epochs", "10m", "-o", f"{DIR}/p.tlr", str(host.pid)])
try:
    wait_for(lambda: size() > 10000, "samples")
    recorder.send_signal(signal.SIGUSR2)
    wait_for(is_quiet, "no samples in a pause")
    begin = cpu_s()
    wait_for(lambda: cpu_s() - begin > PAUSED_CPU_S, "the host to run on")
    while_paused, of_pause = size(), cpu_s() - begin
    recorder.send_signal(signal.SIGUSR2)
    wait_for(lambda: size() > while_paused + 10000, "samples behind a pause")
    recorder.send_signal(signal.SIGINT)
    status = recorder.wait()
    total = cpu_s()
finally:
    recorder.kill()
    host.kill()
counted = sum(r["fields"]["value"] for f in glob.glob(f"{DIR}/p.*.tlr") for r in map(json.loads, subprocess.run(
    [f"{B}/tailor", "dump", "--json", f], capture_output=True, text=True, check=True).stdout.splitlines()) if r["record"] == "COUNT") / 1e9
if status or not 0 < counted <= total - of_pause:
    sys.exit(f"exit {status}: expected at most the host's {total:.2f} s but {of_pause:.2f} s of a pause, got {counted:.2f} s")
END
judge /usr/bin/python3 "$dir/test.py" "$B" "$dir"
finish
