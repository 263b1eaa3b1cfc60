/* SPDX-License-Identifier: MIT */
/*
 * Call stacks of about twenty frames that differ from moment to moment: 64 functions with frames of their own kinds, called
 * in an order that pseudo-random numbers choose, now and then through qsort.  deep SECONDS [THREADS]: of processor
 * time, each thread
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double seconds;

struct state {
	unsigned long random, sum;
};

typedef unsigned long step(struct state *s, int depth, unsigned long a, unsigned long b, unsigned long c);
extern step *const steps[64];

static inline unsigned long next_random(struct state *s)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	return s->random ^= s->random << 17;
}

static __attribute__((noinline)) unsigned long leaf(struct state *s)
{
	for (int i = 0; i < 20; i++)
		s->sum += next_random(s) % 1000;
	return s->sum;
}

static __thread struct state *current;

static int compare(const void *a, const void *b)
{
	leaf(current);
	return *(const int *)a - *(const int *)b;
}

static __attribute__((noinline)) unsigned long sorted(struct state *s)
{
	int numbers[] = { 3, 2, 1 };

	current = s;
	qsort(numbers, 3, sizeof(numbers[0]), compare);
	return (unsigned long)numbers[0];
}

/* What a step keeps over its call: nothing, registers, memory. */
#define STEP(n) \
	static __attribute__((noinline)) unsigned long step_##n(struct state *s, int depth, unsigned long a, unsigned long b, \
								unsigned long c) \
	{ \
		volatile unsigned long room[1 + (n) % 7]; \
		unsigned long r; \
		room[0] = a; \
		if (depth == 0) \
			return (n) % 8 ? leaf(s) : sorted(s); \
		r = steps[next_random(s) & 63](s, depth - 1, b + n, c, a); \
		if ((n) % 3 == 0) \
			return r + room[0]; \
		return (n) % 3 == 1 ? (r ^ a ^ b) + room[0] : (r + a) * (b | 1) + (c ^ (unsigned long)depth) + room[0]; \
	}
#define EIGHT(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define ALL(X) EIGHT(X, 1) EIGHT(X, 2) EIGHT(X, 3) EIGHT(X, 4) EIGHT(X, 5) EIGHT(X, 6) EIGHT(X, 7) EIGHT(X, 8)
ALL(STEP)
#define NAME(n) step_##n,
step *const steps[64] = { ALL(NAME) };

static void *work(void *random)
{
	struct state s = { (unsigned long)random, 0 };
	struct timespec now;

	do {
		for (int i = 0; i < 1000; i++)
			steps[i & 63](&s, 17 + i % 8, 1, 2, 3);
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	} while ((double)now.tv_sec + (double)now.tv_nsec * 1e-9 < seconds);
	return NULL;
}

int main(int argc, char **argv)
{
	int nr = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t thread[64];

	seconds = argc > 1 ? atof(argv[1]) : 1;
	for (int i = 1; i < nr && i < 64; i++)
		pthread_create(&thread[i], NULL, work, (void *)(88172645463325252ul + (unsigned long)i));
	work((void *)88172645463325252ul);
	for (int i = 1; i < nr && i < 64; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
