#!/bin/bash
# SPDX-License-Identifier: MIT
# The recorder that a preloaded agent starts: a complete trace, a host that notices nothing, whatever happens to either.
# Rights: what a recorder may open
. tests/live/begin.bash
trap 'kill -9 $(pgrep -f "$dir/") 2>/dev/null; rm -rf "$dir"' EXIT

# host MS [fork | until FILE]: two threads use so much of the processor each; then a child that becomes another program does, or
# all of it goes on until there is that file
cat >"$dir/host.c" <<'C'
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static volatile double x;
static double now_ms(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec * 1e3 + t.tv_nsec * 1e-6; }
static void *burn(void *ms)
{
	for (double end = now_ms() + *(double *)ms; now_ms() < end;)
		for (int i = 0; i < 1000; i++) x += i;
	return NULL;
}
int main(int argc, char **argv)
{
	double ms = atof(argv[1]), some = 1;
	pthread_t t;

	if (wait(NULL) != -1 || errno != ECHILD) { puts("a child that is not mine"); return 9; }
	pthread_create(&t, NULL, burn, &ms);
	burn(&ms);
	pthread_join(t, NULL);
	if (argc == 3 && fork() == 0) { burn(&ms); execl(argv[0], argv[0], argv[1], (char *)NULL); }
	while (wait(NULL) > 0) ;
	if (argc == 4) {
		printf("used, process %d\n", getpid());
		fflush(stdout);
		while (access(argv[3], F_OK)) burn(&some);
	}
	puts("host");
	return 5;
}
C
gcc -O1 -pthread -o "$dir/host" "$dir/host.c" || exit 1
gcc -o "$dir/true" -x c - <<<'int main(void) { return 0; }' || exit 1

TAILOR_RATE=$(allowed_rate 2000)
export TAILOR_RATE
alone() { timeout "$PATIENCE_S" env LD_PRELOAD="$B/libtailor.so" TAILOR_OUTPUT="$dir/$1.tlr" "${@:2}"; }
preload() { alone "$@" >"$dir/out" 2>"$dir/err"; }
dump() { "$B/tailor" dump "$dir/$1.tlr" 2>/dev/null; }
has() { dump "$1" >"$dir/looked" && grep -q "$2" "$dir/looked"; } # of a complete trace
wrote() { dump "$1" >"$dir/looked"; [ "$(grep -c "$2" "$dir/looked")" -ge "$3" ]; }
wait_for_end() { wait_for has "$1" ' END '; } # the recorder closes it after the host's end
samples() { dump "$1" | sed -n 's/.* END .*samples=\([0-9]*\).*/\1/p'; }
host_was_well() { # NAME STATUS
	[ "$2" = 5 ] || fail "$1: expected the host's status 5, got $2: $(cat "$dir/out")"
	[ "$(tail -n 1 "$dir/out")" = host ] || fail "$1: the host's output: $(cat "$dir/out")"
	[ -s "$dir/err" ] && fail "$1: expected silence on the host's stderr, got: $(cat "$dir/err")"
}

# What the host must use for WANTED samples where `tailor run` records it.  By the preloaded agent's recorder it may use eight
# times as much before too few samples are that recorder's fault.
WANTED=200
run() { # SECONDS
	enough=$((150 * $1))
	timeout "$PATIENCE_S" "$B/tailor" run -q -r "$TAILOR_RATE" -o "$dir/run.tlr" -- "$dir/host" $enough >/dev/null
	n=$(samples run)
}
enough=
gather $WANTED run || enough=
sampled() { # NAME RECORD...: RECORD... MS leaves that trace
	local name=$1 ms n
	shift
	for ((ms = ${enough:-150}; ms <= 8 * ${enough:-150}; ms *= 2)); do
		"$@" $ms
		n=$(samples "$name")
		[ -z "$enough" ] || [ "${n:-0}" -ge $WANTED ] && return
	done
	fail "$name: expected $WANTED samples or more of a host that used $((ms / 2)) ms of the processor in each thread, got '$n'" \
		"(recorded by \`tailor run\` it gave them in $enough ms)"
}

forks() { # SCOPE MS
	TAILOR_SCOPE=$1 preload "$1" "$dir/host" "$2" fork
	host_was_well "scope $1" $?
	wait_for_end "$1"
}
for scope in cpu thread; do
	sampled $scope forks $scope
	n=$(dump $scope | grep -c ' GUEST ')
	[ "$n" -ge 2 ] || fail "scope $scope: expected the host and the program that its child becomes to say hello, got $n"
done

# The recorder holds nothing of the host's: a pipe ends with the host.
alone pipe "$dir/host" 50 | timeout "$PATIENCE_S" cat >"$dir/piped"
[ "${PIPESTATUS[0]} ${PIPESTATUS[1]}" = "5 0" ] || fail "host | cat did not end by itself"

