#!/bin/bash
# SPDX-License-Identifier: MIT
# A thousand threads at once, then a child that becomes another program: everybody is in the trace, in both scopes.
. tests/live/begin.bash
cat >"$dir/host.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
static pthread_barrier_t barrier;
static long us; /* of the processor that each thread uses: a busy machine gives as many samples as an idle one */
static void *work(void *all)
{
	struct timespec begin, now;
	volatile double x = 0;
	if (all) pthread_barrier_wait(&barrier);
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
	do {
		for (int i = 0; i < 1000; i++) x += i;
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000000 + (now.tv_nsec - begin.tv_nsec) / 1000 < us);
	return NULL;
}
int main(int argc, char **argv)
{
	static pthread_t t[1000];
	int nr = 0;
	us = atol(argv[1]);
	if (argc == 2) { work(NULL); return 0; }
	pthread_barrier_init(&barrier, NULL, 1000);
	for (; nr < 1000; nr++)
		if (pthread_create(&t[nr], NULL, work, t)) { puts("no 1000 threads here"); return 77; }
	while (nr--) pthread_join(t[nr], NULL);
	if (fork() == 0) execl(argv[0], argv[0], argv[1], (char *)NULL);
	wait(NULL);
	return 4;
}
C
gcc -O1 -pthread -o "$dir/host" "$dir/host.c" || exit 1
WANTED=500
RATE=$(allowed_rate 2000)
EVENT=$(plain_event)
record() { # ARGUMENT...: of the host; $status and $n, and the trace's records in $dir/dump
	timeout "$PATIENCE_S" "$B/tailor" run -e "$EVENT" -r "$RATE" --stack 512 -o "$dir/t.tlr" "$@" >"$dir/out" 2>"$dir/err"
	status=$?
	"$B/tailor" dump "$dir/t.tlr" >"$dir/dump"
	n=$(sed -n 's/.* END .*samples=\([0-9]*\).*/\1/p' "$dir/dump")
}
# How long must a thread be sampled for a thousand of them to give WANTED samples?  Two periods at least, or it may end before its
# first sample; and as long as one thread that uses as much as a thousand has to.
one_thread() { # SECONDS
	us=$((2000000 / RATE * $1))
	record -- "$dir/host" $((1000 * us))
	[ $status = 0 ] || { fail "one thread: expected status 0, got $status: $(cat "$dir/err")"; return 1; }
}
us=
gather $WANTED one_thread || us=
enough=${us:-$((2000000 / RATE))}
for scope in cpu thread; do
	# who has so few samples with eight times as much is not sampled as one thread is
	for ((each = enough; each <= 8 * enough; each *= 2)); do
		record --scope $scope -- "$dir/host" $each threads
		[ $status = 77 ] && skip "the limits here allow no 1000 threads"
		# locked memory is limited, but root's: it is said whom there was no ring for
		uncounted=$(sed -n 's/.*threads not counted: \([0-9]*\).*/\1/p' "$dir/err")
		wanted=$((WANTED * (1000 - ${uncounted:-0}) / 1000))
		[ "${n:-0}" -lt $wanted ] && [ -n "$us" ] || break
	done
	threads=$(grep ' FORK ' "$dir/dump" | awk '{ print $2 }' | sort -u | wc -l)
	hellos=$(grep -c ' GUEST ' "$dir/dump")
	execs=$(grep -c ' COMM exec=1 ' "$dir/dump")
	[ $status = 4 ] || fail "scope $scope: expected status 4, got $status: $(cat "$dir/err")"
	[ "$threads" = 1001 ] || fail "scope $scope: expected 1001 threads and processes to begin, got $threads"
	[ "$execs" = 2 ] || fail "scope $scope: expected 2 execs, got $execs"
	[ "$hellos" -ge 2 ] || fail "scope $scope: expected host and child to say hello, got $hellos"
	[ -z "$us" ] || [ "${n:-0}" -ge $wanted ] ||
		fail "scope $scope: expected $wanted samples or more of 1000 threads that used $each us each, got ${n:-none}" \
			"(one thread gave $WANTED in $((1000 * us)) us)"
	[ "$(id -u)" != 0 ] || [ -z "$uncounted" ] ||
		fail "scope $scope: root has no limit on locked memory, and still: $(cat "$dir/err")"
	echo "FIGURE scope $scope: 1000 threads, $(sed -n 's/^tailor run: //p' "$dir/err" | sed "s| in $dir[^ ]*||")"
done
finish
