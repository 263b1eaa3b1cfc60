/* SPDX-License-Identifier: MIT */
/*
 * perf's own clock (local_clock()), which records of events without use_clockid have.  The kernel says in an event's page how it
 * comes from the processor's time stamp counter (linux/perf_event.h: time_zero, time_mult, time_shift), where it does.
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

/* Ask the kernel.  False: it does not say (no perf events, a virtual machine's clock, an unstable counter). */
bool perf_clock_read(struct perf_clock *out);
/* Take the clock that stands in this page.  False: there is none. */
bool perf_clock_of_page(const struct perf_event_mmap_page *page, struct perf_clock *out);
/* What perf's clock says when the counter says that. */
uint64_t perf_clock_ns(const struct perf_clock *c, uint64_t counter);
/* Read perf's clock and CLOCK_MONOTONIC at one moment, to some 50 ns. */
void perf_clock_add_pair(const struct perf_clock *c, struct clock_pairs *to);

#endif