# A host without the first three descriptors: the recorder's pipe is where they were.
alone closed "$dir/host" 50 <&- >&- 2>&-
status=$?
[ $status = 5 ] || fail "no descriptors: expected the host's status 5, got $status"
wait_for_end closed

# Nothing of the shortest process is lost: it is in the trace, whether its own recorder starts with it or one runs already.
for i in 1 2 3 4 5; do preload "true$i" "$dir/true" || fail "true: exit $?"; done
for i in 1 2 3 4 5; do
	wait_for_end "true$i"
	dump "true$i" >"$dir/dump"
	grep -q ' GUEST ' "$dir/dump" && grep -q ' IMAGE .*/true' "$dir/dump" ||
		fail "true, its own recorder: expected that it says hello and names its images, got: $(cat "$dir/dump")"
done
timeout "$PATIENCE_S" "$B/tailor" run -q -o "$dir/trues.tlr" -- sh -c "for i in 1 2 3 4 5 6 7 8 9 10; do $dir/true; done; :"
dump trues >"$dir/dump"
n=$(grep -c ' GUEST ' "$dir/dump") m=$(grep -c ' IMAGE .*/true' "$dir/dump")
[ "$n $m" = "11 10" ] || fail "true, beside a recorder: expected 11 hellos (one is the shell's) and 10 times its image, got $n and $m"

# Nowhere to write, or nothing to write with: the host runs as if there were no agent.
preload no/such/folder "$dir/host" 50
host_was_well "unwritable output" $?
TAILOR_EVENT=no-such-event preload event "$dir/host" 50
host_was_well "no such event" $?
TAILOR_COMMAND=/no/such/tailor preload command "$dir/host" 50
host_was_well "no such recorder" $?
ln -s /dev/full "$dir/full.tlr"
preload full "$dir/host" 50
host_was_well "a full disk" $?

# A killed recorder leaves what it had written (samples, and the host's symbols), readable; the host goes on.
preload killed "$dir/host" 1 until "$dir/go" &
host=$!
wait_for wrote killed ' IMAGE_FILE .*/host' 1 && wait_for wrote killed ' SAMPLES ' 2
recorder=$(pgrep -o -f "record .*--output $dir/killed.tlr")
if [ -z "$recorder" ]; then
	fail "no recorder runs beside the host"
else
	kill -9 $recorder
fi
touch "$dir/go"
wait $host
host_was_well "killed recorder" $?
"$B/tailor" dump "$dir/killed.tlr" >"$dir/dump" 2>"$dir/dump.err"
[ "$(grep -c ' SAMPLES ' "$dir/dump")" -ge 2 ] || fail "killed recorder: no samples in what it left"
grep -q ' END ' "$dir/dump" && fail "killed recorder: an END that nobody wrote"
grep -q ' IMAGE_FILE .*/host' "$dir/dump" || fail "killed recorder: the host's symbols are not in what it left"

# A killed host leaves a complete trace.
used() { grep -q '^used' "$dir/out"; }
killed_host() { # MS
	rm -f "$dir/out" "$dir/gone.tlr"
	touch "$dir/out"
	preload gone "$dir/host" "$1" until "$dir/never" &
	wait_for used
	kill -9 "$(sed -n 's/^used, process //p' "$dir/out")"
	{ wait $!; } 2>/dev/null
	wait_for_end gone
}
sampled gone killed_host

# The same records for a reader that shares no code with us.
"$B/tailor" run -q --no-compress -o "$dir/plain.tlr" -- "$dir/host" 100 >"$dir/out"
judge /usr/bin/python3 - "$dir/plain.tlr" "$(dump plain | wc -l)" <<'PYTHON'
import struct, sys
try:
    import msgpack
except ImportError:
    print("skipped, because there is no msgpack for /usr/bin/python3")
    sys.exit(77)
ids, sequence, data = [], 0, open(sys.argv[1], "rb").read()
while data:
    magic, type_, flags, stored, body, number, _, crc = struct.unpack_from("<IHHIIQII", data)
    assert (magic, flags, number) == (0x43524c54, 0, sequence), (hex(magic), flags, number, sequence)
    unpacker = msgpack.Unpacker(raw=False)
    unpacker.feed(data[32:32 + stored])
    ids += [record[0] for record in unpacker]
    data, sequence = data[32 + stored:], sequence + 1
if len(ids) != int(sys.argv[2]) or ids[0] != 128 or ids[-1] != 140:
    sys.exit(f"{len(ids)} records, the first {ids[0]}, the last {ids[-1]}; tailor dump lists {sys.argv[2]}")
PYTHON
[ $bad = 0 ] && echo "hosts were well, traces complete"
finish
