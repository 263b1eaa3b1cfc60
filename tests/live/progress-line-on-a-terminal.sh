#!/bin/bash
# SPDX-License-Identifier: MIT
# While it records, tailor says on a terminal how it goes: time, samples, lost, size.  Never in a file or a pipe, with --quiet, or into
# the output of the command that it runs.
. tests/live/begin.bash
trap 'kill -9 ${host:-} 2>/dev/null; rm -rf "$dir"' EXIT
command -v script >/dev/null || skip "there is no script(1) to make a terminal"
line='tailor attach: [0-9]* s, [0-9]* samples, [0-9]* lost, [0-9.]* MiB (Ctrl-C stops)'
terminal() { timeout 300 script -qec "exec $1" /dev/null >"$dir/out" 2>&1 </dev/null || fail "$1: exit $?: $(cat "$dir/out")"; }
lines() { [ "$(tr '\r' '\n' <"$dir/out" | grep -ac "$line")" -ge "$1" ]; }
is_busy() { [ "$(readlink "/proc/$host/exe")" = "$(realpath "$B/hosts/busy")" ]; }

"$B/hosts/busy" 1000000 >/dev/null 2>&1 &
host=$!
wait_for is_busy

# there are two lines, whenever they come, and then somebody types Ctrl-C
: >"$dir/out"
mkfifo "$dir/keys"
timeout 300 script -qec "exec $B/tailor attach -o $dir/t.tlr $host" /dev/null <"$dir/keys" >"$dir/out" 2>&1 &
terminal=$!
exec 3>"$dir/keys"
wait_for lines 2 || cat -v "$dir/out"
printf '\003' >&3
wait $terminal || fail "tailor attach, and Ctrl-C: exit $?: $(cat -v "$dir/out")"
exec 3>&-
tr '\r' '\n' <"$dir/out" | grep -aq 'samples of 1 process in' || fail "the last line is missing: $(cat -v "$dir/out")"

# a line comes every half a second
terminal "$B/tailor attach -q -d 1.2 -o $dir/t.tlr $host"
[ -s "$dir/out" ] && fail "--quiet: expected silence, got: $(cat -v "$dir/out")"
terminal "$B/tailor run -o $dir/t.tlr -- sleep 1.2"
grep -aq 'lost,' "$dir/out" && fail "run: a progress line in the command's own output: $(cat -v "$dir/out")"
timeout 300 "$B/tailor" attach -d 1.2 -o "$dir/t.tlr" "$host" >"$dir/out" 2>&1 || fail "attach into a file: exit $?: $(cat "$dir/out")"
grep -q 'Ctrl-C' "$dir/out" && fail "a progress line in a file: $(cat "$dir/out")"
kill -9 $host
wait $host 2>/dev/null
host=

# reading a trace, too: whatever it showed, nothing of it stays
terminal "$B/tailor report tests/golden/v2.tlr"
/usr/bin/python3 - "$dir/out" <<'PYTHON' || fail "report: a progress line that stays: $(cat -v "$dir/out" | head -n 3)"
import sys
for line in open(sys.argv[1], newline="", errors="replace").read().split("\n"):
    shown = ""
    for part in line.split("\r"): # each writes over the one before it
        shown = part + shown[len(part):]
    if "reading" in shown:
        sys.exit(1)
PYTHON
finish
