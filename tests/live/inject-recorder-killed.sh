#!/bin/bash
# SPDX-License-Identifier: MIT
# The recorder is killed (SIGKILL) while `tailor attach --inject` borrows a thread, at random moments: the host comes to the same end as
# alone, no thread keeps a blocked signal, and the next recorder can attach.
. tests/live/begin.bash
TIMES=${TIMES:-12}
trap 'kill -9 $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT
loaded=0 caught=0
timeout 60 "$B/hosts/replays" 4000 >"$dir/alone"
for i in $(seq "$TIMES"); do
	timeout 60 "$B/hosts/replays" 4000 >"$dir/out" &
	job=$!
	sleep 0.2
	host=$(pgrep -P $job -o)
	/usr/bin/python3 - "$B/tailor" "$host" "$dir/t.tlr" "$i" <<'EOF'
import os, random, subprocess, sys, time
tailor, host, trace, seed = sys.argv[1:]
random.seed(int(seed) * 7919 + os.getpid())
recorder = subprocess.Popen([tailor, "attach", "--inject", "-q", "-o", trace, host], stderr=subprocess.DEVNULL)
end = time.time() + 10
def traced():
    for tid in os.listdir(f"/proc/{host}/task"):
        with open(f"/proc/{host}/task/{tid}/status") as f:
            if "TracerPid:\t0\n" not in f.read():
                return True
try:
    while time.time() < end and not traced():
        pass
except OSError:
    pass
begin, wait = time.perf_counter(), random.choice((0, random.uniform(0, 0.002), random.uniform(0, 0.012)))
while time.perf_counter() - begin < wait:
    pass
recorder.kill()
recorder.wait()
EOF
	sleep 0.1
	grep -q libtailor "/proc/$host/maps" 2>/dev/null && loaded=$((loaded + 1))
	grep -q memfd "/proc/$host/maps" 2>/dev/null || caught=$((caught + 1))
	for _ in $(seq 20); do # a thread that waited to be fetched is home after 0.2 s
		blocked=$(grep -h SigBlk /proc/"$host"/task/*/status 2>/dev/null | grep -vc ':.0*$')
		[ "$blocked" = 0 ] && break
		sleep 0.1
	done
	[ "$blocked" = 0 ] || fail "round $i: $blocked threads have blocked signals"
	if [ $((i % 4)) = 0 ] && kill -0 "$host" 2>/dev/null; then
		timeout 60 "$B/tailor" attach --inject -q -d 0.1 -o "$dir/again.tlr" "$host" 2>"$dir/err" ||
			fail "round $i: again: $(cat "$dir/err")"
		"$B/tailor" dump "$dir/again.tlr" | grep -q ' GUEST ' || fail "round $i: again: no agent said hello"
	fi
	wait $job
	status=$?
	cmp -s "$dir/out" "$dir/alone" || fail "round $i: exit $status, '$(cat "$dir/out")' instead of '$(cat "$dir/alone")'"
done
echo "FIGURE recorder killed $TIMES times: $caught before the agent had a log, $loaded with the agent loaded"
exit $bad
