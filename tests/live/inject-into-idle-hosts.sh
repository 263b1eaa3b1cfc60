#!/bin/bash
# SPDX-License-Identifier: MIT
# tailor attach --inject into hosts that sleep in a system call: the call ends as it would have, no sooner, with the same result, and with
# none of the host's signals, masks and registers changed.  A thread whose timeout would begin anew is left alone where there is another.
. tests/live/begin.bash
trap 'kill -9 $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT
calls="poll ppoll select epoll_wait epoll nanosleep clock_nanosleep read recv waitpid join timed two"

# All of its threads sleep, and did at the last look.
sleeps() { # PID
	local task before=$switches
	for task in /proc/"$1"/task/*; do
		grep -qs 'State:.S' "$task/status" || return 1
	done
	switches=$(cat /proc/"$1"/task/*/status 2>/dev/null | grep ctxt_switches)
	[ -s "$dir/$call.out" ] && [ "$before" = "$switches" ]
}
ended() { ! grep -qs 'State:.[^ZX]' "/proc/$1/status"; } # PID
sleeps_or_ended() { sleeps "$1" || ended "$1"; }
one() { # CALL SECONDS
	local call=$1 switches='' host
	"$B/hosts/idles" "$call" "$2" >"$dir/$call.out" 2>"$dir/$call.slept" &
	host=$!
	wait_for sleeps_or_ended $host
	grep -s ctxt_switches "/proc/$host/status" >"$dir/$call.before" # its first thread's
	timeout 300 "$B/tailor" attach --inject -q -d 0.1 -o "$dir/$call.tlr" "$host" 2>"$dir/$call.err"
	echo $? >"$dir/$call.status"
	grep -s ctxt_switches "/proc/$host/status" >"$dir/$call.after"
	! ended $host && touch "$dir/$call.in-time"
	PATIENCE_S=600 wait_for ended $host || kill -9 $host
	wait $host
	echo $? >"$dir/$call.exit"
}
for call in $calls; do
	timeout 300 "$B/hosts/idles" $call 1 >"$dir/$call.alone" 2>/dev/null &
done
wait
# Where a host was at its end before it could be attached to, it sleeps four times as long in the next round.
left=$calls
for seconds in 3 12 48 192; do
	for call in $left; do one $call $seconds & done
	wait
	late=
	for call in $left; do
		[ "$(cat "$dir/$call.exit")" = 0 ] || fail "$call: expected exit 0 of the host, got $(cat "$dir/$call.exit")"
		cmp -s "$dir/$call.out" "$dir/$call.alone" ||
			{ fail "$call: expected '$(cat "$dir/$call.alone")', got '$(cat "$dir/$call.out")'"; continue; }
		if [ ! -e "$dir/$call.in-time" ] &&
			{ [ "$(cat "$dir/$call.status")" = 0 ] || grep -qE 'exited|no such process' "$dir/$call.err"; }; then
			late="$late $call"
			continue
		fi
		[ "$(cat "$dir/$call.status")" = 0 ] || fail "$call: attach --inject: expected exit 0, got: $(cat "$dir/$call.err")"
		"$B/tailor" dump "$dir/$call.tlr" 2>/dev/null | grep -q ' GUEST ' || fail "$call: no agent said hello"
		echo "FIGURE $call of $seconds s: $(cat "$dir/$call.slept") s"
	done
	left=$late
	[ -n "$left" ] || break
	echo "they ended before they were attached to, in $seconds s:$left"
done
[ -z "$left" ] || undecided "this machine gave only 192 s, and these hosts ended before they were attached to:$left"
case " $left " in *" two "*) finish ;; esac
cmp -s "$dir/two.before" "$dir/two.after" || fail "two: the first thread was interrupted: $(diff "$dir/two.before" "$dir/two.after")"
finish
