#!/bin/bash
# SPDX-License-Identifier: MIT
# Firefox's, Perfetto's, speedscope's and pprof's own readers open what `tailor export` writes, of the golden traces and of two threads
# of a query just recorded, and count what its CSV does: samples by thread and by function, marks and how long they took.
. tests/live/begin.bash
tests/consumers/fetch.sh "$B" || exit
record() { # SECONDS
	timeout 300 "$B/tailor" run -q -e "$(plain_event)" -o "$dir/q3.tlr" -- "$B/engine" --query q3 --threads 2 --scale 0.05 \
		--repeat $((6 * $1)) >/dev/null || { fail "tailor run: exit $?"; return 1; }
	# of the thread that has fewer
	n=$("$B/tailor" export --format csv "$dir/q3.tlr" | /usr/bin/python3 -c '
import collections, csv, sys
print(sorted([0, 0, *collections.Counter(r["tid"] for r in csv.DictReader(sys.stdin)).values()])[-2])')
}
gather 50 record || finish
timeout 1500 /usr/bin/python3 tests/consumers/consumers.py "$B" tests/golden/v1.tlr tests/golden/v2.tlr "$dir/q3.tlr" \
	"$dir/q3.tlr:operator" || bad=1
finish
