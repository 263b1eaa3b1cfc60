#!/bin/bash
# SPDX-License-Identifier: MIT
# tailor attach --inject into hosts that sleep in a system call: the call ends as it would have, no sooner, with the same result, and with
# none of the host's signals, masks and registers changed.  A thread whose timeout would begin anew is left alone where there is another.
. tests/live/begin.bash
trap 'kill -9 $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT
calls="poll ppoll select epoll_wait epoll nanosleep clock_nanosleep read recv waitpid join timed two"
one() { # CALL
	timeout 60 "$B/hosts/idles" "$1" 4 >"$dir/$1.out" 2>"$dir/$1.slept" &
	host=$!
	sleep 0.5
	pid=$(pgrep -P $host -o)
	grep ctxt_switches "/proc/$pid/status" >"$dir/$1.before" # its first thread's
	timeout 60 "$B/tailor" attach --inject -q -d 0.2 -o "$dir/$1.tlr" "$pid" 2>"$dir/$1.err"
	echo $? >"$dir/$1.status"
	grep ctxt_switches "/proc/$pid/status" >"$dir/$1.after"
	wait $host
	echo $? >"$dir/$1.exit"
}
for call in $calls; do
	timeout 60 "$B/hosts/idles" $call 1 >"$dir/$call.alone" 2>/dev/null &
	one $call &
done
wait
for call in $calls; do
	[ "$(cat "$dir/$call.status")" = 0 ] || fail "$call: attach --inject: expected exit 0, got: $(cat "$dir/$call.err")"
	[ "$(cat "$dir/$call.exit")" = 0 ] || fail "$call: expected exit 0 of the host, got $(cat "$dir/$call.exit")"
	cmp -s "$dir/$call.out" "$dir/$call.alone" || fail "$call: expected '$(cat "$dir/$call.alone")', got '$(cat "$dir/$call.out")'"
	"$B/tailor" dump "$dir/$call.tlr" 2>/dev/null | grep -q ' GUEST ' || fail "$call: no agent said hello"
	echo "FIGURE $call of 4 s: $(cat "$dir/$call.slept") s"
done
cmp -s "$dir/two.before" "$dir/two.after" || fail "two: the first thread was interrupted: $(diff "$dir/two.before" "$dir/two.after")"
exit $bad
