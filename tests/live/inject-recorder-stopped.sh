#!/bin/bash
# SPDX-License-Identifier: MIT
# The recorder does not get to run (SIGSTOP) for longer than the thread that it has borrowed waits to be fetched: the thread
# goes home by itself, the recorder still learns what came of the call, and records; the host runs on.
# Alone: a recorder that is stopped delays the others that ask, and is named to them
. tests/live/begin.bash
TIMES=${TIMES:-16}
trap 'kill -9 $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT
for i in $(seq "$TIMES"); do
	# its threads' stacks grow and shrink all the time: what was left below one is soon something else
	"$B/hosts/deep" 1000000 2 >/dev/null 2>&1 &
	host=$!
	is_itself() { [ "$(readlink "/proc/$host/exe")" = "$(readlink -f "$B/hosts/deep")" ]; }
	wait_for is_itself
	/usr/bin/python3 - "$B/tailor" "$host" "$dir/t.tlr" "$(plain_event)" <<'PYTHON' >"$dir/said"
import os, random, signal, subprocess, sys, time
tailor, host, trace, event = sys.argv[1:]
recorder = subprocess.Popen([tailor, "attach", "--inject", "-q", "-e", event, "-d", "0.3", "-o", trace, host],
                            stderr=subprocess.PIPE, text=True)
def has_log():  # the agent has got its recorder's answer
    with open(f"/proc/{host}/maps") as f:
        return "memfd:" in f.read()
while recorder.poll() is None and not has_log():
    pass
# now, or soon: between that and the fetching of the thread; 0.4 s: a thread waits for 0.2
begin, wait = time.perf_counter(), random.choice((0, 0, random.uniform(0, 0.002)))
while time.perf_counter() - begin < wait:
    pass
if recorder.poll() is None:
    recorder.send_signal(signal.SIGSTOP)
    time.sleep(0.4)
    recorder.send_signal(signal.SIGCONT)
err = recorder.communicate()[1]
print(recorder.returncode, err.strip())
PYTHON
	[ "$(cat "$dir/said")" = "0 " ] || fail "round $i: attach --inject: expected exit 0 and silence, got: $(cat "$dir/said")"
	"$B/tailor" dump "$dir/t.tlr" 2>/dev/null | grep -q ' GUEST ' || fail "round $i: no agent said hello"
	kill -0 $host || fail "round $i: the host does not run any more"
	kill -9 $host
	wait $host 2>/dev/null
done
finish
