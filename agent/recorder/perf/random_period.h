/* SPDX-License-Identifier: MIT */
/*
 * Random sampling periods.  A program whose loop is as long as the period would always be sampled at the same place, so periods are
 * drawn at random (J. Anderson et al., Continuous Profiling: Where Have All the Cycles Gone?, 4.1.1) from within a sixteenth of the
 * requested one, which is the mean.  This applies to counters and clocks, to rates and to periods given by the user; not to events whose
 * period the kernel adapts to a rate, nor to software events other than clocks, each of which is sampled.  Page faults without a period of
 * the user's have one that is drawn from a wider range, once for each counter, as their samples do not say which.  Context: any.
 */
#ifndef TAILOR_RANDOM_PERIOD_H
#define TAILOR_RANDOM_PERIOD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* One opened counter, which is a thread's or is inherited by other tasks. */
struct random_period {
	uint64_t id;	 /* the kernel's; 0: all samples of its ring are its own */
	uint64_t period; /* current period; 0: samples say it */
	uint64_t own, all; /* samples since the last change: its own, and with those of counters that were inherited from it */
};

/* Maximum distance of a period from attr's; 0: it is fixed. */
uint64_t random_period_spread(const struct perf_event_attr *attr);
/* Is the period drawn when the counter is opened, and never changed?  Then samples of counters that inherit it have it as well. */
bool random_period_is_once(const struct perf_event_attr *attr);
/* A random period, at most that far from attr's, and at least a fourth of that; random's highest bit set: a shorter one. */
uint64_t random_period_draw(const struct perf_event_attr *attr, uint64_t random);

/* Counts a sample of the counter with this id; true: it is this counter's own. */
bool random_period_count_sample(struct random_period *v, uint64_t id);
/* A change ends the current period, which costs half a sample on average: have enough samples come to make that negligible? */
bool random_period_is_due(const struct random_period *v);
/* Notes that the period was changed. */
void random_period_note_change(struct random_period *v, uint64_t period);

#endif
