#!/bin/bash
# SPDX-License-Identifier: MIT
# Every small host prints the same, on both channels, and ends with the same status: alone, under tailor run in both scopes and
# with both samplers in the host, and with the agent preloaded alone.  They fork before main, close all descriptors, end threads in
# every way, cancel them at once, dlopen through RUNPATH, ask dlerror, load an LLVM late, exec themselves, look for strangers
# among their children, wrap what we wrap, set and block every signal, and register call-frame information that does not end.
. tests/live/begin.bash
nr=0

same() { # HOST HOW STATUS
	if [ "$3" != "$alone" ] || ! cmp -s "$dir/alone.out" "$dir/out" || ! cmp -s "$dir/alone.err" "$dir/err"; then
		echo "$1, $2: expected exit $alone and what it prints alone; got exit $3 and:"
		diff "$dir/alone.out" "$dir/out"
		diff "$dir/alone.err" "$dir/err"
		bad=1
	fi
	nr=$((nr + 1))
}
hosts="busy busy-nopie close_all fork_early threads cancelled c11 late_llvm dl_error family namespace wraps frames signals runpath/main"
for host in $hosts; do
	h=$B/hosts/$host
	[ -x "$h" ] || continue
	timeout 60 "$h" >"$dir/alone.out" 2>"$dir/alone.err"
	alone=$?
	for scope in cpu thread; do
		timeout 100 "$B/tailor" run -q --scope $scope -o "$dir/t.tlr" -- "$h" >"$dir/out" 2>"$dir/err"
		same "$host" "tailor run --scope $scope" $?
		"$B/tailor" report "$dir/t.tlr" >"$dir/report" || { echo "$host: the trace cannot be read"; bad=1; }
	done
	for sampler in signal timer; do
		timeout 100 "$B/tailor" run -q --sampler $sampler -o "$dir/s.tlr" -- "$h" >"$dir/out" 2>"$dir/err"
		same "$host" "tailor run --sampler $sampler" $?
	done
	LD_PRELOAD=$B/libtailor.so TAILOR_OUTPUT=$dir/p.tlr timeout 100 "$h" >"$dir/out" 2>"$dir/err"
	same "$host" "preloaded alone" $?
	if [ $host = namespace ] && [ "$alone" = 12 ]; then
		"$B/tailor" dump "$dir/t.tlr" | grep -q ' IMAGE .*libz' || { echo "namespace: expected an IMAGE record of libz"; bad=1; }
	fi
	# an LLVM that came late is heard: its code has a name
	if [ $host = late_llvm ] && [ "$alone" = 8 ]; then
		grep -q 'hot_loop' "$dir/report" || { echo "late_llvm: expected the function hot_loop in:"; cat "$dir/report"; bad=1; }
	fi
done
# the sampling signal, as a late one comes: waits have not noticed, but those that say which signals may end them
timeout 60 "$B/tailor" run -q --sampler signal -o "$dir/s.tlr" -- "$B/hosts/interrupted" "$(kill -l STKFLT)" >"$dir/out" 2>"$dir/err"
status=$?
[ $status = 0 ] && [ "$(grep -c 'to its end, its time$' "$dir/out")" = 7 ] && grep -q '^ppoll with a mask: interrupted' "$dir/out" || {
	echo "interrupted: expected 7 waits to their end and one with a mask to be interrupted, got exit $status and:"
	cat "$dir/out" "$dir/err"
	bad=1
}
# another library in front of us that wraps the same functions
timeout 60 "$B/hosts/threads" >"$dir/alone.out" 2>"$dir/alone.err"
alone=$?
LD_PRELOAD=$B/hosts/libwraps.so:$B/libtailor.so TAILOR_OUTPUT=$dir/p.tlr timeout 100 "$B/hosts/threads" >"$dir/out" 2>"$dir/err"
same threads "preloaded behind another wrapper" $?
echo "FIGURE $nr runs of unmodified hosts, their output and status unchanged"
exit $bad
