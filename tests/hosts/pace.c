/* SPDX-License-Identifier: MIT */
/*
 * Does the agent hold its host up?  pace SECONDS: announces code all the time, in two threads, one of which makes further threads, and
 * says at the end how many announcements (and makings of threads) took longer than 10 ms, and how long the longest took.
 */
#include "jitreg.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LONG_NS 10000000

static double seconds = 2;
static uint64_t nr, nr_long, longest_ns;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void took(uint64_t ns)
{
	uint64_t longest = __atomic_load_n(&longest_ns, __ATOMIC_RELAXED);

	__atomic_fetch_add(&nr, 1, __ATOMIC_RELAXED);
	if (ns > LONG_NS)
		__atomic_fetch_add(&nr_long, 1, __ATOMIC_RELAXED);
	while (ns > longest && !__atomic_compare_exchange_n(&longest_ns, &longest, ns, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void *nothing(void *p)
{
	return p;
}

static void *work(void *makes_threads)
{
	static const unsigned char code[64];
	uint64_t end = now_ns() + (uint64_t)(seconds * 1e9), begin;

	for (uint64_t i = 0; now_ns() < end; i++) {
		begin = now_ns();
		jitreg_code_load(0x10000 + i % 1000 * 64, sizeof(code), i, "paced", code);
		took(now_ns() - begin);
		if (makes_threads && i % 64 == 0) {
			pthread_t t;

			begin = now_ns();
			if (pthread_create(&t, NULL, nothing, NULL) == 0)
				pthread_join(t, NULL);
			took(now_ns() - begin);
		}
		if (i % 16 == 0)
			usleep(100);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc > 1)
		seconds = atof(argv[1]);
	pthread_create(&t, NULL, work, &t);
	work(NULL);
	pthread_join(t, NULL);
	printf("calls %llu long %llu longest_ms %.1f\n", (unsigned long long)nr, (unsigned long long)nr_long, (double)longest_ns / 1e6);
	return 0;
}
