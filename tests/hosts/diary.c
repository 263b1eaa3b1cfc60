/* SPDX-License-Identifier: MIT */
/*
 * Keeps a diary that outlives it: diary FILE MS.  Two threads use the processor, for MS each, and announce code (every millisecond of
 * processor time); into FILE, mapped and shared, each writes what time it was, by the clock and by its own processor time, every
 * 0.1 ms of that, and how many announcements it has begun and ended.
 * FILE: for each thread four 64-bit numbers (entries, announcements begun, ended, 0), then ENTRIES pairs of nanoseconds.
 */
#include "jitreg.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define THREADS 2
#define ENTRIES 65536
#define EVERY_NS 100000
#define ANNOUNCE 10 /* every so many entries */

struct diary {
	uint64_t nr, begun, ended, reserved;
	uint64_t entry[ENTRIES][2];
};

static struct diary *diary;
static uint64_t most_ns;

static uint64_t now_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void *work(void *p)
{
	static const unsigned char code[64];
	struct diary *d = p;
	uint64_t thread = (uint64_t)(d - diary), at, last = 0;
	volatile double x = 0;

	while ((at = now_ns(CLOCK_THREAD_CPUTIME_ID)) < most_ns) {
		for (int i = 0; i < 1000; i++)
			x += i;
		if ((last && at < last + EVERY_NS) || d->nr == ENTRIES)
			continue;
		last = at;
		d->entry[d->nr][0] = now_ns(CLOCK_MONOTONIC);
		d->entry[d->nr][1] = at;
		__atomic_store_n(&d->nr, d->nr + 1, __ATOMIC_RELEASE);
		if (d->nr % ANNOUNCE)
			continue;
		__atomic_store_n(&d->begun, d->begun + 1, __ATOMIC_RELEASE);
		jitreg_code_load((thread + 1) << 32 | d->ended * 64, sizeof(code), thread << 32 | d->ended, "announced", code);
		__atomic_store_n(&d->ended, d->ended + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	int fd = argc == 3 ? open(argv[1], O_RDWR | O_CREAT, 0600) : -1;
	pthread_t t;

	if (fd < 0 || ftruncate(fd, THREADS * sizeof(*diary)))
		return 2;
	diary = mmap(NULL, THREADS * sizeof(*diary), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (diary == MAP_FAILED)
		return 2;
	most_ns = strtoull(argv[2], NULL, 10) * 1000000;
	pthread_create(&t, NULL, work, diary + 1);
	work(diary);
	pthread_join(t, NULL);
	return 0;
}
