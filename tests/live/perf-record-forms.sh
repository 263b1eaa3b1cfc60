#!/bin/bash
# SPDX-License-Identifier: MIT
# Each form of `perf record` that people use is imported as perf itself reads it, or refused in a sentence: a table.  Here are some;
# with LONG=1 all of the list in perf_record_forms.py (three minutes), with FORM=TEXT those whose line has it.
. tests/live/begin.bash
command -v perf >/dev/null || skip "perf is not installed"

# Frame pointers, names of its own, a thread and a child; as much work as it is told.
cat >"$dir/host.c" <<'C'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile unsigned long x;
__attribute__((noinline)) void leaf(int n) { for (int i = 0; i < n; i++) x += i; }
__attribute__((noinline)) void three(void) { leaf(300000); x++; }
__attribute__((noinline)) void one(void) { leaf(100000); x++; }
__attribute__((noinline)) void other(void) { for (int i = 0; i < 200000; i++) x ^= i; }
static void *thread(void *times) { for (long k = (long)times; k; k--) other(); return NULL; }
int main(int argc, char **argv)
{
	long times = argc > 1 ? atol(argv[1]) : 100;
	pthread_t t;

	for (long k = 0; k < times; k++) {
		char *p = malloc(4 << 20);
		three(); one();
		memset(p, 1, 4 << 20); x += p[k % (4 << 20)]; free(p);
	}
	pthread_create(&t, NULL, thread, (void *)(times / 4));
	pthread_join(t, NULL);
	if (fork() == 0) { for (long k = 0; k < times / 4; k++) other(); _exit(0); }
	wait(NULL);
	return 0;
}
C
gcc -O0 -g -fno-omit-frame-pointer -pthread -o "$dir/host" "$dir/host.c" || exit 1
# perf keeps what it has seen there, and has it again when the program is gone
HOME=$dir judge /usr/bin/python3 tests/live/perf_record_forms.py "$B/tailor" "$dir" "$dir/host"
finish
