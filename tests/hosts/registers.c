/* SPDX-License-Identifier: MIT */
/*
 * Registers components in the ways that lose records: from a library's constructor, from two threads at once as the first that look for the
 * agent, from many threads in a log that fills.  Prints how many calls returned 0:
 *	CONSTRUCT=1 registers constructor | registers ids | registers race THREADS | registers many THREADS RECORDS
 * With -DLIBRARY the library (its constructor is what counts).
 */
#define _GNU_SOURCE
#include "jitreg.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int library_said(void);
uint64_t library_ids(uint64_t wanted);

#ifdef LIBRARY
static int said = -1;

__attribute__((constructor)) static void construct(void)
{
	if (getenv("CONSTRUCT"))
		said = jitreg_component(2, 1, "of the library's constructor", "", 0);
}

int library_said(void)
{
	return (said == 0) + (jitreg_component(2, 2, "of the library", "", 0) == 0);
}

uint64_t library_ids(uint64_t wanted)
{
	(void)wanted;
	return jitreg_new_ids(wanted);
}
#else
static volatile int ready, go;
static unsigned long nr;
static unsigned long accepted[64];

static void *first(void *p)
{
	unsigned long me = (unsigned long)p;

	__atomic_fetch_add(&ready, 1, __ATOMIC_ACQ_REL);
	while (!__atomic_load_n(&go, __ATOMIC_ACQUIRE))
		;
	accepted[me] = jitreg_component(2, me + 1, "of a thread", "", 0) == 0;
	return NULL;
}

static void *many(void *p)
{
	unsigned long me = (unsigned long)p;

	for (unsigned long i = 1; i <= nr; i++)
		accepted[me] += jitreg_component(2, me << 32 | i, "one of many", "", 0) == 0;
	return NULL;
}

static unsigned long run(unsigned long threads, void *(*main_of)(void *))
{
	unsigned long sum = 0;
	pthread_t t[64];

	for (unsigned long i = 0; i < threads; i++)
		pthread_create(&t[i], NULL, main_of, (void *)i);
	while (main_of == first && __atomic_load_n(&ready, __ATOMIC_ACQUIRE) != (int)threads)
		sched_yield();
	__atomic_store_n(&go, 1, __ATOMIC_RELEASE);
	for (unsigned long i = 0; i < threads; i++) {
		pthread_join(t[i], NULL);
		sum += accepted[i];
	}
	return sum;
}

static int constructed = -1;

__attribute__((constructor)) static void construct(void)
{
	if (getenv("CONSTRUCT"))
		constructed = jitreg_component(2, 3, "of the program's constructor", "", 0);
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	unsigned long threads = argc > 2 ? strtoul(argv[2], NULL, 10) : 2;

	nr = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
	if (strcmp(how, "ids") == 0) {
		uint64_t ours = jitreg_new_ids(1000), theirs = library_ids(1000), again = jitreg_new_ids(1000);

		printf("%s\n", ours + 1000 <= again && (theirs + 1000 <= ours || theirs >= ours + 1000) &&
				       (theirs + 1000 <= again || theirs >= again + 1000) && theirs >> 32 == 0 ? "disjoint" : "overlap");
		return 0;
	}
	if (strcmp(how, "constructor") == 0)
		printf("%d\n", library_said() + (constructed == 0) + (jitreg_component(2, 4, "of main", "", 0) == 0));
	else
		printf("%lu\n", run(threads < 64 ? threads : 64, strcmp(how, "race") == 0 ? first : many));
	return 0;
}
#endif
