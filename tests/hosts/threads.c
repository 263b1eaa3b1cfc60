/* SPDX-License-Identifier: MIT */
/* Threads that end in every way there is: return, pthread_exit, cancellation, detached; results are checked. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NR 200

static int cleaned, detached;

static void clean(void *p)
{
	__atomic_fetch_add(&cleaned, *(int *)p, __ATOMIC_RELAXED);
}

static unsigned long work(unsigned long n)
{
	unsigned long x = n;

	for (int i = 0; i < 100000; i++)
		x = x * 6364136223846793005ul + 1;
	return x;
}

static void *returns(void *p)
{
	return (void *)work((unsigned long)p);
}

static void *exits(void *p)
{
	pthread_exit((void *)work((unsigned long)p));
}

static void *waits(void *p)
{
	pthread_cleanup_push(clean, p);
	for (;;)
		pause();
	pthread_cleanup_pop(0);
}

static void *is_detached(void *p)
{
	(void)p;
	work(3);
	__atomic_fetch_add(&detached, 1, __ATOMIC_RELEASE);
	return NULL;
}

int main(void)
{
	pthread_attr_t attr;
	unsigned long sum = 0;
	int one = 1;

	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < NR; i++) {
		pthread_t a, b, c, d;
		void *ra, *rb, *rc;

		if (pthread_create(&a, NULL, returns, (void *)(long)i) || pthread_create(&b, NULL, exits, (void *)(long)i) ||
		    pthread_create(&c, NULL, waits, &one) || pthread_create(&d, &attr, is_detached, NULL))
			return 1;
		pthread_cancel(c);
		pthread_join(a, &ra);
		pthread_join(b, &rb);
		pthread_join(c, &rc);
		if (ra != rb || rc != PTHREAD_CANCELED)
			return 2;
		sum += (unsigned long)ra;
	}
	while (__atomic_load_n(&detached, __ATOMIC_ACQUIRE) != NR)
		usleep(1000);
	/* a thread that is cancelled before it gets to its handler does not clean up, so the number is not printed */
	printf("%lx\n", sum);
	return cleaned <= NR ? 7 : 3;
}
