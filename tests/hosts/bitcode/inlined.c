/* SPDX-License-Identifier: MIT */
/* For lli: for some seconds (1) a function that is inlined into two others, which do little themselves. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((always_inline)) static inline unsigned long inner(unsigned long x, int n)
{
	for (int i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
	}
	return x;
}

__attribute__((noinline)) static unsigned long often(unsigned long x)
{
	return inner(x, 300000) + 1;
}

__attribute__((noinline)) static unsigned long rarely(unsigned long x)
{
	return inner(x, 100000) + 2;
}

int main(int argc, char **argv)
{
	double seconds = argc > 1 ? atof(argv[1]) : 1;
	struct timespec now, begin;
	unsigned long x = 88172645463325252ul;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		x = rarely(often(x));
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((double)(now.tv_sec - begin.tv_sec) + (double)(now.tv_nsec - begin.tv_nsec) * 1e-9 < seconds);
	printf("%d\n", x != 0);
	return 0;
}
