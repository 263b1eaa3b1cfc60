/* SPDX-License-Identifier: MIT */
/* C11 threads that work; libc makes them without pthread_create. */
#include <stdio.h>
#include <threads.h>

static int work(void *p)
{
	unsigned long x = (unsigned long)p;

	for (int i = 0; i < 150000000; i++)
		x = x * 6364136223846793005ul + 1;
	return (int)(x >> 40);
}

int main(void)
{
	int sum = 0, r;

	for (long i = 0; i < 3; i++) {
		thrd_t t;

		if (thrd_create(&t, work, (void *)i) != thrd_success || thrd_join(t, &r) != thrd_success)
			return 1;
		sum ^= r;
	}
	printf("%x\n", sum);
	return 16;
}
