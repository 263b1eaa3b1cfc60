#!/bin/bash
# SPDX-License-Identifier: MIT
# While it records, tailor says on a terminal how it goes: time, samples, lost, size.  Never in a file or a pipe, with --quiet, or into
# the output of the command that it runs.
set -u
B=$1
dir=$(mktemp -d)
trap 'kill -9 ${host:-} 2>/dev/null; rm -rf "$dir"' EXIT
tests/hosts/build.sh "$B" || exit 1
command -v script >/dev/null || { echo "skipped, because there is no script(1) to make a terminal"; exit 77; }
bad=0
fail() { echo "$@"; bad=1; }
line='tailor attach: [0-9]* s, [0-9]* samples, [0-9]* lost, [0-9.]* MiB (Ctrl-C ends it)'
terminal() { timeout 60 script -qec "$1" /dev/null >"$dir/out" 2>&1 </dev/null || fail "$1: exit $?: $(cat "$dir/out")"; }

"$B/hosts/busy" 1000000 >/dev/null &
host=$!
terminal "$B/tailor attach -d 1.7 -o $dir/t.tlr $host"
n=$(tr '\r' '\n' <"$dir/out" | grep -ac "$line")
[ "$n" -ge 2 ] || fail "expected two lines or more of progress, got $n in: $(cat -v "$dir/out")"
tr '\r' '\n' <"$dir/out" | grep -aq 'samples of 1 process in' || fail "the last line is missing: $(cat -v "$dir/out")"
terminal "$B/tailor attach -q -d 1.2 -o $dir/t.tlr $host"
[ -s "$dir/out" ] && fail "--quiet: expected silence, got: $(cat -v "$dir/out")"
terminal "$B/tailor run -o $dir/t.tlr -- sleep 1.2"
grep -aq 'lost,' "$dir/out" && fail "run: a progress line in the command's own output: $(cat -v "$dir/out")"
timeout 60 "$B/tailor" attach -d 1.2 -o "$dir/t.tlr" "$host" >"$dir/out" 2>&1
grep -q 'Ctrl-C' "$dir/out" && fail "a progress line in a file: $(cat "$dir/out")"
exit $bad
