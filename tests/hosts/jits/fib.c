/* SPDX-License-Identifier: MIT */
/* fib SECONDS ROUNDS_FILE, static, for emulators. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

__attribute__((noinline)) static int fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

__attribute__((noinline)) static int bif(int n)
{
	return n < 2 ? n : bif(n - 1) + bif(n - 2);
}

int main(int argc, char **argv)
{
	volatile int n = 20;
	long rounds = 0, result = 0;
	clock_t end;
	FILE *f;

	if (argc < 3)
		return 1;
	end = clock() + atoi(argv[1]) * CLOCKS_PER_SEC;
	while (clock() < end) {
		result = fib(n) + fib(n) + fib(n) + bif(n);
		rounds++;
	}
	printf("result %ld\n", result);
	f = fopen(argv[2], "w");
	fprintf(f, "%ld\n", rounds);
	return fclose(f);
}
