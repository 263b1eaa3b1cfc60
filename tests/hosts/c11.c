/* SPDX-License-Identifier: MIT */
/* C11 threads that work; libc makes them without pthread_create: c11 [MILLIONS of turns of each]. */
#include <stdio.h>
#include <stdlib.h>
#include <threads.h>

static unsigned long turns;

__attribute__((noinline)) static int work(void *p)
{
	unsigned long x = (unsigned long)p;

	for (unsigned long i = 0; i < turns; i++)
		x = x * 6364136223846793005ul + 1;
	return (int)(x >> 40);
}

int main(int argc, char **argv)
{
	int sum = 0, r;

	turns = 1000000 * (argc > 1 ? strtoul(argv[1], NULL, 10) : 30);
	for (long i = 0; i < 3; i++) {
		thrd_t t;

		if (thrd_create(&t, work, (void *)i) != thrd_success || thrd_join(t, &r) != thrd_success)
			return 1;
		sum ^= r;
	}
	printf("%x\n", sum);
	return 16;
}
