/* SPDX-License-Identifier: MIT */
/*
 * For lli: works for some seconds (2) in functions of its own, in two threads if there is a second argument.  The third is a folder: it
 * makes the file `warm` there after its first round, and ends as soon as there is one called `enough`.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static double seconds = 2;
static int in_folder;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

__attribute__((noinline)) static unsigned long mix(unsigned long x)
{
	for (int i = 0; i < 100000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

__attribute__((noinline)) static unsigned long divide(unsigned long x)
{
	unsigned long sum = 0;

	for (unsigned long i = 1; i < 20000; i++)
		sum += x / i % 7;
	return sum;
}

static void *work(void *sum)
{
	double end = now() + seconds;
	unsigned long x = 88172645463325252ul;

	do {
		x = mix(x);
		*(unsigned long *)sum += divide(x);
	} while (now() < end && !(in_folder && access("enough", F_OK) == 0));
	return NULL;
}

int main(int argc, char **argv)
{
	unsigned long sums[2] = { 1, 1 };
	pthread_t second;

	if (argc > 1)
		seconds = atof(argv[1]);
	if (argc > 3) {
		FILE *f;

		sums[0] += divide(mix(1));
		f = chdir(argv[3]) == 0 ? fopen("warm", "w") : NULL;
		if (!f)
			return 1;
		fclose(f);
		in_folder = 1;
	}
	if (argc > 2)
		pthread_create(&second, NULL, work, &sums[1]);
	work(&sums[0]);
	if (argc > 2)
		pthread_join(second, NULL);
	puts(sums[0] && sums[1] ? "done" : "impossible");
	return 0;
}
