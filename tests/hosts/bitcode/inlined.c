/* SPDX-License-Identifier: MIT */
/* For lli: for some seconds (1) of processor time a function that is inlined into two others, which do little themselves.  A round is
 * much shorter than the time between samples: these come at any point of it. */
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
	return inner(x, 3000) + 1;
}

__attribute__((noinline)) static unsigned long rarely(unsigned long x)
{
	return inner(x, 1000) + 2;
}

int main(int argc, char **argv)
{
	clock_t end = clock() + (clock_t)((argc > 1 ? atof(argv[1]) : 1) * CLOCKS_PER_SEC);
	unsigned long x = 88172645463325252ul;

	do {
		for (int i = 0; i < 20; i++)
			x = rarely(often(x));
	} while (clock() < end);
	printf("%d\n", x != 0);
	return 0;
}
