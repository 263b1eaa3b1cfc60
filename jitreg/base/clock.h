/* SPDX-License-Identifier: MIT */
/* The clock of all records: CLOCK_MONOTONIC.  Context: any. */
#ifndef TAILOR_CLOCK_H
#define TAILOR_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
