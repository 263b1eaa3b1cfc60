#!/bin/bash
# SPDX-License-Identifier: MIT
# tailor attach --inject refuses what would not be safe: one sentence that names the cause, no trace, and the host runs on as it was.
. tests/live/begin.bash
host= other=
trap 'kill -9 $host $other 2>/dev/null; rm -rf "$dir"' EXIT

state() { cat /proc/$1/task/*/status | grep -E 'Sig(Blk|Ign|Cgt)'; cut -d' ' -f6- /proc/$1/maps | sort -u; }

look() { # NAME PATTERN [COMMAND...]: of $host, which runs
	name=$1 pattern=$2
	shift 2
	state $host >"$dir/before"
	timeout 300 "$@" "$B/tailor" attach --inject -q -d 0.2 -o "$dir/no.tlr" $host 2>"$dir/err"
	status=$?
	[ $status = 1 ] || fail "$name: expected exit 1, got $status: $(cat "$dir/err")"
	grep -qE "^tailor attach: .*$pattern" "$dir/err" || fail "$name: expected a sentence with '$pattern', got: $(cat "$dir/err")"
	[ "$(wc -l <"$dir/err")" = 1 ] || fail "$name: expected one sentence: $(cat "$dir/err")"
	[ -e "$dir/no.tlr" ] && fail "$name: left a trace behind"
	kill -0 $host 2>/dev/null || fail "$name: the host does not run any more"
	state $host >"$dir/after"
	cmp -s "$dir/before" "$dir/after" || fail "$name: the host is not as before: $(diff "$dir/before" "$dir/after" | head -n 3)"
	echo "FIGURE $name: $(sed "s/^tailor attach: //; s/ $host/ PID/g; s/process [0-9]*[,;]/process N;/" "$dir/err")"
}
# 0.1 s of its own time: what begins $host, and the loader's work, take a hundredth of that
burns() { t=$(awk '{ print $14 }' /proc/$host/stat) && [ "$t" -ge 10 ]; }
traced() { ! grep -q 'TracerPid:.0$' /proc/$host/status; }
untraced() { grep -q 'TracerPid:.0$' /proc/$host/status; }
stopped() { grep -q 'State:.T' /proc/$host/status; }
is_there() { grep -q 'is there' "$dir/said"; }
is_ready() { # NAME: $host is where it cannot be borrowed, and as it stays
	case $1 in
	seccomp) grep -q '^Seccomp:.2' /proc/$host/status || return ;;
	preloaded) grep -q libtailor /proc/$host/maps || return ;;
	in\ * | on\ *) is_there || return ;;
	esac
	[ "$(readlink /proc/$host/exe)" != "$(readlink /proc/$$/exe)" ] && burns
}
refused() { # NAME PATTERN COMMAND...
	"${@:3}" >/dev/null 2>"$dir/said" &
	host=$!
	wait_for is_ready "$1"
	look "$1" "$2"
	{ kill -9 $host; wait $host; } 2>/dev/null
}

[ -x "$B/hosts/busy-static" ] && refused static 'it is statically linked' "$B/hosts/busy-static" 1000000
[ -x "$B/hosts/busy-32" ] && refused 32 'it is a 32-bit program' "$B/hosts/busy-32" 1000000
refused 'little address space' 'less than 16 MiB are left to it' bash -c "ulimit -v 16000; exec $B/hosts/busy 1000000"
refused preloaded 'it was started with the agent' env TAILOR_OFF=1 "LD_PRELOAD=$B/libtailor.so" "$B/hosts/busy" 1000000
refused seccomp 'its seccomp filter may kill it' /usr/bin/python3 -c '
import ctypes
libc = ctypes.CDLL(None)
class Program(ctypes.Structure):
    _fields_ = [("n", ctypes.c_ushort), ("code", ctypes.c_void_p)]
allow = (ctypes.c_uint64 * 1)(0x7fff000000000006)
libc.prctl(38, 1, 0, 0, 0)
libc.prctl(22, 2, ctypes.byref(Program(1, ctypes.addressof(allow))))
while True:
    pass'
refused 'in a handler' 'no thread at a safe point within 2 s' "$B/hosts/idles" handler 10000
refused 'in the loader' 'no thread at a safe point within 2 s' "$B/hosts/idles" loader 10000
refused 'on a coroutine' 'no thread at a safe point within 2 s' "$B/hosts/idles" coroutine 10000

"$B/hosts/busy" 1000000 >/dev/null 2>&1 &
host=$!
wait_for is_ready busy
if command -v strace >/dev/null; then
	strace -qq -o /dev/null -p $host &
	other=$!
	wait_for traced
	look traced 'it is traced by process'
	{ kill $other; wait $other; } 2>/dev/null
fi
wait_for untraced
kill -STOP $host
wait_for stopped
look stopped 'it is stopped; continue it first'
kill -CONT $host
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$dir"
	look 'another user' 'it belongs to root; run tailor as that user' setpriv --reuid 65534 --regid 65534 --clear-groups
fi
{ kill -9 $host; wait $host; } 2>/dev/null
if unshare -m true 2>/dev/null; then
	mkdir "$dir/empty"
	refused 'another mount namespace' 'it cannot access .*libtailor.so' \
		unshare -m sh -c "mount --bind '$dir/empty' '$B' && exec /usr/bin/python3 -c '
while True: pass'"
	refused 'another network namespace' 'it is in another network namespace' unshare -n "$B/hosts/busy" 1000000
fi
# A libtailor.so that is another's: its result cannot be written.  The thread sleeps on for the time that was left.  A sleep that began anew
# in the middle is half as long again, at least; a machine that is late by so much in each round does not decide it.
mkdir "$dir/other"
cp "$B/tailor" "$dir/other"
echo 'extern const int tailor_injected_result; const int tailor_injected_result = 0;
int tailor_is_late = 1; void tailor_injected(void); void tailor_injected(void) { __builtin_trap(); }' >"$dir/other.c"
${CC:-cc} -shared -fPIC -o "$dir/other/libtailor.so" "$dir/other.c" || fail "the other library was not built"
sleeps() { grep -q '^230 ' /proc/$host/syscall; } # clock_nanosleep
slept=0
for seconds in 2 8 32; do
	"$B/hosts/idles" nanosleep $seconds >/dev/null 2>"$dir/slept" &
	host=$!
	wait_for sleeps
	sleep $((seconds / 2))
	timeout 300 "$dir/other/tailor" attach --inject -q -o "$dir/no.tlr" $host 2>"$dir/err"
	status=$?
	wait $host
	slept=$(cat "$dir/slept")
	grep -q 'no such process\|exited' "$dir/err" && continue # it came too late
	[ $status = 1 ] && grep -q 'its loader refused the agent' "$dir/err" || fail "another library: exit $status: $(cat "$dir/err")"
	awk "BEGIN { exit !($slept < 1.5 * $seconds) }" && break
done
awk "BEGIN { exit !($slept < 1.5 * $seconds) }" || fail "another library: slept $slept s where $seconds s were asked for"

timeout 300 "$B/tailor" attach --inject -q -o "$dir/no.tlr" $host 2>"$dir/err"
[ $? = 1 ] && grep -q "no such process: $host" "$dir/err" || fail "ended: $(cat "$dir/err")"
finish
