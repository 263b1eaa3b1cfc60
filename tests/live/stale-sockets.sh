#!/bin/bash
# SPDX-License-Identifier: MIT
# The socket of a recorder that was killed, with nobody behind it or a stranger who took its name: `tailor status`, `start`, `stop`,
# `attach` and `run`, and programs that are preloaded, say so in one sentence or do without; the host runs on, with its own output and
# exit status.  A recorder gives strangers nothing.
. tests/live/begin.bash
chmod 755 "$dir"
pids=()
trap 'kill -9 "${pids[@]}" 2>/dev/null; rm -rf "$dir"' EXIT
plain=$(plain_event)
says() { # NAME STATUS PATTERN COMMAND...
	timeout 300 "${@:4}" >"$dir/out" 2>"$dir/err" </dev/null
	status=$?
	[ $status = "$2" ] && [ "$(cat "$dir/out" "$dir/err" | grep -cE "$3")" = 1 ] ||
		fail "$1: expected exit $2 and one line with '$3', got exit $status: $(cat "$dir/out" "$dir/err")"
}
samples() { "$B/tailor" dump "$1" | sed -n 's/.* END .*samples=\([0-9]*\).*/\1/p'; }
has_agent() { # RECORDER: its child busy, $host, has the agent
	host=$(pgrep -P "$1" -x busy) && grep -q libtailor "/proc/$host/maps"
}
is_bound() { grep -q "@$1$" /proc/net/unix; } # NAME of a socket
orphan() { # OPTION...: $host runs on, its recorder was killed; $socket: where that listened
	"$B/tailor" run "$@" -- "$B/hosts/busy" 1000000 >/dev/null 2>&1 &
	local recorder=$!
	wait_for has_agent $recorder || exit 1
	pids+=("$host")
	socket=$(tr '\0' '\n' <"/proc/$host/environ" | sed -n 's/^TAILOR_SOCKET=//p')
	wait_for is_bound "$socket"
	{ kill -9 $recorder; wait $recorder; } 2>/dev/null
	is_bound "$socket" && fail "the name of a killed recorder's socket is left: $socket"
}
gone='has no recorder: the one that it was started with has exited; use `tailor attach [0-9]*`'
attach() { # SECONDS
	says "$name, attach" 0 'registrations of process [0-9]* unavailable' \
		"$B/tailor" attach -e "$plain" -d "$(awk "BEGIN { print $1 * 0.3 }")" -o "$dir/t.tlr" "$host"
	n=$(samples "$dir/t.tlr")
}
all_say_so() { # NAME
	name=$1
	for what in status start stop; do
		out=()
		[ $what = start ] && out=(-o "$dir/no.tlr")
		says "$1, tailor $what" 1 "$gone" "$B/tailor" $what "${out[@]}" "$host"
	done
	[ -e "$dir/no.tlr" ] && fail "$1: a recording that did not start left a trace"
	gather 50 attach
	says "$1, attach --inject" 1 'it was started with the agent; attach without' \
		"$B/tailor" attach --inject -d 0.3 -o "$dir/no.tlr" "$host"
	says "$1, doctor" 0 'loaded, but its recorder has exited' "$B/tailor" doctor "$host"
	kill -0 "$host" || fail "$1: the host does not run any more"
}

# ---- nobody is behind it
orphan --dormant
all_say_so "dormant"
kill -9 "$host"
orphan -q -o "$dir/killed.tlr"
all_say_so "recorded"

