#!/bin/bash
# SPDX-License-Identifier: MIT
# A recorder that cuts its recording has no more memory after ten epochs of short processes than an epoch needs: what each had goes back.
. tests/live/begin.bash
trap 'kill -9 ${recorder:-} 2>/dev/null; rm -rf "$dir"' EXIT
"$B/tailor" run -q --epochs 500ms -o "$dir/e.tlr" -- sh -c 'while [ ! -e "$1/enough" ]; do /bin/true; perl -e 1; done' sh "$dir" &
recorder=$!
least=
look() { # the least since the first epochs
	local kib
	kib=$(awk '/^RssAnon/ { print $2 }' "/proc/$recorder/status" 2>/dev/null)
	[ -z "$kib" ] && return 0
	[ -e "$dir/e.000010.tlr" ] && [ "$kib" -lt "${least:-1000000000}" ] && least=$kib
	[ -e "$dir/e.000013.tlr" ]
}
wait_for look
touch "$dir/enough"
wait $recorder || fail "tailor run: expected exit 0, got $?"
recorder=
echo "FIGURE the recorder has $((${least:-0} / 1024)) MiB after ten epochs of short processes"
[ "${least:-1000000000}" -lt 24576 ] || fail "expected the recorder to have less than 24 MiB, got $least KiB"
finish
