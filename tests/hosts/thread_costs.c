/* SPDX-License-Identifier: MIT */
/*
 * What a thread costs, and what a switch between two: thread_costs THREADS SWITCHES prints the nanoseconds of making and joining one thread
 * after another, and of one switch between two threads on one processor.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int nr_switches, there[2], back[2];

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void *nothing(void *p)
{
	return p;
}

static void *answer(void *p)
{
	char c;

	for (int i = 0; i < nr_switches / 2; i++)
		if (read(there[0], &c, 1) != 1 || write(back[1], &c, 1) != 1)
			exit(1);
	return p;
}

int main(int argc, char **argv)
{
	int nr_threads = argc > 1 ? atoi(argv[1]) : 1000;
	cpu_set_t one;
	pthread_t t;
	double begin;
	char c = 0;

	nr_switches = argc > 2 ? atoi(argv[2]) : 100000;
	begin = now_ns();
	for (int i = 0; i < nr_threads; i++)
		if (pthread_create(&t, NULL, nothing, NULL) || pthread_join(t, NULL))
			return 1;
	printf("thread %.0f\n", (now_ns() - begin) / nr_threads);
	CPU_ZERO(&one);
	CPU_SET(0, &one);
	sched_setaffinity(0, sizeof(one), &one);
	if (pipe(there) || pipe(back) || pthread_create(&t, NULL, answer, NULL))
		return 1;
	begin = now_ns();
	for (int i = 0; i < nr_switches / 2; i++)
		if (write(there[1], &c, 1) != 1 || read(back[0], &c, 1) != 1)
			return 1;
	printf("switch %.0f\n", (now_ns() - begin) / nr_switches);
	pthread_join(t, NULL);
	return 0;
}
