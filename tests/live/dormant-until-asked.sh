#!/bin/bash
# SPDX-License-Identifier: MIT
# A dormant agent counts nothing and stays small; a recording that starts later knows everything since the process's start.
set -u
B=$1
dir=$(mktemp -d)
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$dir"' EXIT
tests/hosts/build.sh "$B" || exit 1
bad=0
fail() { echo "$@"; bad=1; }
ask() { timeout 60 "$B/tailor" "$@" >"$dir/out" 2>"$dir/err"; }
wait_for() {
	for _ in $(seq 300); do
		"$@" && return 0
		sleep 0.1
	done
	fail "never came true: $*"
	return 1
}
burns() { [ "$(awk '{ print $14 }' "/proc/$1/stat" 2>/dev/null)" -ge "$2" ]; } # PID TICKS of user time
dormant() { # COMMAND...: its pid is $host, run's $run, its output $dir/host.out
	"$B/tailor" run --dormant -- "$@" >"$dir/host.out" 2>"$dir/host.err" &
	run=$!
	pids+=($run)
	wait_for pgrep -P $run >/dev/null
	host=$(pgrep -P $run | head -n 1)
	pids+=("$host")
}
says() { # PATTERN STATUS ARGUMENTS...
	ask "${@:3}"
	status=$?
	[ $status = "$2" ] || fail "tailor ${*:3}: expected exit $2, got $status: $(cat "$dir/err")"
	cat "$dir/out" "$dir/err" | grep -qE "$1" || fail "tailor ${*:3}: expected '$1', got: $(cat "$dir/out" "$dir/err")"
}
named() { # NAME TRACE LEAST: JIT samples, 95 % with a name
	"$B/tailor" report --json "$2" >"$dir/json" || fail "$1: no report"
	NAME=$1 LEAST=$3 /usr/bin/python3 - "$dir/json" <<'PYTHON' || bad=1
import json, os, sys
r = json.load(open(sys.argv[1]))
jit, name, least = r["jit"], os.environ["NAME"], int(os.environ["LEAST"])
print(f"FIGURE {name}: {r['samples']['total']} samples, {jit['samples']} in JIT code, {jit['named']} named")
if jit["samples"] < least or jit["named"] < 0.95 * jit["samples"]:
    sys.exit(f"{name}: expected {least} samples in JIT code or more, 95 % of them named")
PYTHON
}

# ------------------------------------------------------------------------------- small, whatever comes and goes; silent
PAIRS=10000000
dormant "$B/hosts/unloads" $PAIRS 8
wait_for grep -q dropped "$dir/host.out"
echo "FIGURE dormant, $PAIRS loads and unloads: $(cat "$dir/host.out")"
grown=$(sed 's/.*grown_kib //' "$dir/host.out")
[ "$grown" -le 16384 ] || fail "the host grew by $grown KiB, expected 16384 at most"
says 'is dormant: [0-9]* registrations of 1 process are known \(0\.[0-9] MiB\)' 0 status "$host"
[ "$(grep -oE '[0-9]+ registrations' "$dir/out" | tr -dc 0-9)" -ge 1000 ] || fail "its 1000 functions are not known: $(cat "$dir/out")"
if command -v strace >/dev/null; then
	timeout 2 strace -qq -f -o "$dir/strace" -p "$host" 2>/dev/null
	grep -q '(' "$dir/strace" && fail "system calls of a host that makes none: $(head -n 3 "$dir/strace")"
fi
says "process $host is recorded into $dir/a.tlr" 0 start -o "$dir/a.tlr" "$host"
says 'is recorded into .*a.tlr, for' 0 status "$host"
says 'is being recorded already, into .*a.tlr; `tailor stop`' 1 start -o "$dir/b.tlr" "$host"
sleep 0.7
says '[0-9]* samples of 1 process in .*a.tlr' 0 stop "$host"
says 'is not being recorded' 1 stop "$host"
named "dormant, then started" "$dir/a.tlr" 1000
says "no event 'nonsense'" 1 start -e nonsense -o "$dir/c.tlr" "$host"
[ -e "$dir/c.tlr" ] && fail "a recording that did not start left a trace behind"
says 'the trace cannot be written' 1 start -o /no/such/folder/t.tlr "$host"
says 'must|from 1 to' 2 start -r 0 "$host"
(cd "$dir" && says 'samples of 1 process in' 0 attach -d 0.7 -o attached.tlr "$host") || bad=1
named "dormant, then attached" "$dir/attached.tlr" 1000
"$B/tailor" dump "$dir/attached.tlr" | grep -q ' LOSS ' && fail "losses: $("$B/tailor" dump "$dir/attached.tlr" | grep ' LOSS ')"
wait $run
status=$?
[ $status = 0 ] || fail "unloads: run's exit status: expected 0, got $status: $(cat "$dir/host.err")"
[ -s "$dir/host.err" ] && fail "a dormant run is not silent: $(cat "$dir/host.err")"
says 'no process' 1 status "$host"