export TAILOR_SOCKET=$socket
"$B/hosts/threads" >"$dir/alone"
says "run" 7 'samples of 1 process' "$B/tailor" run -e "$plain" -o "$dir/t.tlr" -- "$B/hosts/threads"
"$B/tailor" dump "$dir/t.tlr" | grep -q ' GUEST ' || fail "run: the agent went to another recorder"
preloaded() { # NAME REASON COMMAND...: silent and as alone; if asked, it says why
	mkdir -p "$dir/empty"
	chmod 777 "$dir/empty"
	(cd "$dir/empty" && LD_PRELOAD=$library timeout 300 "${@:3}" >"$dir/out" 2>"$dir/err")
	status=$?
	[ $status = 7 ] && cmp -s "$dir/out" "$dir/alone" && [ ! -s "$dir/err" ] ||
		fail "$1: expected exit 7 and its own output, got exit $status: $(diff "$dir/alone" "$dir/out" | head -n 3; cat "$dir/err")"
	TAILOR_DEBUG=1 LD_PRELOAD=$library timeout 300 "${@:3}" >"$dir/out" 2>"$dir/err"
	grep -qE "disabled: $2 \(the recorder in TAILOR_SOCKET .*unset TAILOR_SOCKET" "$dir/err" ||
		fail "$1: expected '$2', got: $(cat "$dir/err")"
	[ -z "$(ls -A "$dir/empty")" ] || fail "$1: left behind: $(ls -A "$dir/empty")"
}
library=$B/libtailor.so
preloaded "preloaded" 'Connection refused' "$B/hosts/threads"

# ---- another tailor attach is killed: the next one comes in
"$B/tailor" attach -q -o "$dir/killed.tlr" "$host" 2>/dev/null &
first=$!
wait_for is_bound "tailor-attach-$host"
{ kill -9 $first; wait $first; } 2>/dev/null
says "attach after a killed attach" 0 'samples of 1 process' "$B/tailor" attach -e "$plain" -d 0.2 -o "$dir/t.tlr" "$host"

# ---- a stranger took the name, and would answer anything
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	"${nobody[@]}" /usr/bin/python3 - "$socket" <<'PYTHON' >"$dir/stranger" &
import select, socket, sys
listening = []
for name in (sys.argv[1], sys.argv[1] + ".control"):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.bind("\0" + name)
    s.listen(8)
    listening.append(s)
print("listens", flush=True)
while True:
    for s in select.select(listening, [], [])[0]:
        c, _ = s.accept()
        c.settimeout(60)
        try:
            got = c.recv(65536)
        except OSError:
            continue
        if got:
            print("was told", len(got), "bytes", flush=True)
            c.send(b"\0" * 1028)
PYTHON
	pids+=($!)
	disown
	wait_for grep -qs listens "$dir/stranger"
	all_say_so "a stranger"
	preloaded "preloaded, a stranger" 'Operation not permitted' "$B/hosts/threads"
	grep -q 'was told' "$dir/stranger" && fail "a stranger was told something: $(cat "$dir/stranger")"
	# and those who are strangers here
	cp "$B/tailor" "$dir/"
	for what in status start stop; do
		says "tailor $what of another user's process" 1 'belongs to root; run tailor as that user' \
			"${nobody[@]}" "$dir/tailor" $what "$host"
	done
	kill -9 "$host"
	unset TAILOR_SOCKET
	"$B/tailor" run --dormant -- "$B/hosts/busy" 1000000 >/dev/null 2>&1 &
	recorder=$!
	wait_for has_agent $recorder || exit 1
	pids+=("$host")
	# the agent in it has said hello
	wait_for sh -c "'$B/tailor' status $host | grep -q 'of 1 process'"
	says "a stranger's questions" 0 '^status -1, 0 descriptors, answers 0$' "${nobody[@]}" /usr/bin/python3 -c '
import socket, struct, sys
def ask(name, message):
    s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    s.connect("\0" + name)
    s.settimeout(300)
    try:
        if message:  # (a hello is refused before it is said)
            s.send(message)
        text, passed, _, _ = s.recvmsg(65536, 64)
    except (BrokenPipeError, ConnectionResetError):
        return b"", []
    return text, passed
text, passed = ask(sys.argv[1], b"")
answer, _ = ask(sys.argv[1] + ".control", sys.argv[2].encode() + b"\0status\0")
status = struct.unpack_from("i", text, 8)[0] if len(text) > 12 else None  # struct wire_answer
print(f"status {status}, {len(passed)} descriptors, answers {len(answer)}")' \
		"$(tr '\0' '\n' <"/proc/$host/environ" | sed -n 's/^TAILOR_SOCKET=//p')" 0.1
	says "and still there" 0 'is dormant: [0-9]* registrations of 1 process' "$B/tailor" status "$host"
	kill -9 "$host"
	wait $recorder
fi
finish
