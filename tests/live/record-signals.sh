#!/bin/bash
# SPDX-License-Identifier: MIT
# Signals: the terminal's reach the host by themselves and end nothing but it; one sent to `tailor run` alone is passed on.
# Either way the trace is complete and the exit status the host's.
B=$1 exec /usr/bin/python3 - <<'PYTHON'
import os, signal, subprocess, sys, tempfile, time

B = os.environ["B"]
bad = 0
HOST = 'trap "exit 9" INT TERM HUP QUIT; echo ready; n=0; while :; do n=$((n + 1)); done'
with tempfile.TemporaryDirectory() as d:
    for name in ("SIGINT", "SIGQUIT", "SIGTERM", "SIGHUP"):
        for to_group in (True, False):
            trace = f"{d}/{name}.tlr"
            p = subprocess.Popen([f"{B}/tailor", "run", "-r", "2000", "-o", trace, "--", "bash", "-c", HOST],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
            p.stdout.readline()
            time.sleep(0.2)
            number = getattr(signal, name)
            os.killpg(p.pid, number) if to_group else os.kill(p.pid, number)
            try:
                err = p.communicate(timeout=20)[1]
            except subprocess.TimeoutExpired:
                os.killpg(p.pid, signal.SIGKILL)
                sys.exit(f"{name}, to the group: {to_group}: it runs on")
            dump = subprocess.run([f"{B}/tailor", "dump", trace], capture_output=True, text=True).stdout
            if p.returncode != 9 or " END " not in dump or " SAMPLES " not in dump:
                print(f"{name}, to the group: {to_group}: expected status 9 and a complete trace with samples, got status "
                      f"{p.returncode} and {'an' if ' END ' in dump else 'no'} END; {err}")
                bad = 1
sys.exit(bad)
PYTHON
