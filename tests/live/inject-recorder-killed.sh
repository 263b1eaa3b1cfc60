#!/bin/bash
# SPDX-License-Identifier: MIT
# The recorder is killed (SIGKILL) while `tailor attach --inject` borrows a thread, at random moments: the host comes to the same end as
# alone, no thread keeps a blocked signal, and the next recorder can attach.
. tests/live/begin.bash
TIMES=${TIMES:-12}
trap 'kill -9 $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT
loaded=0 caught=0
touch "$dir/enough"
timeout 300 "$B/hosts/replays" 500 "$dir/enough" >"$dir/alone"
alone=$?
has_threads() { [ "$(ls /proc/$host/task | wc -l)" = 5 ]; }
none_blocked() { # a thread that waited to be fetched is home after 0.2 s
	blocked=$(grep -h SigBlk /proc/$host/task/*/status | grep -vc ':.0*$')
	[ "$blocked" = 0 ]
}
ended() { ! grep -qs 'State:.[^ZX]' /proc/$host/status; }
for i in $(seq "$TIMES"); do
	rm "$dir/enough"
	"$B/hosts/replays" 500 "$dir/enough" >"$dir/out" &
	host=$!
	wait_for has_threads
	/usr/bin/python3 - "$B/tailor" "$host" "$dir/t.tlr" "$i" <<'EOF'
import os, random, subprocess, sys, time
tailor, host, trace, seed = sys.argv[1:]
random.seed(int(seed) * 7919 + os.getpid())
recorder = subprocess.Popen([tailor, "attach", "--inject", "-q", "-o", trace, host], stderr=subprocess.DEVNULL)
def traced():
    for tid in os.listdir(f"/proc/{host}/task"):
        with open(f"/proc/{host}/task/{tid}/status") as f:
            if "TracerPid:\t0\n" not in f.read():
                return True
def loaded():  # too late: between two looks it was traced, and is not any more
    with open(f"/proc/{host}/maps") as f:
        return "libtailor" in f.read()
try:
    while recorder.poll() is None and not traced() and not loaded():
        pass
except OSError:
    pass
begin, wait = time.perf_counter(), random.choice((0, random.uniform(0, 0.002), random.uniform(0, 0.012)))
while time.perf_counter() - begin < wait:
    pass
recorder.kill()
recorder.wait()
EOF
	wait_for none_blocked || fail "round $i: $blocked threads have blocked signals"
	grep -q libtailor /proc/$host/maps && loaded=$((loaded + 1))
	grep -q memfd /proc/$host/maps || caught=$((caught + 1))
	if [ $((i % 4)) = 0 ]; then
		timeout 300 "$B/tailor" attach --inject -q -d 0.1 -o "$dir/again.tlr" $host 2>"$dir/err" ||
			fail "round $i: again: $(cat "$dir/err")"
		"$B/tailor" dump "$dir/again.tlr" | grep -q ' GUEST ' || fail "round $i: again: no agent said hello"
	fi
	touch "$dir/enough"
	wait_for ended || { echo "round $i: it hangs"; kill -9 $host; }
	wait $host
	status=$?
	[ $status = $alone ] && cmp -s "$dir/out" "$dir/alone" ||
		fail "round $i: exit $status, alone $alone; '$(cat "$dir/out")' instead of '$(cat "$dir/alone")'"
done
echo "FIGURE recorder killed $TIMES times: $caught before the agent had a log, $loaded with the agent loaded"
finish
