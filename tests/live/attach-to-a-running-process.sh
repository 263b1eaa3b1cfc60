#!/bin/bash
# SPDX-License-Identifier: MIT
# tailor attach: processes that run already and have no agent are recorded from outside, with the names of what their JIT
# generated; they notice nothing; and what cannot be attached to is refused in one sentence.
set -u
B=$1
dir=$(mktemp -d)
hosts=()
trap 'kill -9 "${hosts[@]}" 2>/dev/null; rm -rf "$dir"' EXIT
tests/hosts/build.sh "$B" || exit 1
chmod 755 "$dir"
bad=0
fail() { echo "$@"; bad=1; }
attach() { timeout 120 "$B/tailor" attach "$@" >"$dir/out" 2>"$dir/err"; }
start() { # COMMAND...: in the background; its pid is $host, its output $dir/host.out
	"$@" >"$dir/host.out" 2>"$dir/host.err" &
	host=$!
	hosts+=($host)
}
wait_for() { # CONDITION...: 30 s at most
	for _ in $(seq 300); do
		"$@" && return 0
		sleep 0.1
	done
	fail "never came true: $*"
	return 1
}
burns() { [ "$(awk '{ print $14 }' "/proc/$1/stat" 2>/dev/null)" -ge "$2" ]; } # PID TICKS of user time

# ------------------------------------------------------------------------------------------ generated code has names
check_jit() { # NAME TICKS COMMAND...
	name=$1 ticks=$2
	shift 2
	"$@" >"$dir/alone.out" 2>/dev/null
	alone=$?
	start "$@"
	wait_for burns "$host" "$ticks" || return
	attach -d 1.5 -o "$dir/$name.tlr" "$host"
	status=$?
	[ $status = 0 ] || fail "$name: attach: expected exit 0, got $status: $(cat "$dir/err")"
	kill -0 "$host" 2>/dev/null || fail "$name: the host does not run any more"
	wait "$host"
	status=$?
	[ $status = $alone ] && cmp -s "$dir/alone.out" "$dir/host.out" ||
		fail "$name: attached to: exit $status, else $alone; outputs: $(diff "$dir/alone.out" "$dir/host.out" | head -n 3)"
	"$B/tailor" report --json "$dir/$name.tlr" >"$dir/json" || fail "$name: no report"
	NAME=$name /usr/bin/python3 - "$dir/json" <<'PYTHON' || bad=1
import json, os, sys
r = json.load(open(sys.argv[1]))
jit, name = r["jit"], os.environ["NAME"]
n = jit["samples"]
print(f"FIGURE attached to {name}: {r['samples']['total']} samples, {n} in JIT code, {100 * jit['named'] / max(n, 1):.2f} % named")
if n < 2000 or jit["named"] < 0.95 * n or n < 0.5 * r["samples"]["total"]:
    sys.exit(f"{name}: expected 2000 samples in JIT code or more, half of all, and 95 % of them named: {jit}, {r['samples']}")
PYTHON
}
if command -v lli-14 >/dev/null && [ -e "$B/hosts/seconds.bc" ]; then
	check_jit lli 60 lli-14 --jit-kind=mcjit "$B/hosts/seconds.bc" 4 two
fi
if /usr/bin/python3 -c 'import numba' 2>/dev/null; then
	check_jit numba 250 /usr/bin/python3 tests/hosts/numba_host.py 6
	# what is loaded and generated after the attach: LLVM itself is, too
	check_jit numba-from-its-start 5 /usr/bin/python3 tests/hosts/numba_host.py "${SAN:+1}1.5" # a sanitized recorder is slow
fi
if command -v node >/dev/null; then
	# (it leaves a log of its own where it runs)
	check_jit node 60 env -C "$dir" node --perf-basic-prof "$PWD/tests/hosts/jits/fib.js" 4 "$dir/rounds"
	rm -f "/tmp/perf-$host.map"
fi

