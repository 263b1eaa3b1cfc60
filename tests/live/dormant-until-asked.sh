#!/bin/bash
# SPDX-License-Identifier: MIT
# A dormant agent counts nothing and stays small; a recording that starts later knows everything since the process's start.
. tests/live/begin.bash
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$dir"' EXIT
plain=$(plain_event)
ask() { timeout 300 "$B/tailor" "$@" >"$dir/out" 2>"$dir/err"; }
burns() { local t; t=$(awk '{ print $14 }' "/proc/$1/stat") && [ "$t" -ge "$2" ]; } # PID TICKS of user time
child_of() { child=$(pgrep -P "$1" | head -n 1) && [ -n "$child" ]; }
dormant() { # COMMAND...: its pid is $host, run's $run, its output $dir/host.out
	"$B/tailor" run --dormant -- "$@" >"$dir/host.out" 2>"$dir/host.err" &
	run=$!
	pids+=($run)
	wait_for child_of $run || exit 1
	host=$child
	pids+=("$host")
}
says() { # PATTERN STATUS ARGUMENTS...
	ask "${@:3}"
	status=$?
	[ $status = "$2" ] || fail "tailor ${*:3}: expected exit $2, got $status: $(cat "$dir/err")"
	cat "$dir/out" "$dir/err" | grep -qE "$1" || fail "tailor ${*:3}: expected '$1', got: $(cat "$dir/out" "$dir/err")"
}
# A recording of $host between start and stop: leaves the numbers of samples in $total, $jit (in JIT code) and $named (of those, with a
# name), and the report in $dir/json.
between() { # TRACE SAYS SECONDS [OPTION...]: SAYS is what `tailor stop` does
	says "process $host is being recorded into $1" 0 start -e "$plain" -o "$1" "${@:4}" "$host"
	sleep "$3"
	says "$2" 0 stop "$host"
	look_at "$1"
}
look_at() { # TRACE
	"$B/tailor" report --json "$1" >"$dir/json" || fail "no report of $1"
	read -r total jit named < <(/usr/bin/python3 -c '
import json, sys
r = json.load(sys.stdin)
print(r["samples"]["total"], r["jit"]["samples"], r["jit"]["named"])' <"$dir/json")
}
# What is announced before a recording has its name in all of it, so 95 % is no estimate: every sample has one, or those of whole
# functions have none.
all_are_named() { # NAME
	echo "FIGURE $1: $total samples, $jit in JIT code, $named named"
	[ $((100 * named)) -ge $((95 * jit)) ] || fail "$1: expected names for 95 % of the samples in JIT code, got $named of $jit"
}

# ------------------------------------------------------------------------------- small, whatever comes and goes; silent
PAIRS=10000000
dormant "$B/hosts/unloads" $PAIRS until-SIGTERM
wait_for grep -q dropped "$dir/host.out"
echo "FIGURE dormant, $PAIRS loads and unloads: $(cat "$dir/host.out")"
grown=$(sed 's/.*grown_kib //' "$dir/host.out")
[ "$grown" -le 16384 ] || fail "the host grew by $grown KiB, expected 16384 at most"
known=
is_drained() { # the recorder has heard all: at two looks it knows as many
	local before=$known
	ask status "$host"
	known=$(grep -oE '[0-9]+ registrations' "$dir/out" | tr -dc 0-9)
	[ "${known:-0}" -ge 1000 ] && [ "$known" = "$before" ]
}
wait_for is_drained || fail "its 1000 functions are not known: $(cat "$dir/out")"
says 'is dormant: [0-9]* registrations of 1 process \(0\.[0-9] MiB\)' 0 status "$host"
if command -v strace >/dev/null; then
	timeout 2 strace -qq -f -o "$dir/strace" -p "$host" 2>/dev/null
	grep -q '(' "$dir/strace" && fail "system calls of a host that makes none: $(head -n 3 "$dir/strace")"
fi
says "process $host is being recorded into $dir/a.tlr" 0 start -e "$plain" -o "$dir/a.tlr" "$host"
says 'is being recorded into .*a.tlr: ' 0 status "$host"
says 'is already being recorded into .*a.tlr; end that recording with `tailor stop`' 1 start -o "$dir/b.tlr" "$host"
says '[0-9]* samples of 1 process in .*a.tlr' 0 stop "$host"
says 'is not being recorded' 1 stop "$host"
says '1000000 samples per second unavailable \(limit of ' 0 start -e "$plain" -r 1000000 -o "$dir/a.tlr" "$host" # the host prints no notice
says '[0-9]* samples of 1 process in .*a.tlr' 0 stop "$host"
started() { between "$dir/a.tlr" '[0-9]* samples of 1 process in .*a.tlr' "$1"; n=$jit; }
gather 1000 started && all_are_named "dormant, then started"
says "unknown event 'nonsense'" 1 start -e nonsense -o "$dir/c.tlr" "$host"
[ -e "$dir/c.tlr" ] && fail "a recording that did not start left a trace behind"
says 'cannot be written' 1 start -o /no/such/folder/t.tlr "$host"
says 'must|from 1 to' 2 start -r 0 "$host"
attached() { # SECONDS; the recording is written where it was asked for
	rm -f "$dir/attached.tlr"
	cd "$dir" || return
	says 'samples of 1 process in' 0 attach -e "$plain" -d "$1" -o attached.tlr "$host"
	cd "$OLDPWD" || return
	look_at "$dir/attached.tlr"
	n=$jit
	"$B/tailor" dump "$dir/attached.tlr" | grep ' LOSS ' | grep -vE 'reason="(throttled|ring full)"' >"$dir/losses" && # (of samples)
		fail "losses: $(cat "$dir/losses")"
}
gather 1000 attached && all_are_named "dormant, then attached"
# a recording of epochs, and then one without
says "process $host is being recorded into $dir/e.tlr" 0 start -e "$plain" --epochs 60m -o "$dir/e.tlr" "$host"
says '[0-9]* samples of 1 process in .*e.000001.tlr' 0 stop "$host"
rm -f "$dir/b.tlr"
says "process $host is being recorded into $dir/b.tlr" 0 start -e "$plain" -o "$dir/b.tlr" "$host"
says '[0-9]* samples of 1 process in .*/b.tlr' 0 stop "$host"
[ -s "$dir/b.tlr" ] || fail "after a recording of epochs: expected $dir/b.tlr, got: $(ls "$dir")"
kill -TERM "$host"
wait $run
status=$?
[ $status = 0 ] || fail "unloads: run's exit status: expected 0, got $status: $(cat "$dir/host.err")"
[ -s "$dir/host.err" ] && fail "a dormant run is not silent: $(cat "$dir/host.err")"
says 'no such process' 1 status "$host"

# --------------------------------------------------------------------------- the dictionary, in the middle of a query
if [ -x "$B/engine" ]; then
	dormant "$B/engine" --query fig9 --scale 0.05 --repeat 1000000 --threads 2
	wait_for burns "$host" 150
	seconds=0.3
	# Agrees: of the run phase 95 % and more are attributed, since its kernel's samples are few and what else it runs has tags; whatever
	# the engine does between runs does not count.  Had the recording not got the dictionary, hardly any sample would be, in any
	# block.
	in_the_middle() {
		between "$dir/engine.tlr" 'samples of' $seconds
		/usr/bin/python3 - "$dir/json" <<'PYTHON'
import json, sys
r = json.load(open(sys.argv[1]))["run"]
n, of = r["samples"], r["reasons"]
attributed = n - sum(of.values())
print(f"{n} samples in the run phase, {100 * attributed / max(n, 1):.2f} % attributed; of the others {of}")
sys.exit(77 if n < 500 else attributed < 0.85 * n)
PYTHON
		status=$?
		[ $status != 77 ] || seconds=$(awk "BEGIN { print 2 * $seconds }")
		return $status
	}
	decide --sure "recorded in the middle of a query, 85 % of the samples are attributed" in_the_middle
	kill "$host"
	wait $run 2>/dev/null
fi

# ------------------------------------------------------- a child runs what its parent had compiled before the recording
if /usr/bin/python3 -c 'import numba' 2>/dev/null; then
	cat >"$dir/fork.py" <<'PYTHON'
import os
from numba import njit
@njit
def work(n):
    x = 1
    for i in range(n):
        x = (x * 31 + i) % 1000003
    return x
work(10)
os.fork()
while True:
    work(1000000)
PYTHON
	dormant /usr/bin/python3 "$dir/fork.py"
	wait_for child_of "$host" || exit 1
	pids+=("$child")
	wait_for burns "$child" 20
	both() { # SECONDS; the process that has fewer samples counts
		between "$dir/fork.tlr" 'samples of 2 processes' "$1"
		n=$(/usr/bin/python3 -c 'import json, sys
print((sorted((p["samples"] for p in json.load(sys.stdin)["processes"]), reverse=True) + [0, 0])[1])' <"$dir/json")
	}
	gather 500 both && all_are_named "parent and child"
	{ kill -9 "$child" "$host"; wait $run; } 2>/dev/null
fi

# ----------------------------------------------------------------------------------------------------- preloaded alone
mkdir "$dir/empty"
(cd "$dir/empty" && TAILOR_DORMANT=1 LD_PRELOAD=$B/libtailor.so exec "$B/hosts/unloads" 1000 until-SIGTERM) \
	>"$dir/host.out" 2>"$dir/host.err" &
host=$!
pids+=($host)
wait_for grep -q dropped "$dir/host.out"
says 'is dormant: ' 0 status $host
alone() { between "$dir/alone.tlr" 'samples of 1 process' "$1" -r "$(allowed_rate 5000)"; n=$jit; }
gather 500 alone && all_are_named "dormant alone"
says 'is being recorded into' 0 start -e "$plain" -o "$dir/end.tlr" $host # and the host ends meanwhile
kill -TERM $host
wait $host || fail "preloaded alone: exit $?"
has_end() { "$B/tailor" dump "$dir/end.tlr" 2>/dev/null | grep -q ' END '; }
wait_for has_end
[ -s "$dir/host.err" ] && fail "preloaded alone: not silent: $(cat "$dir/host.err")"
[ -n "$(ls "$dir/empty")" ] && fail "a dormant recorder wrote a trace that nobody asked for: $(ls "$dir/empty")"

"$B/hosts/busy" 1000000 >/dev/null &
pids+=($!)
itself() { [ "$(readlink /proc/$!/exe)" = "$B/hosts/busy" ]; }
wait_for itself
says 'has no recorder: it was started without' 1 start $!
finish
