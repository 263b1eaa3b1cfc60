#!/bin/bash
# SPDX-License-Identifier: MIT
# Commands run where a stack may have 64 KiB, and say what they say elsewhere; the host that they start keeps the limit.
. tests/live/begin.bash
limited() { # KIB COMMAND...
	(ulimit -s "$1"; shift; "$@")
}
"$B/tailor" report tests/golden/v2.tlr >"$dir/wide" 2>&1
for kib in 64 128 256; do
	limited $kib "$B/tailor" report tests/golden/v2.tlr >"$dir/narrow" 2>&1 ||
		fail "report under ulimit -s $kib: expected exit 0, got $?"
	cmp "$dir/wide" "$dir/narrow" || fail "report under ulimit -s $kib: expected the same text"
	limited $kib "$B/tailor" report --view functions --view asm tests/golden/views/queries.tlr >/dev/null ||
		fail "views under ulimit -s $kib: expected exit 0, got $?"
	got=$(limited $kib "$B/tailor" run -q -o "$dir/t.tlr" -- bash -c 'ulimit -s') ||
		fail "run under ulimit -s $kib: expected exit 0, got $?"
	[ "$got" = $kib ] || fail "run under ulimit -s $kib: expected the host to have that limit, got '$got'"
	limited $kib "$B/tailor" doctor "$B/engine" >/dev/null 2>"$dir/err" || [ $? = 1 ] ||
		fail "doctor under ulimit -s $kib: $(cat "$dir/err")"
done
finish
