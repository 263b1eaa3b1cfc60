#!/bin/bash
# SPDX-License-Identifier: MIT
# tailor attach --inject, at random moments, into hosts that are busy: they come to the same end as alone, and code that was there
# before is known by name.
. tests/live/begin.bash
TIMES=${TIMES:-3}       # of each host
ATTACHES=${ATTACHES:-3} # to each run of it: the first loads the agent, the others find it there
LENGTH=${LENGTH:-1} # of each run
HOSTS=${HOSTS:-replays engine luajit node recorders}
host= recorder=
trap 'kill -9 $host $recorder 2>/dev/null; rm -rf "$dir"' EXIT
plain=$(plain_event)
# Hosts go on until it is there.  The engine cannot be told: it does its query more often where it was too soon at its end.
enough=$dir/enough
ended='exited|no such process'
has_ended() { ! grep -qs 'State:.[^ZX]' /proc/$host/status; }
has_burned() { local t; t=$(awk '{ print $14 }' /proc/$host/stat) && [ "$t" -ge "$1" ]; } # TICKS of user time
burns() { has_ended || has_burned "$1"; }
attach() { timeout 300 "$B/tailor" attach --inject -q -e "$plain" "$@" $host 2>"$dir/err"; }
# Until the trace has a line with PATTERN, and SECONDS more: a host looks for an agent once a second.
attach_until() { # PATTERN SECONDS TRACE
	"$B/tailor" attach --inject -q -e "$plain" -o "$3" $host 2>"$dir/err" &
	recorder=$!
	wait_for has_or_ended "$3" "$1"
	sleep "$2"
	kill -INT $recorder 2>/dev/null
	wait $recorder
}
has() { "$B/tailor" dump "$1" 2>/dev/null | grep "$2" >/dev/null; } # TRACE PATTERN
recorder_ended() { ! grep -qs 'State:.[^ZX]' /proc/$recorder/status; }
has_or_ended() { has "$@" || recorder_ended; }
lines() { grep -v -e " ms$" -e "^  " "$1"; } # that do not depend on time
# 50 samples in JIT code, and 95 % of them named: what was there before is announced with the time of its making, so all of them are
are_named() { # TRACE: 0, 1, or 77 where there are too few
	"$B/tailor" report --json "$1" | /usr/bin/python3 -c '
import json, sys
jit = json.load(sys.stdin)["jit"]
print(jit)
sys.exit(77 if jit["samples"] < 50 else jit["named"] < 0.95 * jit["samples"])'
}

# One run, attached to.  Returns 77 where it was too soon at its end, or had too few samples.
one_run() { # NAME PATTERN TICKS COMMAND...
	local name=$1 pattern=$2 at=$(($3 + RANDOM % 20)) late=0 k status n
	shift 3
	rm -f "$enough"
	"$@" >"$dir/out" 2>/dev/null &
	host=$!
	wait_for burns $at
	rm -f "$dir/t.tlr"
	attach_until "${pattern:- GUEST }" $seconds "$dir/t.tlr"
	status=$?
	if [ $status = 1 ] && grep -qE "$ended" "$dir/err"; then
		late=77
	elif [ $status != 0 ]; then
		fail "$name: attach --inject: expected exit 0, got $status: $(cat "$dir/err")"
	else
		n=1
		for k in $(seq 2 "$ATTACHES"); do
			sleep "0.0$((RANDOM % 10))"
			attach -d 0.05 -o "$dir/more.tlr"
			status=$?
			[ $status = 1 ] && grep -qE "$ended" "$dir/err" && break
			[ $status = 0 ] || fail "$name, attach $k: expected exit 0, got $status: $(cat "$dir/err")"
			n=$((n + 1))
		done
	fi
	touch "$enough"
	wait_for has_ended || { echo "$name: it hangs, at $at ticks"; kill -9 $host; }
	wait $host
	status=$?
	lines "$dir/out" >"$dir/result"
	[ $status = $alone ] && cmp -s "$dir/result" "$dir/alone" ||
		fail "$name: exit $status, alone $alone; $(diff "$dir/alone" "$dir/result" | head -n 3)"
	[ $late = 0 ] || return 77
	"$B/tailor" dump "$dir/t.tlr" >"$dir/dump" || fail "$name: the trace cannot be read"
	grep -q ' GUEST ' "$dir/dump" || fail "$name: no agent said hello"
	[ -z "$pattern" ] || grep -q "$pattern" "$dir/dump" || fail "$name: expected '$pattern' in the trace"
	if [ "$name" = engine ]; then
		are_named "$dir/t.tlr" >"$dir/jit"
		status=$?
		[ $status != 77 ] || return 77
		[ $status = 0 ] || fail "$name: expected names for 95 % of JIT samples: $(cat "$dir/jit")"
	fi
	injected=$((injected + n))
}

