#!/bin/bash
# SPDX-License-Identifier: MIT
# tailor attach --inject, at random moments, into hosts that are busy: they come to the same end as alone, and code that was there
# before is known by name.  What cannot be injected into safely is refused in one sentence, and runs on.
set -u
B=$1
TIMES=${TIMES:-3} # of each host
dir=$(mktemp -d)
host=
trap 'kill -9 $host 2>/dev/null; rm -rf "$dir"' EXIT
tests/hosts/build.sh "$B" || exit 1
bad=0
fail() { echo "$@"; bad=1; }
burns() { t=$(awk '{ print $14 }' "/proc/$1/stat" 2>/dev/null); [ "${t:-999999}" -ge "$2" ]; } # PID TICKS of user time

check_host() { # NAME PATTERN TICKS COMMAND...: PATTERN of a name that must be in the report, or ''
	name=$1 pattern=$2 ticks=$3
	shift 3
	timeout 60 "$@" 2>/dev/null >"$dir/alone.out"
	alone=$?
	grep -v " ms$" "$dir/alone.out" | sort >"$dir/alone"
	injected=0
	for i in $(seq "$TIMES"); do
		"$@" >"$dir/out" 2>/dev/null &
		host=$!
		at=$((ticks + RANDOM % 20))
		for _ in $(seq 300); do burns $host $at && break; sleep 0.02; done
		timeout 60 "$B/tailor" attach --inject -q -d 1.2 -o "$dir/t.tlr" $host 2>"$dir/err"
		status=$?
		[ $status = 0 ] || fail "$name $i: attach --inject: expected exit 0, got $status: $(cat "$dir/err")"
		for _ in $(seq 600); do kill -0 $host 2>/dev/null || break; sleep 0.1; done
		kill -9 $host 2>/dev/null && fail "$name $i: it hangs, at $at ticks"
		wait $host
		status=$?
		grep -v " ms$" "$dir/out" | sort >"$dir/result"
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
check_host replays 'LOAD.*generated_before' 20 "$B/hosts/replays" 9000
[ -x "$B/engine" ] && check_host engine '' 60 "$B/engine" --query=q1 --repeat=1500 --scale=0.05 --threads=3
command -v luajit >/dev/null && check_host luajit '' 20 luajit -e 'local x = 0 for i = 1, 15e7 do x = (x * 33 + i) % 1000003 end print(x)'
command -v node >/dev/null &&
	check_host node '' 20 node -e 'let x = 0; for (let i = 0; i < 3e8; i++) x = (x * 33 + i) % 1000003; console.log(x)'

refused() { # NAME PATTERN COMMAND...
	"${@:3}" >/dev/null 2>&1 &
	host=$!
	sleep 0.3
	timeout 60 "$B/tailor" attach --inject -q -d 0.2 -o "$dir/no.tlr" $host 2>"$dir/err"
	status=$?
	[ $status = 1 ] || fail "$1: expected exit 1, got $status: $(cat "$dir/err")"
	grep -qE "^tailor attach: .*$2" "$dir/err" || fail "$1: expected a sentence with '$2', got: $(cat "$dir/err")"
	[ "$(wc -l <"$dir/err")" = 1 ] || fail "$1: expected one sentence: $(cat "$dir/err")"
	[ -e "$dir/no.tlr" ] && fail "$1: left a trace behind"
	kill -0 $host 2>/dev/null || fail "$1: the host does not run any more"
	kill -9 $host
	wait $host 2>/dev/null
}
[ -x "$B/hosts/busy-static" ] && refused static 'linked statically' "$B/hosts/busy-static" 1000000
[ -x "$B/hosts/busy-32" ] && refused 32 'is a 32-bit program' "$B/hosts/busy-32" 1000000
refused preloaded 'has the agent already' env TAILOR_OFF=1 "LD_PRELOAD=$B/libtailor.so" "$B/hosts/busy" 1000000
refused seccomp 'forbids itself system calls' /usr/bin/python3 -c '
import ctypes, time
libc = ctypes.CDLL(None)
class Program(ctypes.Structure):
    _fields_ = [("n", ctypes.c_ushort), ("code", ctypes.c_void_p)]
allow = (ctypes.c_uint64 * 1)(0x7fff000000000006)
libc.prctl(38, 1, 0, 0, 0)
libc.prctl(22, 2, ctypes.byref(Program(1, ctypes.addressof(allow))))
while True:
    pass'
exit $bad
