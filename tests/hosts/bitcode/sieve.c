/* SPDX-License-Identifier: MIT */
/* For lli: a few hot functions on lines of their own. */
#include <stdio.h>
#include <string.h>

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

int main(void)
{
	unsigned long sum = 0;

	for (int round = 0; round < 500; round++)
		sum += (unsigned long)sieve();
	for (unsigned long n = 1; n < 3000000; n++)
		sum += collatz(n);
	printf("%lu\n", sum);
	return 0;
}
