/* SPDX-License-Identifier: MIT */
/*
 * This module draws sampling periods. A program whose loop is as long as the period would always be sampled at the same place, so periods
 * are drawn at random (J. Anderson et al., Continuous Profiling: Where Have All the Cycles Gone?, 4.1.1) from within a sixteenth of the
 * requested one, which is the mean apart from rounding. This applies to hardware events and clocks with a fixed period, whether the user
 * gave it or it was computed from a rate. It does not apply to events whose period the kernel adapts to a rate, nor to other software
 * events. Page faults with the default period (FAULTS_PERIOD) have one that is drawn from a wider range, once for each counter, because
 * their samples do not have the period in them. Context: any.
 */
#ifndef TAILOR_RANDOM_PERIOD_H
#define TAILOR_RANDOM_PERIOD_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

/* This struct belongs to one opened counter, of a task or a processor, and to the counters that other tasks have inherited from it. */
struct random_period {
	uint64_t id;	 /* the kernel's id of the counter; 0: all samples that are counted here are its own */
	uint64_t period; /* current period, or the rate of an event with a frequency; 0: not set here, so samples have the right one */
	uint64_t own, all; /* samples since the last change: its own, and with those of counters that were inherited from it */
};

/* Returns the maximum distance of a drawn period from attr's, or 0 if the period is not varied. */
uint64_t random_period_spread(const struct perf_event_attr *attr);
/* Is the period drawn when the counter is opened, and never changed?  Then samples of counters that inherit it have it as well. */
bool random_period_is_once(const struct perf_event_attr *attr);
/* Draws a period. random: 64 random bits. The period is at most the spread from attr's, and at least about a fourth of the spread, except
 * that short periods may be rounded to attr's, in the steps of IBS or to the least period of clocks. It is shorter if random's highest bit
 * is set, else longer. Returns attr's period if that is not varied. Page faults have a range of their own. */
uint64_t random_period_draw(const struct perf_event_attr *attr, uint64_t random);

/* Counts a sample of the counter with this id, which is v itself or was inherited from it. Returns true if it is v's own. */
bool random_period_count_sample(struct random_period *v, uint64_t id);
/* Is it time to change the period?  A change ends the current period early, which costs half a sample on average, so enough samples must
 * have come since the last change to make that negligible. */
bool random_period_is_due(const struct random_period *v);
/* Notes that the period was changed. */
void random_period_note_change(struct random_period *v, uint64_t period);

#endif
