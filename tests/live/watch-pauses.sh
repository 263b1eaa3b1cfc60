#!/bin/bash
# SPDX-License-Identifier: MIT
# A recorder with epochs pauses on SIGUSR2, and goes on with the next one: what a program did meanwhile is counted by nobody.
. tests/live/begin.bash
cat >"$dir/test.py" <<'END'
import glob, json, os, signal, subprocess, sys, time
sys.path.insert(0, "tests/postgres")
from cluster import wait_for
B, DIR = sys.argv[1:]
QUIET_S, PAUSED_CPU_S = 1.5, 1

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
    wait_for("samples are taken", lambda: size() > 10000)
    recorder.send_signal(signal.SIGUSR2)
    wait_for("none are taken in a pause", is_quiet)
    begin = cpu_s()
    wait_for("the host runs on", lambda: cpu_s() - begin > PAUSED_CPU_S)
    while_paused, of_pause = size(), cpu_s() - begin
    recorder.send_signal(signal.SIGUSR2)
    wait_for("samples are taken behind a pause", lambda: size() > while_paused + 10000)
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