check_host() { # NAME PATTERN TICKS COMMAND...: PATTERN of a name that must be in the report, or ''; REPEAT stands for a number that grows
	local name=$1 begin=$SECONDS i=0 repeat=$((1000 * LENGTH)) command seconds=0.3
	case " $HOSTS " in *" $name "*) ;; *) return ;; esac
	touch "$enough"
	command=("${@:4}")
	timeout 300 "${command[@]/REPEAT/1}" 2>/dev/null >"$dir/out"
	alone=$?
	lines "$dir/out" >"$dir/alone"
	injected=0
	while [ $i -lt "$TIMES" ]; do
		if one_run "$name" "$2" "$3" "${command[@]/REPEAT/$repeat}" || [ $? != 77 ]; then
			i=$((i + 1))
			continue
		fi
		echo "$name: ended before it was attached to, or too few samples in $seconds s: $(cat "$dir/err" "$dir/jit" 2>/dev/null)"
		if [ $((SECONDS - begin)) -gt $((TIMES * ENOUGH_S)) ]; then
			undecided "this machine gave only $i runs in $((SECONDS - begin)) s: $name"
			break
		fi
		repeat=$((2 * repeat))
		seconds=$(awk "BEGIN { print 2 * $seconds }")
	done
	echo "FIGURE $name: injected into $injected times"
}
check_host replays 'LOAD.*generated_before' 20 "$B/hosts/replays" $((500 * LENGTH)) "$enough"
[ -x "$B/engine" ] && check_host engine 'COMPONENT.*group by' 60 "$B/engine" --query=q1 --repeat=REPEAT --scale=0.05 --threads=3
command -v luajit >/dev/null && check_host luajit '' 20 luajit -e "
	local function work(n) local x = 0 for i = 1, n do x = (x * 33 + i) % 1000003 end return x end
	local result, first = work(2e7 * $LENGTH), work(1e6)
	while not io.open('$enough') do if work(1e6) ~= first then print('wrong') end end
	print(result)"
command -v node >/dev/null && check_host node '' 20 node -e "
	function work(n) { let x = 0; for (let i = 0; i < n; i++) x = (x * 33 + i) % 1000003; return x; }
	const result = work(2e7 * $LENGTH), first = work(1e6);
	while (!fs.existsSync('$enough')) if (work(1e6) !== first) console.log('wrong');
	console.log(result)"

case " $HOSTS " in *" recorders "*) ;; *) finish ;; esac

# one recorder after the other, and two at once
"$B/hosts/replays" 1000000 >/dev/null &
host=$!
wait_for burns 20
for i in 1 2; do
	attach_until 'LOAD.*generated_before' 0 "$dir/t$i.tlr" || fail "recorder $i: $(cat "$dir/err")"
	has "$dir/t$i.tlr" 'LOAD.*generated_before' || fail "recorder $i: the host did not announce its code again"
done
"$B/tailor" attach --inject -q -e "$plain" -o "$dir/t3.tlr" $host &
recorder=$!
listens() { grep -q "@tailor-attach-$host$" /proc/net/unix; }
wait_for listens
attach -d 1 -o "$dir/t4.tlr"
[ $? = 1 ] && grep -q 'is already being recorded' "$dir/err" || fail "two at once: expected a sentence, got: $(cat "$dir/err")"
wait_for has_or_ended "$dir/t3.tlr" ' GUEST '
kill -INT $recorder
wait $recorder || fail "two at once: the first ended with $?"

# what one recorder has mapped there is gone, or used again, when the next one has come
mapped() { awk '/VmSize/ { print $2 }' "/proc/$host/status"; }
for i in $(seq 20); do
	attach -d 0.02 -o "$dir/t4.tlr" || fail "recorder $i of many: $(cat "$dir/err")"
	[ "$i" != 1 ] || first=$(mapped)
done
# a log has 64 MiB: the one of the first may be given back already, and that of the last not yet
[ "$(mapped)" -le $((first + 68 * 1024)) ] || fail "20 recorders: the host's address space grew from $first to $(mapped) KiB"
[ "$(grep -c 'memfd:tailor-log' "/proc/$host/maps")" -le 2 ] || fail "20 recorders: their logs are still mapped"
{ kill -9 $host; wait $host; } 2>/dev/null

# by root who may not change other users' limits, as in a container, into another user's program
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null && setpriv --reuid 65534 --clear-groups test -r "$B/libtailor.so"; then
	setpriv --reuid 65534 --regid 65534 --clear-groups "$B/hosts/busy" 1000000 >/dev/null &
	host=$!
	wait_for burns 5
	timeout 300 setpriv --bounding-set -sys_resource --inh-caps -sys_resource \
		"$B/tailor" attach --inject -q -e "$plain" -d 0.1 -o "$dir/t5.tlr" $host 2>"$dir/err" && has "$dir/t5.tlr" ' GUEST ' ||
		fail "root without CAP_SYS_RESOURCE: expected exit 0 and an agent, got: $(cat "$dir/err")"
	{ kill -9 $host; wait $host; } 2>/dev/null
else
	echo "left out, because it needs root, setpriv, and a library that others can read: root without CAP_SYS_RESOURCE"
fi

# it ends while it is attached to
for i in 1 2 3 4 5 6; do
	"$B/hosts/busy" 1000000 >/dev/null &
	host=$!
	wait_for burns 5
	"$B/tailor" attach --inject -q -e "$plain" -o "$dir/t5.tlr" $host 2>"$dir/err" &
	recorder=$!
	sleep "0.0$((RANDOM % 10))"
	{ kill -9 $host; wait $host; } 2>/dev/null
	wait_for recorder_ended || { echo "ends: the recorder does not end"; kill -9 $recorder; }
	wait $recorder
	status=$?
	[ $status = 0 ] || { [ $status = 1 ] && [ "$(grep -cE "$ended" "$dir/err")" = 1 ]; } ||
		fail "ends: exit $status, $(cat "$dir/err")"
done
finish
