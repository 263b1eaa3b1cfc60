/* SPDX-License-Identifier: MIT */
/*
 * Two threads on one processor: one works, the other sleeps, and is woken while the first one works.  Prints what the kernel says of the
 * second one: how long it waited for a processor, in ns, and how often it ran.  Argument: how often it sleeps.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile int done;

static void *work(void *unused)
{
	for (volatile long n = 0; !done; n++)
		;
	return unused;
}

__attribute__((noinline)) static void sleep_often(long times)
{
	for (struct timespec t = { 0, 1000000 }; times > 0; times--)
		nanosleep(&t, NULL);
}

static void print_schedstat(void)
{
	unsigned long ran, queued, times;
	char path[64];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%ld/schedstat", syscall(SYS_gettid));
	f = fopen(path, "re");
	if (f && fscanf(f, "%lu %lu %lu", &ran, &queued, &times) == 3)
		printf("%lu %lu\n", queued, times);
	if (f)
		fclose(f);
}

int main(int argc, char **argv)
{
	cpu_set_t one;
	pthread_t t;

	CPU_ZERO(&one);
	CPU_SET((unsigned)sched_getcpu(), &one);
	if (argc < 2 || sched_setaffinity(0, sizeof(one), &one) || pthread_create(&t, NULL, work, NULL))
		return 2;
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 10);
	sleep_often(atol(argv[1]));
	print_schedstat();
	done = 1;
	pthread_join(t, NULL);
	return 0;
}
