#!/bin/bash
# SPDX-License-Identifier: MIT
# The recorder that a preloaded agent starts: a complete trace, a host that notices nothing, whatever happens to either.
set -u
B=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
bad=0
fail() { echo "$@"; bad=1; }

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
static double now(void) { struct timespec t; clock_gettime(CLOCK_MONOTONIC, &t); return t.tv_sec + t.tv_nsec * 1e-9; }
static void *burn(void *s)
{
	for (double end = now() + *(double *)s; now() < end;)
		for (int i = 0; i < 1000; i++) x += i;
	return NULL;
}
int main(int argc, char **argv)
{
	double s = atof(argv[1]);
	pthread_t t;

	if (wait(NULL) != -1 || errno != ECHILD) { puts("a child that is not mine"); return 9; }
	pthread_create(&t, NULL, burn, &s);
	burn(&s);
	pthread_join(t, NULL);
	if (argc > 2 && fork() == 0) { burn(&s); execl(argv[0], argv[0], "0.2", (char *)NULL); }
	while (wait(NULL) > 0) ;
	puts("host");
	return 5;
}
C
gcc -O1 -pthread -o "$dir/host" "$dir/host.c" || exit 1

export TAILOR_RATE=2000 # a rate that no kernel refuses
preload() { LD_PRELOAD=$B/libtailor.so TAILOR_OUTPUT=$dir/$1.tlr timeout 60 "${@:2}" >"$dir/out" 2>"$dir/err"; }
wait_for_end() { # TRACE: the recorder closes it after the host's end
	for _ in $(seq 300); do
		"$B/tailor" dump "$1" 2>/dev/null | grep -q ' END ' && return 0
		sleep 0.1
	done
	fail "$1: no END record after 30 s"
}
field() { # TRACE RECORD FIELD
	"$B/tailor" dump "$1" | sed -n "s/.* $2 .*$3=\([0-9]*\).*/\1/p"
}
host_was_well() { # NAME STATUS
	[ "$2" = 5 ] || fail "$1: expected the host's status 5, got $2: $(cat "$dir/out")"
	[ "$(tail -n 1 "$dir/out")" = host ] || fail "$1: the host's output: $(cat "$dir/out")"
	[ -s "$dir/err" ] && fail "$1: expected silence on the host's stderr, got: $(cat "$dir/err")"
}

for scope in cpu thread; do
	TAILOR_SCOPE=$scope preload "$scope" "$dir/host" 0.3 fork
	host_was_well "scope $scope" $?
	wait_for_end "$dir/$scope.tlr"
	n=$(field "$dir/$scope.tlr" END samples)
	[ "${n:-0}" -ge 200 ] || fail "scope $scope: expected 200 samples or more, got '$n'"
	n=$("$B/tailor" dump "$dir/$scope.tlr" | grep -c ' GUEST ')
	[ "$n" -ge 2 ] || fail "scope $scope: expected the host and the program that its child becomes to say hello, got $n"
done

# The recorder holds nothing of the host's: a pipe ends with the host.
LD_PRELOAD=$B/libtailor.so TAILOR_OUTPUT=$dir/pipe.tlr timeout 20 "$dir/host" 0.1 | timeout 20 cat >"$dir/piped"
[ "${PIPESTATUS[0]} ${PIPESTATUS[1]}" = "5 0" ] || fail "host | cat did not end by itself"

# A host without the first three descriptors: the recorder's pipe is where they were.
preload closed sh -c "exec $dir/host 0.1 <&- >&- 2>&-"
[ $? = 5 ] || fail "no descriptors: the host's status"
wait_for_end "$dir/closed.tlr"

# Nothing of the shortest process is lost: it is in the trace, whether its own recorder starts with it or one runs already.
for i in 1 2 3 4 5; do preload "true$i" /bin/true || fail "true: exit $?"; done
for i in 1 2 3 4 5; do
	wait_for_end "$dir/true$i.tlr"
	"$B/tailor" dump "$dir/true$i.tlr" >"$dir/dump"
	grep -q ' GUEST ' "$dir/dump" && grep -q ' IMAGE .*/true' "$dir/dump" ||
		fail "true, its own recorder: expected that it says hello and names its images, got: $(cat "$dir/dump")"
done
timeout 60 "$B/tailor" run -q -o "$dir/trues.tlr" -- sh -c 'for i in 1 2 3 4 5 6 7 8 9 10; do /bin/true; done; :'
"$B/tailor" dump "$dir/trues.tlr" >"$dir/dump"
n=$(grep -c ' GUEST ' "$dir/dump") m=$(grep -c ' IMAGE .*/true' "$dir/dump")
[ "$n $m" = "11 10" ] || fail "true, beside a recorder: expected 11 hellos (one is the shell's) and 10 times its image, got $n and $m"

# Nowhere to write, or nothing to write with: the host runs as if there were no agent.
preload no/such/folder "$dir/host" 0.1
host_was_well "unwritable output" $?
TAILOR_EVENT=no-such-event preload event "$dir/host" 0.1
host_was_well "no such event" $?
TAILOR_COMMAND=/no/such/tailor preload command "$dir/host" 0.1
host_was_well "no such recorder" $?
ln -s /dev/full "$dir/full.tlr"
preload full "$dir/host" 0.1
host_was_well "a full disk" $?

# A killed recorder leaves what it had written, readable; the host goes on.
preload killed "$dir/host" 6 &
for _ in $(seq 100); do
	sleep 0.1
	"$B/tailor" dump "$dir/killed.tlr" 2>/dev/null | grep -q ' IMAGE_FILE .*/host' && break
done
recorder=$(pgrep -f "record .*--output $dir/killed.tlr")
if [ -z "$recorder" ]; then
	fail "no recorder runs beside the host"
else
	kill -9 $recorder
fi
wait $!
host_was_well "killed recorder" $?
"$B/tailor" dump "$dir/killed.tlr" >"$dir/dump" 2>"$dir/dump.err"
[ "$(grep -c ' SAMPLES ' "$dir/dump")" -ge 2 ] || fail "killed recorder: no samples in what it left"
grep -q ' END ' "$dir/dump" && fail "killed recorder: an END that nobody wrote"
grep -q ' IMAGE_FILE .*/host' "$dir/dump" || fail "killed recorder: the host's symbols were not there before it"

# A killed host leaves a complete trace.
preload gone bash -c "exec $dir/host 20" &
for _ in $(seq 100); do
	sleep 0.1
	host=$(pgrep -x -f "$dir/host 20") && break
done
sleep 0.5
kill -9 "$host"
{ wait $!; } 2>/dev/null
wait_for_end "$dir/gone.tlr"
n=$(field "$dir/gone.tlr" END samples)
[ "${n:-0}" -ge 200 ] || fail "killed host: expected 200 samples or more, got '$n'"

# The same records for a reader that shares no code with us.
"$B/tailor" run -q --no-compress -o "$dir/plain.tlr" -- "$dir/host" 0.2 >"$dir/out"
/usr/bin/python3 - "$dir/plain.tlr" "$("$B/tailor" dump "$dir/plain.tlr" | wc -l)" <<'PYTHON' || bad=1
import struct, sys
try:
    import msgpack
except ImportError:
    sys.exit(0)
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
exit $bad
