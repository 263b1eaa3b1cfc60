/* SPDX-License-Identifier: MIT */
/*
 * Threads that make threads all the time: churn SECONDS CREATORS MS [IDLE].  Each short thread burns MS milliseconds of its own
 * processor time, so that what is counted of it is known; the first thread ends at once, and IDLE others sleep.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double seconds;
static long burn_ns;
static volatile unsigned long sink;

static double clock_s(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void *short_one(void *unused)
{
	(void)unused;
	while (clock_s(CLOCK_THREAD_CPUTIME_ID) * 1e9 < (double)burn_ns)
		for (int i = 0; i < 20000; i++)
			sink += (unsigned long)i;
	return NULL;
}

static void *creator(void *unused)
{
	double end = clock_s(CLOCK_MONOTONIC) + seconds;

	(void)unused;
	while (clock_s(CLOCK_MONOTONIC) < end) {
		pthread_t t[2];

		for (int i = 0; i < 2; i++)
			pthread_create(&t[i], NULL, short_one, NULL);
		for (int i = 0; i < 2; i++)
			pthread_join(t[i], NULL);
	}
	return NULL;
}

static void *idle_one(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

int main(int argc, char **argv)
{
	int creators = argc > 2 ? atoi(argv[2]) : 4;
	pthread_t t;

	seconds = argc > 1 ? atof(argv[1]) : 2;
	burn_ns = (argc > 3 ? atol(argv[3]) : 4) * 1000000;
	for (int i = 0; i < creators; i++)
		pthread_create(&t, NULL, creator, NULL);
	for (int i = argc > 4 ? atoi(argv[4]) : 0; i > 0; i--)
		pthread_create(&t, NULL, idle_one, NULL);
	pthread_exit(NULL);
}
