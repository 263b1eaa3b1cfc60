/* SPDX-License-Identifier: MIT */
/*
 * A long piece of work in one thread, and many threads of little work.  Prints how much processor time each had, in ns: the long one, the
 * short ones together.  Arguments: ms of the long one, number of short ones, µs of each.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1000000000L + t.tv_nsec;
}

static volatile long sum;

__attribute__((noinline)) static void long_work(long ns)
{
	for (long until = cpu_ns() + ns; cpu_ns() < until;)
		for (int i = 0; i < 10000; i++)
			sum += i;
}

__attribute__((noinline)) static void short_work(long ns)
{
	for (long until = cpu_ns() + ns; cpu_ns() < until;)
		for (int i = 0; i < 1000; i++)
			sum += i;
}

static void *run_long(void *ns)
{
	long_work(*(long *)ns);
	*(long *)ns = cpu_ns();
	return NULL;
}

static void *run_short(void *ns)
{
	short_work(*(long *)ns);
	*(long *)ns = cpu_ns();
	return NULL;
}

int main(int argc, char **argv)
{
	long spent = argc > 3 ? atol(argv[1]) * 1000000 : 0, all = 0;
	pthread_t thread;

	if (argc < 4 || pthread_create(&thread, NULL, run_long, &spent))
		return 2;
	pthread_join(thread, NULL);
	for (long i = atol(argv[2]); i > 0; i--) {
		long ns = atol(argv[3]) * 1000;

		if (pthread_create(&thread, NULL, run_short, &ns))
			return 2;
		pthread_join(thread, NULL);
		all += ns;
	}
	printf("%ld %ld\n", spent, all);
	return 0;
}