# ---------------------------------------------------------- each thread is counted once, whoever made it, and whenever
start "$B/hosts/churn" "${SAN:+3}5" 10 4
sleep 0.3
attach -d 2 -e task-clock --period 100000 --stack 0 -o "$dir/churn.tlr" "$host" || fail "churn: $(cat "$dir/err")"
kill -0 "$host" 2>/dev/null || fail "churn: the host does not run any more"
"$B/tailor" report --json "$dir/churn.tlr" >"$dir/json"
/usr/bin/python3 - "$dir/json" <<'PYTHON' || bad=1
import json, sys
n = sorted(t["samples"] for t in json.load(open(sys.argv[1]))["threads"])
# a thread's 4 ms are 40 samples; those that ran at the begin and the end have fewer, as have the ten that only wait
whole = [x for x in n if 30 <= x <= 60]
print(f"FIGURE churn: {len(n)} threads, {len(whole)} of them from begin to end, at most {n[-1]} samples of 40")
if n[-1] > 60:
    sys.exit(f"a thread was counted more than once: {n[-1]} samples, 40 expected")
if len(whole) < 0.6 * len(n):
    sys.exit(f"threads were missed: {n}")
PYTHON

# ------------------------------------------------------------------------------ an end by signal leaves a whole trace
for signal in INT TERM; do
	"$B/tailor" attach -q -o "$dir/signal.tlr" "$host" 2>"$dir/err" &
	recorder=$!
	wait_for test -s "$dir/signal.tlr"
	sleep 0.3
	kill -$signal $recorder
	wait $recorder
	status=$?
	[ $status = 0 ] || fail "SIG$signal: expected exit 0, got $status: $(cat "$dir/err")"
	"$B/tailor" dump "$dir/signal.tlr" | grep -q ' END ' || fail "SIG$signal: the trace has no END"
	kill -0 "$host" 2>/dev/null || fail "SIG$signal: it hit the host"
done

# --------------------------------------------------------------------------------------------------------- bad input
refused() { # NAME STATUS PATTERN ARGUMENTS...
	rm -f "$dir/no.tlr"
	attach -d 0.2 -o "$dir/no.tlr" "${@:4}"
	status=$?
	[ $status = "$2" ] || fail "$1: expected exit $2, got $status: $(cat "$dir/err")"
	grep -qE "^tailor attach: .*$3" "$dir/err" || fail "$1: expected a sentence with '$3', got: $(cat "$dir/err")"
	[ "$2" = 2 ] || [ "$(wc -l <"$dir/err")" = 1 ] || fail "$1: expected one sentence: $(cat "$dir/err")"
	[ -e "$dir/no.tlr" ] && fail "$1: left a trace behind"
}
start "$B/hosts/busy" 1000000
busy=$host
refused "no process" 1 'there is no process 4194304' 4194304
refused "not a number" 2 "'sh' is not the number of a process" sh
refused "nothing" 2 'which process'
refused "two processes" 2 'more than one process' "$busy" 1
refused "negative duration" 2 'number of seconds above 0' -d -1 "$busy"
refused "scope thread" 2 'needs the agent' --scope thread "$busy"
refused "no such event" 2 "no event 'nonsense'" -e nonsense "$busy"
refused "no folder" 1 'No such file' -o "$dir/no/such.tlr" "$busy"
start "$B/hosts/churn" 30 1 20
a_thread() { thread=$(ls "/proc/$host/task" | grep -v "^$host$" | head -n 1) && [ -n "$thread" ]; }
wait_for a_thread
refused "a thread" 1 "is a thread of process $host" "$thread"
bash -c 'sleep 0.1 & exec sleep 30' &
hosts+=($!)
zombie=
for _ in $(seq 50); do zombie=$(pgrep -P $!) && grep -q 'State:.Z' "/proc/$zombie/status" 2>/dev/null && break; sleep 0.1; done
refused "a zombie" 1 'has ended' "$zombie"
kernel=$(pgrep -x kthreadd) && refused "a kernel thread" 1 'thread of the kernel' "$kernel"

"$B/tailor" attach -q -o "$dir/first.tlr" "$busy" &
recorder=$!
wait_for test -s "$dir/first.tlr"
refused "two recorders" 1 'recorded already by another' "$busy"
kill -INT $recorder
wait $recorder || fail "the first recorder was disturbed"

