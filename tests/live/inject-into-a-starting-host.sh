#!/bin/bash
# SPDX-License-Identifier: MIT
# tailor attach --inject into a program that has no libc yet, because the loader is still at work: it waits until there is one.  The loader
# is held by a preloaded "library" that is a pipe: it opens that before it loads libc, and goes on without it when the pipe is closed.
. tests/live/begin.bash
trap 'kill -9 $(jobs -p) 2>/dev/null; rm -rf "$dir"' EXIT
mkfifo "$dir/held.so" && touch "$dir/enough"
LD_PRELOAD=$dir/held.so "$B/hosts/locked_replay" 20000 "$dir/enough" >"$dir/out" 2>"$dir/host.err" &
host=$!
opens() { read -r call _ <"/proc/$host/syscall" && [ "$call" = 257 ] && ! grep -q libc.so "/proc/$host/maps"; } # openat()
wait_for opens || { fail "the loader does not open what it is to preload"; finish; }
"$B/tailor" attach --inject -q -d 0.5 -o "$dir/t.tlr" $host 2>"$dir/err" &
attach=$!
waits_or_ended() { ! read -r call _ 2>/dev/null <"/proc/$attach/syscall" || [ "$call" = 230 ] || [ "$call" = 35 ]; } # (clock_)nanosleep()
wait_for waits_or_ended
: >"$dir/held.so" # opened for writing, and closed: the loader reads nothing
wait $attach || fail "attach: $(cat "$dir/err")"
grep -q 'libtailor.so' "/proc/$host/maps" || fail "the host has no agent"
finish
