/* SPDX-License-Identifier: MIT */
/*
 * Does the agent hold its host up?  pace FILE fill|spare: two threads announce code, and one of them makes further threads, until there
 * is that FILE; then they announce more than a log can hold (fill), and do a lot of both in three stretches.  Each part is a line: how
 * many calls there were, and in how many of them the thread left the processor by its own will.  Who waits for somebody
 * does; who does not wait does not, however busy the machine is.
 */
#define _GNU_SOURCE
#include "jitreg.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define STRETCHES 3
#define THREADS 100 /* of one stretch */
#define CODE_BYTES 4096
#define LOG_BYTES (64u << 20)
#define LONG_MS 2500
#define LONG_ENOUGH 3 /* so many long calls are evident */

enum { FIRST, FILL, STRETCH }; /* and further stretches */

static struct {
	uint64_t announced, announced_slept, threads, threads_slept;
} counts[STRETCH + STRETCHES];
static unsigned char code[2][2 * CODE_BYTES];
static const char *go;
static uint64_t per_stretch = 1000, longest_ns, nr_long;
static int fill;
static pthread_barrier_t barrier;

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static long sleeps(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw;
}

static void took(uint64_t ns)
{
	uint64_t longest = __atomic_load_n(&longest_ns, __ATOMIC_RELAXED);

	if (ns > LONG_MS * 1000000ull)
		__atomic_fetch_add(&nr_long, 1, __ATOMIC_RELAXED);
	while (ns > longest && !__atomic_compare_exchange_n(&longest_ns, &longest, ns, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		;
}

static void announce(int part, int thread, uint64_t i, uint64_t bytes)
{
	uint64_t begin = now_ns();
	long before = sleeps();

	jitreg_code_load(0x100000 + i % 1000 * CODE_BYTES, bytes, i, "paced", code[thread] + i % CODE_BYTES);
	__atomic_fetch_add(&counts[part].announced, 1, __ATOMIC_RELAXED);
	if (sleeps() != before)
		__atomic_fetch_add(&counts[part].announced_slept, 1, __ATOMIC_RELAXED);
	took(now_ns() - begin);
}

/* What it slept until here, it slept in the agent. */
static void *began(void *part)
{
	if (sleeps())
		__atomic_fetch_add(&counts[*(int *)part].threads_slept, 1, __ATOMIC_RELAXED);
	return NULL;
}

static void make_thread(int part)
{
	uint64_t begin = now_ns();
	pthread_t t;

	if (nr_long >= LONG_ENOUGH || pthread_create(&t, NULL, began, &part))
		return;
	pthread_join(t, NULL);
	counts[part].threads++;
	took(now_ns() - begin);
}

static void *work(void *p)
{
	int thread = p != NULL;

	for (uint64_t i = 0; access(go, F_OK); i++) {
		announce(FIRST, thread, i, 64);
		if (!thread && i % 8 == 0)
			make_thread(FIRST);
		usleep(200);
	}
	for (uint64_t i = 0; fill && i < 3 * LOG_BYTES / 4 / CODE_BYTES; i++)
		announce(FILL, thread, i, CODE_BYTES);
	for (int part = STRETCH; part < STRETCH + STRETCHES; part++) {
		pthread_barrier_wait(&barrier);
		for (uint64_t i = 0; i < per_stretch; i++) {
			announce(part, thread, i, CODE_BYTES);
			if (!thread && i % (per_stretch / THREADS) == 0)
				make_thread(part);
		}
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t;

	if (argc != 3)
		return 2;
	go = argv[1];
	fill = strcmp(argv[2], "fill") == 0;
	if (fill)
		per_stretch = 4000;
	for (size_t i = 0; i < sizeof(code); i++) /* nothing that a compressor could make small */
		code[i / sizeof(code[0])][i % sizeof(code[0])] = (unsigned char)(random() >> 8);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&t, NULL, work, code);
	work(NULL);
	pthread_join(t, NULL);
	for (int part = 0; part < STRETCH + STRETCHES; part++)
		printf("%s: %llu announced, %llu slept, %llu threads, %llu slept, longest_ms %llu\n",
		       part == FIRST ? "first" : part == FILL ? "fill" : "stretch", (unsigned long long)counts[part].announced,
		       (unsigned long long)counts[part].announced_slept, (unsigned long long)counts[part].threads,
		       (unsigned long long)counts[part].threads_slept, (unsigned long long)longest_ns / 1000000);
	return 0;
}
