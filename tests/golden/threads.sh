#!/bin/bash
# SPDX-License-Identifier: MIT
# Reports are the same byte for byte with any number of threads (two of 2, 3 and 7, in turn; LONG=1: each), of whole traces and of
# damaged ones; and a plan is the same whether its rows stand for many samples or, because another view beside it looks at each, for one.
# Not quick: reports of large traces, some twenty times.
set -u
B=$1
[ -e "$B/bench/synthetic" ] || { echo "skipped, because $B/bench/synthetic has not been built (make table)"; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0 turn=0 left_out=(2 3 7)
timeout 60 "$B/bench/synthetic" 150000 500 "$dir/events.tlr" events marks &&
	timeout 60 "$B/bench/synthetic" 100000 50 "$dir/functions.tlr" functions &&
	timeout 60 "$B/bench/synthetic" 100000 100 "$dir/changes.tlr" changes &&
	timeout 60 "$B/bench/synthetic" 100000 50 "$dir/turns.tlr" events turns || exit 1

# The same trace with bytes changed, a chunk's head changed, a piece missing, a piece twice, and without its end.
/usr/bin/python3 - "$dir" <<'END' || exit 1
import sys
d = sys.argv[1]
whole = open(f"{d}/events.tlr", "rb").read()
chunks = []
at = 0
while (at := whole.find(b"TLRC", at)) >= 0:
    chunks.append(at)
    at += 4
def change(data, places):
    data = bytearray(data)
    for p in places:
        data[p] ^= 0xff
    return bytes(data)
body = [c + 40 for c in chunks]
open(f"{d}/bytes.tlr", "wb").write(change(whole, body[len(body) // 3 : len(body) // 2 : 3]))
open(f"{d}/every.tlr", "wb").write(change(whole, body[10::2]))
open(f"{d}/heads.tlr", "wb").write(change(whole, [c + 8 for c in chunks[20::7]] + [c for c in chunks[24::7]]))
middle = len(whole) // 2
open(f"{d}/missing.tlr", "wb").write(whole[: middle] + whole[middle + 12345 :])
open(f"{d}/twice.tlr", "wb").write(whole[: middle] + whole[middle - 54321 :])
open(f"{d}/cut.tlr", "wb").write(whole[: middle])
END

report() { # OUT TRACE ARGUMENT...: what it prints, says, and returns
	local out=$1 trace=$2
	shift 2
	timeout 120 "$B/tailor" report "$@" "$trace" >"$out" 2>&1
	echo "exit status $?" >>"$out"
}
for trace in tests/golden/v1.tlr tests/golden/v2.tlr tests/golden/views/*.tlr "$dir"/*.tlr; do
	for views in "" "--view plan --view functions --view threads --intervals" "--view timeline --view plan --view tree" \
		"--view plan --json --from 0.001"; do
		# shellcheck disable=SC2086 # words
		report "$dir/1" "$trace" --threads 1 $views
		turn=$(((turn + 1) % 3))
		for threads in 2 3 7; do
			[ "${LONG:-}" ] || [ $threads != "${left_out[turn]}" ] || continue
			# shellcheck disable=SC2086
			report "$dir/n" "$trace" --threads $threads $views
			cmp -s "$dir/1" "$dir/n" && continue
			bad=1
			echo "tailor report --threads $threads $views $trace: expected what --threads 1 says, the differences are:"
			diff "$dir/1" "$dir/n" | head -10
		done
	done
	timeout 120 "$B/tailor" report --view plan --view functions "$trace" >"$dir/1" 2>/dev/null
	timeout 120 "$B/tailor" report --view plan --view functions --view events "$trace" 2>/dev/null |
		head -c "$(stat -c %s "$dir/1")" >"$dir/n"
	cmp -s "$dir/1" "$dir/n" && continue
	bad=1
	echo "tailor report --view plan --view functions $trace: expected the same with --view events behind it, the differences are:"
	diff "$dir/1" "$dir/n" | head -10
done
exit $bad