# --------------------------------------------------------------------------- the dictionary, in the middle of a query
if [ -x "$B/engine" ]; then
	dormant "$B/engine" --query fig9 --scale 0.05 --repeat 4000 --threads 2
	wait_for burns "$host" 150
	says 'is recorded into' 0 start -o "$dir/engine.tlr" "$host"
	sleep 1.5
	says 'samples of' 0 stop "$host"
	kill "$host"
	wait $run 2>/dev/null
	"$B/tailor" report --json "$dir/engine.tlr" >"$dir/json"
	/usr/bin/python3 - "$dir/json" <<'PYTHON' || bad=1
import json, sys
r = json.load(open(sys.argv[1]))
s = r["samples"]
print(f"FIGURE engine, recorded in the middle: {s['total']} samples, {100 * s['attributed'] / s['total']:.2f} % attributed")
if s["total"] < 5000 or s["attributed"] < 0.85 * s["total"]:
    sys.exit(f"expected 5000 samples or more, and 85 % of them attributed: {s} {r['reasons']}")
PYTHON
fi

# ------------------------------------------------------- a child runs what its parent had compiled before the recording
if /usr/bin/python3 -c 'import numba' 2>/dev/null; then
	cat >"$dir/fork.py" <<'PYTHON'
import os, time
from numba import njit
@njit
def work(n):
    x = 1
    for i in range(n):
        x = (x * 31 + i) % 1000003
    return x
work(10)
pid = os.fork()
end = time.monotonic() + 12
while time.monotonic() < end:
    work(1000000)
if pid:
    os.waitpid(pid, 0)
PYTHON
	dormant /usr/bin/python3 "$dir/fork.py"
	wait_for pgrep -P "$host" >/dev/null
	wait_for burns "$(pgrep -P "$host")" 20
	says 'is recorded into' 0 start -o "$dir/fork.tlr" "$host"
	sleep 1
	says 'samples of 2 processes' 0 stop "$host"
	pids+=("$(pgrep -P "$host")")
	kill -9 "$(pgrep -P "$host")" "$host"
	wait $run 2>/dev/null
	named "parent and child" "$dir/fork.tlr" 1000
	n=$(/usr/bin/python3 - "$dir/json" <<'PYTHON'
import json, sys
print(sum(p["samples"] > 500 for p in json.load(open(sys.argv[1]))["processes"]))
PYTHON
	)
	[ "$n" = 2 ] || fail "fork: expected two processes with samples, got $n"
fi

# ----------------------------------------------------------------------------------------------------- preloaded alone
mkdir "$dir/empty"
(cd "$dir/empty" && TAILOR_DORMANT=1 LD_PRELOAD=$B/libtailor.so exec "$B/hosts/unloads" 1000 6) >"$dir/host.out" 2>"$dir/host.err" &
host=$!
pids+=($host)
wait_for grep -q dropped "$dir/host.out"
says 'is dormant: ' 0 status $host
says 'is recorded into' 0 start -r 5000 -o "$dir/alone.tlr" $host
sleep 0.7
says 'samples of 1 process' 0 stop $host
named "dormant alone" "$dir/alone.tlr" 500
says 'is recorded into' 0 start -o "$dir/end.tlr" $host # and the host ends meanwhile
wait $host || fail "preloaded alone: exit $?"
wait_for sh -c "'$B/tailor' dump '$dir/end.tlr' 2>/dev/null | grep -q ' END '"
[ -s "$dir/host.err" ] && fail "preloaded alone: not silent: $(cat "$dir/host.err")"
[ -n "$(ls "$dir/empty")" ] && fail "a dormant recorder wrote a trace that nobody asked for: $(ls "$dir/empty")"

"$B/hosts/busy" 1000000 >/dev/null &
pids+=($!)
says 'has no recorder: it was started neither by' 1 start $!
exit $bad
