/* SPDX-License-Identifier: MIT */
/* crowd THREADS: all of them compute until SIGTERM. */
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

static volatile unsigned long sum;

static void *compute(void *unused)
{
	(void)unused;
	for (unsigned long i = 0;; i++)
		sum += i * i;
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	for (int i = argc > 1 ? atoi(argv[1]) : 1; i > 0; i--)
		if (pthread_create(&thread, NULL, compute, NULL))
			return 2;
	pause();
	return 0;
}
