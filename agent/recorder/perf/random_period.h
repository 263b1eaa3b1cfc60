/* SPDX-License-Identifier: MIT */
/*
 * A program whose loop is as long as the sampling period would be sampled at one place for ever, so periods vary (J. Anderson et al.,
 * Continuous Profiling: Where Have All the Cycles Gone?, 4.1.1): each is drawn anew from within a sixteenth of the one that was asked
 * for, which is the mean.  So do those of counters and clocks, of rates and of periods that the user wrote alike; not those that the
 * kernel varies by itself to hold a rate, nor its own events other than clocks, of which it samples each.  Context: any.
 */
#ifndef TAILOR_RANDOM_PERIOD_H
#define TAILOR_RANDOM_PERIOD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* One opened counter: that of a thread, or the one that other tasks' have been inherited from. */
struct random_period {
	uint64_t id;	 /* the kernel's; 0: all samples of its ring are its own */
	uint64_t period; /* the one in use; 0: as the samples say */
	uint64_t own, all; /* samples since the last change: its own, and with those of counters that were inherited from it */
};

/* How far a period of such an event is from attr's, at most; 0: it stays. */
uint64_t random_period_spread(const struct perf_event_attr *attr);
/* One that is at most so far from attr's, and at least a fourth of that, as chance will have it; random's highest bit: a shorter one. */
uint64_t random_period_draw(const struct perf_event_attr *attr, uint64_t random);

/* A sample has come, of the counter with this id; true: its own. */
bool random_period_take(struct random_period *v, uint64_t id);
/* A change ends the period that has begun, which costs half a sample on average: is that next to nothing by now? */
bool random_period_is_due(const struct random_period *v);
/* The period was changed to this one. */
void random_period_changed(struct random_period *v, uint64_t period);

#endif
