#!/bin/bash
# SPDX-License-Identifier: MIT
# Root, and the user, inject an agent that lies in the user's folder, into which root's recorder, with the few rights that it keeps, may
# not look; and a program in that folder has its functions' names.
. tests/live/begin.bash
mkdir "$dir/home"
cp "$B"/tailor "$B"/tailor-record "$B"/libtailor*.so "$B/hosts/busy" "$dir/home/"
[ "$(id -u)" != 0 ] || chown -R nobody "$dir/home"
chmod 700 "$dir/home"
"$dir/home/busy" 1000000 >/dev/null 2>&1 &
host=$!
trap 'kill -9 $host 2>/dev/null; rm -rf "$dir"' EXIT
is_itself() { [ "$(readlink "/proc/$host/exe")" = "$dir/home/busy" ]; }
wait_for is_itself
"$dir/home/tailor" attach --inject -q -d 1 -o "$dir/t.tlr" $host 2>"$dir/said" || fail "attach --inject: exit $?: $(cat "$dir/said")"
"$B/tailor" dump "$dir/t.tlr" | grep -q ' GUEST ' || fail "no agent said hello"
"$B/tailor" dump "$dir/t.tlr" | grep -q ' IMAGE_FILE .*/home/busy' || fail "the program's file is not in the trace"
finish
