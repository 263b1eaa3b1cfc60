/* SPDX-License-Identifier: MIT */
/*
 * This module reads perf's own clock (local_clock()), by which the kernel times records of events without use_clockid. On most machines it
 * is computed from the processor's time stamp counter, with numbers in an event's mapped page (linux/perf_event.h: time_zero, time_mult,
 * time_shift).
 * Context: thread.
 */
#ifndef TAILOR_PERF_CLOCK_H
#define TAILOR_PERF_CLOCK_H

#include "agent/recorder/perf/clock_pairs.h"

#include <linux/perf_event.h>
#include <stdbool.h>

struct perf_clock {
	uint64_t zero_ns;
	uint32_t mult;
	uint16_t shift;
};

/* Reads the numbers of the clock from an event that it opens for this.  Returns false if they are unavailable (no perf events, a virtual
 * machine's clock, an unstable counter). */
bool perf_clock_read(struct perf_clock *out);
/* Reads the numbers of the clock from an event's page.  Returns false if the page has none. */
bool perf_clock_of_page(const struct perf_event_mmap_page *page, struct perf_clock *out);
/* Returns the time of perf's clock at a value of the processor's time stamp counter. */
uint64_t perf_clock_ns(const struct perf_clock *c, uint64_t counter);
/* Reads perf's clock and CLOCK_MONOTONIC at one moment, usually to within 50 ns, and adds the pair. */
void perf_clock_add_pair(const struct perf_clock *c, struct clock_pairs *to);

#endif
