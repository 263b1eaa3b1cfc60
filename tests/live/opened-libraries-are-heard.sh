#!/bin/bash
# SPDX-License-Identifier: MIT
# Libraries that dlopen loads are hooked when they are relocated, and not before: what they call is called, with RTLD_LAZY and RTLD_NOW, and
# their code has its names, also behind a library whose symbols are not all found.  The version of one that cannot be hooked is read then,
# too.
. tests/live/begin.bash
heard() { # LAZY-OR-NOW NAME-OF-CODE LIBRARY...
	local how=$1 code=$2 alone status
	shift 2
	alone=$("$B/hosts/opened" "$B/hosts" "$how" "$@")
	"$B/tailor" run -q -o "$dir/t.tlr" -- "$B/hosts/opened" "$B/hosts" "$how" "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	[ $status = 0 ] && [ "$(cat "$dir/out")" = "$alone" ] ||
		fail "$* ($how): expected exit 0 and '$alone', got exit $status and: $(cat "$dir/out" "$dir/err")"
	"$B/tailor" dump "$dir/t.tlr" | grep ' LOAD ' | grep -qF "name=\"$code\"" || fail "$* ($how): expected code of the name '$code'"
}
for how in lazy now; do
	heard $how "/opened late/" missing user
	heard $how "late frame" moarvm
	heard $how "Late:Main ()" mono
	heard $how "late frame" missing user mono sqlite moarvm
	[ "$("$B/tailor" dump "$dir/t.tlr" | grep -c 'NOTICE kind="version" sentence="SQLite 3.0.1: ')" = 1 ] ||
		fail "sqlite ($how): expected a notice of version 3.0.1"
done
finish
