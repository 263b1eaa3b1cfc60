#!/bin/bash
# SPDX-License-Identifier: MIT
# A host's signal handler, and a child right after fork, do not wait for the loader's lock because of us: another thread may hold it,
# and in a child it is never given back.
. tests/live/begin.bash
host=$B/hosts/loader_lock
try() { # WHAT OPTION...
	local what=$1
	shift
	if ! timeout -k 5 ${SECS:-60} "$B/tailor" run -o "$dir/t.tlr" "$@" -- "$host" "$what" >"$dir/out" 2>"$dir/err"; then
		fail "tailor run $* -- $host $what: expected \"done\" and exit 0, got $(cat "$dir/out" "$dir/err"), or it hung"
	fi
}
try handler
try fork
try fork --scope thread
try fork --sampler timer
finish
