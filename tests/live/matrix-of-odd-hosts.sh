#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that live in unusual ways (tests/hosts/odd.c), each recorded in every way that there is: they print and end as they do
# alone; the trace has its END; and the code that they announce, wherever they are by then, is in it.
. tests/live/begin.bash
nr=0 again=0
odd=$B/hosts/odd
rate=$(allowed_rate 2000)
chmod 711 "$dir"

# A forked child's first word finds no ear where the recorder does not get to run for 6 ms (agent/guest/README.md): the agent refuses it,
# and the host says so.  What the agent takes is in the trace, always.  A machine that is busy starves a recorder less often than every
# other time, so a first word that is refused in this many recordings in a row is refused for another reason: else 2^-22 = 2e-7.
TRIES=22

ended() { "$B/tailor" dump "$dir/t.tlr" >"$dir/dump" 2>/dev/null; grep -q ' END ' "$dir/dump"; }

record() { # HOW: one recording; returns 1 where the host's words were refused
	local status n refused
	rm -f "$dir/t.tlr"
	if [ "$1" = "preloaded alone" ]; then
		LD_PRELOAD=$B/libtailor.so TAILOR_OUTPUT=$dir/t.tlr timeout 300 "$odd" "$name" >"$dir/out" 2>"$dir/err"
	else
		# shellcheck disable=SC2086
		timeout 300 "$B/tailor" run -q --follow $1 -r "$rate" -o "$dir/t.tlr" -- "$odd" "$name" >"$dir/out" 2>"$dir/err"
	fi
	status=$?
	if [ $status != "$expected" ] || ! cmp -s "$dir/alone.out" "$dir/out"; then
		fail "$sentence, $1: expected exit $expected and its own output, got exit $status:" \
			"$(diff "$dir/alone.out" "$dir/out" | head -n 3)"
		sed 's/^/    /' "$dir/err" | head -n 5
	fi
	wait_for ended || echo "$sentence, $1: the trace has no END: $(tail -n 2 "$dir/dump")"
	n=$(grep -c " LOAD .*code_$name" "$dir/dump")
	refused=$(grep -c '^refused$' "$dir/err")
	nr=$((nr + 1))
	[ $((n + refused)) -ge "$heard" ] ||
		fail "$sentence, $1: expected to hear code_$name $heard times, heard it $n times (and the agent refused $refused)"
	[ "$refused" = 0 ]
}

while read -r name heard expected sentence; do
	before=$bad bad=0
	timeout 300 "$odd" "$name" >"$dir/alone.out" 2>"$dir/alone.err"
	alone=$?
	[ $alone = 77 ] && { echo "left out, because it cannot be made here: $sentence"; bad=$before; continue; }
	[ $alone = "$expected" ] || { fail "$sentence: alone: expected exit $expected, got $alone"; continue; }
	for how in "--scope cpu" "--scope thread" "--sampler signal" "--sampler timer" "preloaded alone"; do
		tries=1
		until record "$how"; do
			[ $tries -lt $TRIES ] || { fail "$sentence, $how: refused $tries times in a row: $(cat "$dir/err")"; break; }
			tries=$((tries + 1)) again=$((again + 1))
		done
	done
	[ $bad = 0 ] && echo "unchanged and heard: $sentence"
	bad=$((bad | before))
done < <("$odd" --list) 2>"$dir/shell" # (where the shell says what crashed)
echo "FIGURE $nr recordings of programs that live in unusual ways, $again of them again, behind a recorder that did not get to run"
finish
