#!/bin/bash
# SPDX-License-Identifier: MIT
# Any user can take the name of the socket by which `tailor attach` keeps a second one away: it records all the same, and still keeps a
# second one away; `tailor status` and `stop` reach it.
. tests/live/begin.bash
[ "$(id -u)" = 0 ] && command -v setpriv >/dev/null || { echo "skipped, because this user cannot become another"; exit 77; }
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$dir"' EXIT
exec 2>"$dir/shell" # what bash says about processes that are killed
plain=$(plain_event)
"$B/hosts/busy" 1000000 >/dev/null &
host=$!
pids+=("$host")
says() { # NAME STATUS PATTERN COMMAND...
	timeout "$PATIENCE_S" "${@:4}" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	[ $status = "$2" ] && [ "$(cat "$dir/out" "$dir/err" | grep -cE "$3")" = 1 ] ||
		fail "$1: expected exit $2 and one line with '$3', got exit $status: $(cat "$dir/out" "$dir/err")"
}
is_recorded() { "$B/tailor" status "$host" 2>/dev/null | grep -q 'is being recorded'; }
for how in "listens" "is bound" "is a stream" "is full" "is the name for requests" "begins like it"; do
	setpriv --reuid 65534 --regid 65534 --clear-groups /usr/bin/python3 - "$host" "$how" <<'PYTHON' >"$dir/stranger" &
import signal, socket, sys
host, how = sys.argv[1:]
name = f"\0tailor-attach-{host}" + {"is the name for requests": ".control", "begins like it": "-0"}.get(how, "")
s = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM if how == "is a stream" else socket.SOCK_SEQPACKET)
s.bind(name)
if how != "is bound":
    s.listen(0)
held = []
if how == "is full":
    for _ in range(2):
        held.append(socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET))
        held[-1].setblocking(False)
        held[-1].connect_ex(name)
print("ready", flush=True)
signal.pause()
PYTHON
	stranger=$!
	pids+=("$stranger")
	wait_for grep -qs ready "$dir/stranger"
	timeout "$PATIENCE_S" "$B/tailor" attach -e "$plain" -o "$dir/t.tlr" "$host" >"$dir/first" 2>&1 &
	first=$!
	pids+=("$first")
	wait_for is_recorded || fail "the stranger's socket $how: not recorded: $(cat "$dir/first")"
	says "the stranger's socket $how, a second attach" 1 'already being recorded by another `tailor attach`' \
		"$B/tailor" attach -e "$plain" -d 0.2 -o "$dir/second.tlr" "$host"
	says "the stranger's socket $how, stop" 0 'samples of 1 process' "$B/tailor" stop "$host"
	wait $first
	status=$?
	[ $status = 0 ] && grep -q 'samples of 1 process' "$dir/first" ||
		fail "the stranger's socket $how: expected exit 0, got $status: $(cat "$dir/first")"
	kill -9 $stranger
	wait $stranger
done
finish