"$B/tailor" run -q -o "$dir/run.tlr" -- "$B/hosts/busy" 100000 >/dev/null &
recorder=$!
wait_for test -s "$dir/run.tlr"
wait_for pgrep -P $recorder -x busy >/dev/null
inner=$(pgrep -P $recorder -x busy)
wait_for grep -q libtailor "/proc/$inner/maps"
refused "recorded by run" 1 'is being recorded already, into .*run.tlr; that ends with its command' "$inner"
kill -9 "$inner"
wait $recorder

recorded() { # NAME PATTERN PID: with a notice or without ('')
	attach -d 0.5 -o "$dir/yes.tlr" "$3"
	status=$?
	[ $status = 0 ] || fail "$1: expected exit 0, got $status: $(cat "$dir/err")"
	grep -qE "$2" "$dir/err" || fail "$1: expected '$2' in: $(cat "$dir/err")"
	n=$("$B/tailor" dump "$dir/yes.tlr" | sed -n 's/.* END .*samples=\([0-9]*\).*/\1/p')
	[ "${n:-0}" -ge 100 ] || fail "$1: expected 100 samples or more, got '$n'"
	kill -0 "$3" 2>/dev/null || fail "$1: the host does not run any more"
}
start env TAILOR_SOCKET=tailor-1-stale "LD_PRELOAD=$B/libtailor.so" "$B/hosts/busy" 1000000
wait_for burns "$host" 5
recorded "a stale socket" 'samples of 1 process' "$host"
kill -9 "$host"
for kind in static 32; do
	[ -x "$B/hosts/busy-$kind" ] || continue
	start "$B/hosts/busy-$kind" 1000000
	wait_for burns "$host" 5 # it is itself by then, and not the shell any more
	recorded "$kind" "$([ $kind = 32 ] && echo 'is a 32-bit program' || echo 'samples of 1 process')" "$host"
	kill -9 "$host"
done
if unshare -p -f true 2>/dev/null; then
	start unshare -p -f --kill-child "$B/hosts/busy" 1000000
	wait_for pgrep -P "$host" -x busy >/dev/null
	recorded "another namespace" 'samples of 1 process' "$(pgrep -P "$host" -x busy)"
	kill -9 "$host"
fi
/usr/bin/python3 - "$busy" <<'PYTHON' &
import ctypes, os, sys, time
libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
if libc.ptrace(0x4206, int(sys.argv[1]), None, None):  # PTRACE_SEIZE
    sys.exit(1)
time.sleep(60)
PYTHON
tracer=$!
hosts+=($tracer)
for _ in $(seq 50); do grep -q "TracerPid:.$tracer" "/proc/$busy/status" && break; sleep 0.1; done
if grep -q "TracerPid:.$tracer" "/proc/$busy/status"; then
	recorded "traced" "is traced by process $tracer" "$busy"
fi
kill $tracer

if [ "$(id -u)" = 0 ]; then
	cp "$B/tailor" "$dir/tailor"
	install -d -o nobody "$dir/nobody"
	setpriv --reuid nobody --clear-groups timeout 60 "$dir/tailor" attach -d 0.2 -o "$dir/nobody/t.tlr" "$busy" 2>"$dir/err"
	status=$?
	[ $status = 1 ] && grep -q 'belongs to root; run tailor as that user' "$dir/err" ||
		fail "another user: exit $status: $(cat "$dir/err")"
	start setpriv --reuid nobody --clear-groups bash -c 'while :; do :; done'
	wait_for burns "$host" 10
	setpriv --reuid nobody --clear-groups timeout 60 "$dir/tailor" attach -d 0.5 -o "$dir/nobody/t.tlr" "$host" 2>"$dir/err" ||
		grep -q 'paranoid' "$dir/err" || fail "as nobody: $(cat "$dir/err")"
	kill -9 "$host"
fi

# processes that end just then: recorded or refused, and never anything else
ended=0
for _ in $(seq 40); do
	"$B/hosts/busy" 5 >/dev/null &
	hosts+=($!)
	attach -q -o "$dir/short.tlr" $!
	status=$?
	case $status in
	0) ;;
	1) ended=$((ended + 1)); grep -qE 'ended|no process' "$dir/err" || fail "ending: $(cat "$dir/err")" ;;
	*) fail "a process that ends: exit $status: $(cat "$dir/err")" ;;
	esac
done
exit $bad
