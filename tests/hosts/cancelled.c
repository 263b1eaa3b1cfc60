/* SPDX-License-Identifier: MIT */
/* Threads that are cancelled as soon as they are made, and whose first act is to forbid that: all of them run. */
#include <pthread.h>
#include <stdio.h>

static int ran;

static void *run(void *p)
{
	int old;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old);
	__atomic_fetch_add(&ran, 1, __ATOMIC_RELAXED);
	return p;
}

int main(void)
{
	for (int i = 0; i < 300; i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, run, NULL))
			return 1;
		pthread_cancel(t);
		pthread_join(t, NULL);
	}
	printf("%d of 300\n", ran);
	return 13;
}
