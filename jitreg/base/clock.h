/* SPDX-License-Identifier: MIT */
/* Clocks in nanoseconds.  Context: any. */
#ifndef TAILOR_CLOCK_H
#define TAILOR_CLOCK_H

#include <stdint.h>
#include <time.h>

/* The clock of all records, CLOCK_MONOTONIC. */
static inline uint64_t clock_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Processor time of the calling thread. */
static inline uint64_t clock_thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The time of day since 1970, CLOCK_REALTIME. */
static inline int64_t clock_real_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
