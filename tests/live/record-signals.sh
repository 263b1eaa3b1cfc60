#!/bin/bash
# SPDX-License-Identifier: MIT
# Signals: the terminal's reach the host by themselves and end nothing but it; one sent to `tailor run` alone is passed on.
# Either way the trace is complete and the exit status the host's.
. tests/live/begin.bash
tailor=
trap '[ -z "$tailor" ] || kill -9 -- -$tailor 2>/dev/null; rm -rf "$dir"' EXIT
HOST='trap "exit 9" INT TERM HUP QUIT; echo ready; while :; do :; done'
EVENT=$(plain_event)
RATE=$(allowed_rate 2000)
has() { "$B/tailor" dump "$dir/t.tlr" 2>/dev/null >"$dir/dump"; grep -q "$1" "$dir/dump"; }
ended() { case $(sed -n 's/^State:[[:space:]]*\(.\).*/\1/p' /proc/$tailor/status 2>/dev/null) in Z | '') ;; *) return 1 ;; esac; }
ready() { grep -q ready "$dir/out"; }
for signal in INT QUIT TERM HUP; do
	for to in group recorder; do
		rm -f "$dir/t.tlr"
		: >"$dir/out"
		# In a session of its own, with the signals' usual actions: who runs in the background ignores some.
		/usr/bin/python3 -c 'import os, signal, sys
for s in (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(s, signal.SIG_DFL)
os.setsid()
os.execvp(sys.argv[1], sys.argv[1:])' "$B/tailor" run -e "$EVENT" -r "$RATE" -o "$dir/t.tlr" -- bash -c "$HOST" >"$dir/out" 2>"$dir/err" &
		tailor=$!
		wait_for ready && wait_for has ' SAMPLES '
		[ $to = group ] && target=-$tailor || target=$tailor
		kill -s $signal -- $target
		wait_for ended || kill -9 -- -$tailor
		wait $tailor
		status=$?
		tailor=
		[ $status = 9 ] && has ' END ' && grep -q ' SAMPLES ' "$dir/dump" ||
			fail "SIG$signal to the $to: expected status 9 and a complete trace with samples, got status $status and" \
				"$(grep -c ' END ' "$dir/dump") END, $(grep -c ' SAMPLES ' "$dir/dump") SAMPLES: $(cat "$dir/err")"
	done
done
finish
