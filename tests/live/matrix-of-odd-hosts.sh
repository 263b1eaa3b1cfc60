#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs that live in unusual ways (tests/hosts/odd.c), each recorded in every way that there is: they print and end as they do
# alone, within their time; the trace has its END; and the code that they announce, wherever they are by then, is in it.
. tests/live/begin.bash
nr=0
odd=$B/hosts/odd
chmod 711 "$dir"

check() { # HOW STATUS TRACE
	if [ "$2" != "$status" ] || ! cmp -s "$dir/alone.out" "$dir/out"; then
		echo "$sentence, $1: expected exit $status and its own output, got exit $2: $(diff "$dir/alone.out" "$dir/out" | head -n 3)"
		sed 's/^/    /' "$dir/err" | head -n 5
		wrong=1
	fi
	for _ in $(seq 100); do
		"$B/tailor" dump "$3" >"$dir/dump" 2>/dev/null
		grep -q ' END ' "$dir/dump" && break
		sleep 0.1
	done
	grep -q ' END ' "$dir/dump" || { echo "$sentence, $1: the trace has no END: $(tail -n 2 "$dir/dump")"; wrong=1; }
	n=$(grep -c " LOAD .*code_$name" "$dir/dump")
	if [ "$n" -lt "$heard" ]; then
		echo "$sentence, $1: expected to hear code_$name $heard times, heard it $n times"
		wrong=1
	fi
	nr=$((nr + 1))
}

while read -r name heard status sentence; do
	timeout 60 "$odd" "$name" >"$dir/alone.out" 2>"$dir/alone.err"
	alone=$?
	[ $alone = 77 ] && { echo "left out, because it cannot be made here: $sentence"; continue; }
	[ $alone = "$status" ] || { echo "$sentence: alone: expected exit $status, got $alone"; bad=1; continue; }
	wrong=0
	for how in "--scope cpu" "--scope thread" "--sampler signal" "--sampler timer"; do
		rm -f "$dir/t.tlr"
		# shellcheck disable=SC2086
		timeout 60 "$B/tailor" run -q --follow $how -r 2000 -o "$dir/t.tlr" -- "$odd" "$name" >"$dir/out" 2>"$dir/err"
		check "$how" $? "$dir/t.tlr"
	done
	rm -f "$dir/p.tlr"
	LD_PRELOAD=$B/libtailor.so TAILOR_OUTPUT=$dir/p.tlr timeout 60 "$odd" "$name" >"$dir/out" 2>"$dir/err"
	check "preloaded alone" $? "$dir/p.tlr"
	[ $wrong = 0 ] && echo "unchanged and heard: $sentence" || bad=1
done < <("$odd" --list)
echo "FIGURE $nr recordings of programs that live in unusual ways"
exit $bad
