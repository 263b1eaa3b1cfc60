/* SPDX-License-Identifier: MIT */
/*
 * Burns its own processor time in two functions, each on a processor of its own: migrates SECONDS TURNS SHARE, on_first() for SHARE (a
 * fraction) of each turn.  Prints how long it was in each by the thread's clock, in ns: a witness that needs no samples.  77: there
 * are no two processors for it.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define LOOP(name) \
	__attribute__((noinline, noclone)) void name(long n) \
	{ \
		for (volatile long i = 0; i < n; i++) \
			; \
	}
LOOP(on_first)
LOOP(on_second)

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static uint64_t burn(void (*loop)(long), double ns)
{
	uint64_t begin = now_ns(), now = begin;

	while ((double)(now - begin) < ns) {
		loop(20000);
		now = now_ns();
	}
	return now - begin;
}

int main(int argc, char **argv)
{
	double turn_ns, share;
	uint64_t ns[2] = { 0, 0 };
	int cpu[2], nr = 0;
	cpu_set_t set;

	if (argc != 4)
		return 2;
	turn_ns = atof(argv[1]) * 1e9 / atof(argv[2]);
	share = atof(argv[3]);
	sched_getaffinity(0, sizeof(set), &set);
	for (int i = 0; i < CPU_SETSIZE && nr < 2; i++)
		if (CPU_ISSET(i, &set))
			cpu[nr++] = i;
	if (nr < 2)
		return 77;
	for (int i = 0; i < atoi(argv[2]); i++) {
		pin(cpu[0]);
		ns[0] += burn(on_first, share * turn_ns);
		pin(cpu[1]);
		ns[1] += burn(on_second, (1 - share) * turn_ns);
	}
	printf("%llu %llu\n", (unsigned long long)ns[0], (unsigned long long)ns[1]);
	return 0;
}
