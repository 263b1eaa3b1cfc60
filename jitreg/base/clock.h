/* SPDX-License-Identifier: MIT */
/* These functions read clocks in nanoseconds. Context: any. */
#ifndef TAILOR_CLOCK_H
#define TAILOR_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Returns CLOCK_MONOTONIC as the kernel has it, which is the clock of all records' times.  In a time namespace (time_namespaces(7)),
 * clock_gettime(2) returns another time. */
uint64_t clock_now_ns(void);
/* Returns the number of nanoseconds by which this process's CLOCK_MONOTONIC is ahead of the kernel's, because of its time namespace. */
int64_t clock_ahead_ns(void);
/* Returns that number from the text of a file /proc/PID/timens_offsets, or 0 if the text has none. */
int64_t clock_parse_offsets(const char *text);

/* Returns the CPU time that the calling thread has used. */
static inline uint64_t clock_thread_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Returns CLOCK_REALTIME, the time since 1970 in UTC. */
static inline int64_t clock_real_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

#endif
