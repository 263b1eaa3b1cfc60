#!/bin/bash
# SPDX-License-Identifier: MIT
# tailor attach --inject, at random moments, into hosts that are busy: they come to the same end as alone, and code that was there
# before is known by name.
. tests/live/begin.bash
TIMES=${TIMES:-3}       # of each host
ATTACHES=${ATTACHES:-3} # to each run of it: the first loads the agent, the others find it there
LENGTH=${LENGTH:-1} # of each run
HOSTS=${HOSTS:-replays engine luajit node recorders}
host=
trap 'kill -9 $host 2>/dev/null; rm -rf "$dir"' EXIT
ended='ended|there is no process'
burns() { t=$(awk '{ print $14 }' "/proc/$1/stat" 2>/dev/null); [ "${t:-999999}" -ge "$2" ]; } # PID TICKS of user time
wait_until_burns() { # TICKS: six seconds at most
	for _ in $(seq 300); do burns $host "$1" && break; sleep 0.02; done
}

check_host() { # NAME PATTERN TICKS COMMAND...: PATTERN of a name that must be in the report, or ''
	name=$1 pattern=$2 ticks=$3
	shift 3
	case " $HOSTS " in *" $name "*) ;; *) return ;; esac
	timeout 60 "$@" 2>/dev/null >"$dir/alone.out"
	alone=$?
	grep -v -e " ms$" -e "^  " "$dir/alone.out" >"$dir/alone"
	injected=0
	for i in $(seq "$TIMES"); do
		"$@" >"$dir/out" 2>/dev/null &
		host=$!
		at=$((ticks + RANDOM % 20))
		wait_until_burns $at
		timeout 60 "$B/tailor" attach --inject -q -d 1.2 -o "$dir/t.tlr" $host 2>"$dir/err"
		status=$?
		[ $status = 0 ] || fail "$name $i: attach --inject: expected exit 0, got $status: $(cat "$dir/err")"
		for k in $(seq 2 "$ATTACHES"); do
			sleep "0.0$((RANDOM % 10))"
			timeout 60 "$B/tailor" attach --inject -q -d 0.05 -o "$dir/more.tlr" $host 2>"$dir/err"
			status=$?
			[ $status = 1 ] && grep -qE "$ended" "$dir/err" && break
			[ $status = 0 ] || fail "$name $i, attach $k: expected exit 0, got $status: $(cat "$dir/err")"
			injected=$((injected + 1))
		done
		for _ in $(seq 600); do kill -0 $host 2>/dev/null || break; sleep 0.1; done
		kill -9 $host 2>/dev/null && fail "$name $i: it hangs, at $at ticks"
		wait $host
		status=$?
		grep -v -e " ms$" -e "^  " "$dir/out" >"$dir/result"
		[ $status = $alone ] && cmp -s "$dir/result" "$dir/alone" ||
			fail "$name $i: exit $status, alone $alone; $(diff "$dir/alone" "$dir/result" | head -n 3)"
		"$B/tailor" dump "$dir/t.tlr" >"$dir/dump" || fail "$name $i: the trace cannot be read"
		grep -q ' GUEST ' "$dir/dump" || fail "$name $i: no agent said hello"
		[ $name = engine ] && { "$B/tailor" report --json "$dir/t.tlr" | /usr/bin/python3 -c '
import json, sys
jit = json.load(sys.stdin)["jit"]
sys.exit(not jit["samples"] >= 50 <= jit["named"] >= 0.95 * jit["samples"])' || fail "$name $i: expected names for 95 % of JIT samples"; }
		[ -z "$pattern" ] || grep -q "$pattern" "$dir/dump" || fail "$name $i: expected '$pattern' in the trace"
		injected=$((injected + 1))
	done
	echo "FIGURE $name: injected into $injected times"
}
check_host replays 'LOAD.*generated_before' 20 "$B/hosts/replays" $((9000 * LENGTH))
[ -x "$B/engine" ] && check_host engine 'COMPONENT.*group by' 60 "$B/engine" --query=q1 --repeat=$((1500 * LENGTH)) --scale=0.05 --threads=3
command -v luajit >/dev/null &&
	check_host luajit '' 20 luajit -e "local x = 0 for i = 1, 15e7 * $LENGTH do x = (x * 33 + i) % 1000003 end print(x)"
command -v node >/dev/null &&
	check_host node '' 20 node -e "let x = 0; for (let i = 0; i < 3e8 * $LENGTH; i++) x = (x * 33 + i) % 1000003; console.log(x)"


case " $HOSTS " in *" recorders "*) ;; *) exit $bad ;; esac

# one recorder after the other, and two at once
"$B/hosts/replays" 1000000 >/dev/null &
host=$!
wait_until_burns 20
for i in 1 2; do
	timeout 60 "$B/tailor" attach --inject -q -d 2.5 -o "$dir/t$i.tlr" $host 2>"$dir/err" || fail "recorder $i: $(cat "$dir/err")"
	"$B/tailor" dump "$dir/t$i.tlr" | grep -q 'LOAD.*generated_before' || fail "recorder $i: the host did not announce its code again"
done
timeout 60 "$B/tailor" attach --inject -q -d 4 -o "$dir/t3.tlr" $host &
first=$!
sleep 1
timeout 60 "$B/tailor" attach --inject -q -d 1 -o "$dir/t4.tlr" $host 2>"$dir/err"
[ $? = 1 ] && grep -q 'is being recorded already' "$dir/err" || fail "two at once: expected a sentence, got: $(cat "$dir/err")"
wait $first || fail "two at once: the first ended with $?"
kill -9 $host

# it ends while it is attached to
for i in 1 2 3 4 5 6; do
	"$B/hosts/busy" 1000000 >/dev/null &
	host=$!
	wait_until_burns 5
	timeout 60 "$B/tailor" attach --inject -q -d 1 -o "$dir/t5.tlr" $host 2>"$dir/err" &
	first=$!
	sleep "0.0$((RANDOM % 10))"
	kill -9 $host
	wait $first
	status=$?
	[ $status = 0 ] || { [ $status = 1 ] && [ "$(grep -cE "$ended" "$dir/err")" = 1 ]; } ||
		fail "ends: exit $status, $(cat "$dir/err")"
done
exit $bad
