/* SPDX-License-Identifier: MIT */
#include "agent/recorder/perf/random_period.h"

#include "agent/recorder/perf/event_internal.h"

#define PART 16	 /* a period varies by at most 1/16 of it, up or down */
/* A period varies by at least 1/64 of it, apart from rounding, so 64 samples or fewer pass through a loop that is as long as the period. */
#define APART 64
#define STEP 16	 /* AMD's IBS counts in such steps, so periods of precise events are varied in them */
#define OWN_SAMPLES 20 /* samples of the counter itself after which its period changes */
/* The period of a counter that has few samples itself (as its task waits) changes after so many samples of it and its inherited counters.
 * Counters that are inherited later have the new period. */
#define ALL_SAMPLES 1000

/* These are bounds of the periods of page faults whose period is the default one. The harmonic mean of the range is about FAULTS_PERIOD, so
 * there are as many samples as with that period. */
#define FAULTS_SHORTEST 6u
#define FAULTS_LONGEST 16u

bool random_period_is_once(const struct perf_event_attr *a)
{
	return event_is_fault(a) && a->sample_period == FAULTS_PERIOD && !a->freq;
}

uint64_t random_period_spread(const struct perf_event_attr *a)
{
	if (random_period_is_once(a))
		return FAULTS_LONGEST - FAULTS_PERIOD;
	if (a->freq || (!event_is_clock(a) && !event_is_hardware(a)))
		return 0;
	return a->precise_ip ? a->sample_period / PART & ~(uint64_t)(STEP - 1) : a->sample_period / PART;
}

static uint64_t nearest_possible_period(const struct perf_event_attr *a, uint64_t period)
{
	if (a->precise_ip)
		return period - (period - a->sample_period) % STEP;
	return event_is_clock(a) && period < EVENT_CLOCK_PERIOD_LEAST ? EVENT_CLOCK_PERIOD_LEAST : period;
}

uint64_t random_period_draw(const struct perf_event_attr *a, uint64_t random)
{
	uint64_t spread = random_period_spread(a), least = a->sample_period / APART, off;

	if (!spread)
		return a->sample_period;
	if (random_period_is_once(a))
		return FAULTS_SHORTEST + (random & INT64_MAX) % (FAULTS_LONGEST - FAULTS_SHORTEST + 1);
	off = spread > least ? least + (random & INT64_MAX) % (spread - least + 1) : spread;
	return nearest_possible_period(a, random >> 63 ? a->sample_period - off : a->sample_period + off);
}

bool random_period_count_sample(struct random_period *v, uint64_t id)
{
	bool own = !v->id || id == v->id;

	v->own += own;
	v->all++;
	return own;
}

bool random_period_is_due(const struct random_period *v)
{
	return v->own >= OWN_SAMPLES || v->all >= ALL_SAMPLES;
}

void random_period_note_change(struct random_period *v, uint64_t period)
{
	v->own = v->all = 0;
	v->period = period;
}
