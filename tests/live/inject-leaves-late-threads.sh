#!/bin/bash
# SPDX-License-Identifier: MIT
# attach --inject gives up on a process whose thread does not stop in 5 s, because its control group hardly gives it a processor, says so,
# and records the others.  The thread that stops later is let go at once, and does not stand still until the recording ends.
. tests/live/begin.bash
group=/sys/fs/cgroup/cpu/tailor-test-$$
[ -d /sys/fs/cgroup/cpu ] || group=/sys/fs/cgroup/tailor-test-$$
host=
run=
trap 'kill -9 ${host:-} ${late:-} ${run:-} 2>/dev/null; sleep 0.1; rmdir "$group" 2>/dev/null; rm -rf "$dir"' EXIT
mkdir "$group" 2>/dev/null || skip "this user may not make a control group"
limit() { # MS_OF_A_SECOND, or -1 for none
	local quota=${1}000
	[ "$1" != -1 ] || quota=-1
	if [ -e "$group/cpu.max" ]; then
		echo "${quota/-1/max} 1000000" >"$group/cpu.max"
	else
		echo 1000000 >"$group/cpu.cfs_period_us" && echo $quota >"$group/cpu.cfs_quota_us"
	fi
}
"$B/hosts/busy" 100000 >/dev/null &
host=$!
"$B/hosts/crowd" 40 &
late=$!
computes() { [ "$(cat /proc/$late/task/*/stat 2>/dev/null | grep -c ') R')" -ge 40 ]; }
wait_for computes
echo $late >"$group/cgroup.procs" && limit 1 2>/dev/null || skip "control groups have no quota of a processor here"
: >"$dir/err"
"$B/tailor" attach --inject -e "$(plain_event)" -o "$dir/t.tlr" $host $late 2>"$dir/err" &
run=$!
is_over() { grep -q "cannot inject into process $late" "$dir/err" || ! kill -0 $run 2>/dev/null; }
wait_for is_over
grep -q "process $late: a thread did not stop" "$dir/err" || skip "the threads stopped in time: $(grep inject "$dir/err")"
limit -1
is_let_go() { ! grep -q ') t' /proc/$late/task/*/stat && computes; }
wait_for is_let_go
sleep 1 # so that a thread has stopped by now which is to stop
is_let_go || fail "expected all threads to run, got $(cat /proc/$late/task/*/stat | grep ') t')"
kill -0 $run 2>/dev/null || fail "expected the recording to go on, got: $(cat "$dir/err")"
kill -TERM $run
wait $run || fail "tailor attach: exit $?: $(cat "$dir/err")"
finish
