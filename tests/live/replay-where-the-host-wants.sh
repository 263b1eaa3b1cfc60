#!/bin/bash
# SPDX-License-Identifier: MIT
# A host whose replay function takes the lock under which it announces: it replays where it asks whether to, so a recorder that comes late
# hears all of it, and nothing waits for anything for ever.
. tests/live/begin.bash
trap 'kill -9 $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT
"$B/hosts/locked_replay" 200 "$dir/enough" >"$dir/out" &
host=$!
attached=0
for n in 1 2; do
	for seconds in 0.5 2 8 32; do # a busy machine needs longer until the host has asked
		timeout 300 "$B/tailor" attach --inject -q -d $seconds -o "$dir/t.tlr" $host 2>"$dir/err" ||
			{ fail "attach: $(cat "$dir/err")"; finish; }
		attached=$((attached + 1))
		heard=$(timeout 300 "$B/tailor" dump "$dir/t.tlr" | grep -c ' COMPONENT ')
		[ "$heard" = 0 ] || break
	done
	[ "$heard" -ge 1 ] || fail "recorder $n: expected components, got $heard in $seconds s"
done
touch "$dir/enough"
ended() { ! grep -qs 'State:.[^ZX]' "/proc/$host/status"; }
wait_for ended || { fail "the host does not end"; kill -9 $host; }
wait $host || fail "the host: exit $?"
replays=$(cat "$dir/out")
[ "${replays:-0}" -ge 2 ] && [ "$replays" -le $attached ] || fail "expected 2 to $attached replays, got $replays"
finish
