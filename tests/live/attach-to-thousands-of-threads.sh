#!/bin/bash
# SPDX-License-Identifier: MIT
# Alone: three thousand threads that wake up every 20 ms leave others little of the processors.
# `tailor attach` to a process of 3,000 threads and 6,000 mappings: threads that keep the processors busy keep samples from being drained no
# more than others do, where the recorder may have a real-time priority.
. tests/live/begin.bash
pid=
trap '[ -z "$pid" ] || kill -9 $pid 2>/dev/null; rm -rf "$dir"' EXIT
THREADS=3000
chrt -r 1 true 2>/dev/null || skip "this user may have no real-time priority"
[ "$(ulimit -Hn)" = unlimited ] || [ "$(ulimit -Hn)" -gt $((2 * THREADS * $(nproc))) ] || skip "there are too few descriptors"
cat >"$dir/host.c" <<'C'
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
static void *work(void *p)
{
	struct timespec pause = { 0, 20000000 };
	volatile long x = 0;
	for (;;) {
		for (int i = 0; i < 2000; i++) x += i;
		nanosleep(&pause, 0);
	}
	return p;
}
int main(int argc, char **argv)
{
	pthread_attr_t small;
	pthread_t t;
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, 16384);
	for (int i = 0; i < atoi(argv[argc - 1]); i++) {
		if (pthread_create(&t, &small, work, 0)) return 1;
		mmap(0, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		mmap(0, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	}
	puts("ready");
	fflush(stdout);
	work(0);
}
C
gcc -O1 -pthread -o "$dir/host" "$dir/host.c" || exit 1
"$dir/host" $THREADS >"$dir/out" &
pid=$!
is_ready() { grep -q ready "$dir/out" || ! kill -0 $pid 2>/dev/null; }
wait_for is_ready
grep -q ready "$dir/out" || { pid=; skip "this machine allows no $THREADS threads"; }

# Agrees: at most one of a hundred samples is lost.  A recorder that gets a share of the processors among all the threads loses several.
block() {
	timeout 300 "$B/tailor" attach -e "$(plain_event)" -o "$dir/t.tlr" --duration 2 $pid 2>"$dir/said" || {
		fail "tailor attach: exit $?: $(cat "$dir/said")"
		return 2
	}
	local n lost
	n=$(sed -n 's/.*: \([0-9]*\) samples of 1 process.*/\1/p' "$dir/said")
	lost=$(sed -n 's/.*; ring full: \([0-9]*\).*/\1/p' "$dir/said")
	echo "FIGURE $THREADS threads: ${n:-0} samples, ${lost:-0} lost"
	[ "${n:-0}" -ge 1000 ] || return 77
	[ $((100 * ${lost:-0})) -le "$n" ]
}
decide --sure "attach to $THREADS busy threads loses at most one of a hundred samples" block
finish
