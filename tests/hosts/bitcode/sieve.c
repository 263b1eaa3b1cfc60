/* SPDX-License-Identifier: MIT */
/* For lli: a few hot functions on lines of their own, for some seconds (1) of processor time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define N 200000

static char composite[N];

__attribute__((noinline)) static int sieve(void)
{
	int primes = 0;

	memset(composite, 0, N);
	for (int i = 2; i < N; i++) {
		if (composite[i])
			continue;
		primes++;
		for (long j = (long)i * i; j < N; j += i)
			composite[j] = 1;
	}
	return primes;
}

__attribute__((noinline)) static unsigned collatz(unsigned long n)
{
	unsigned steps = 0;

	while (n != 1) {
		n = n % 2 ? 3 * n + 1 : n / 2;
		steps++;
	}
	return steps;
}

int main(int argc, char **argv)
{
	clock_t end = clock() + (clock_t)((argc > 1 ? atof(argv[1]) : 1) * CLOCKS_PER_SEC);
	unsigned long sum;

	do {
		sum = (unsigned long)sieve();
		for (unsigned long n = 1; n < 6000; n++)
			sum += collatz(n);
	} while (clock() < end);
	printf("%lu\n", sum);
	return 0;
}
