#!/bin/bash
# SPDX-License-Identifier: MIT
# A host whose replay function takes the lock under which it announces: it replays where it asks whether to, so a recorder that comes late
# hears all of it, and nothing waits for anything for ever.
. tests/live/begin.bash
trap 'kill -9 $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT
"$B/hosts/locked_replay" 200 "$dir/enough" >"$dir/out" &
host=$!
for n in 1 2; do
	timeout 300 "$B/tailor" attach --inject -q -d 0.5 -o "$dir/t$n.tlr" $host 2>"$dir/err" ||
		{ fail "attach: $(cat "$dir/err")"; finish; }
	heard=$(timeout 300 "$B/tailor" dump "$dir/t$n.tlr" | grep -c ' COMPONENT ')
	[ "$heard" -ge 1 ] || fail "recorder $n: expected components, got $heard"
done
touch "$dir/enough"
ended() { ! grep -qs 'State:.[^ZX]' "/proc/$host/status"; }
wait_for ended || { fail "the host does not end"; kill -9 $host; }
wait $host || fail "the host: exit $?"
[ "$(cat "$dir/out")" = 2 ] || fail "expected 2 replays, got $(cat "$dir/out")"
finish
