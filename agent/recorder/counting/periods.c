/* SPDX-License-Identifier: MIT */
/* This file draws periods at random, lowers the rates of events on request, and limits counters to their rates. */
#include "agent/recorder/counting/internal.h"

#include "jitreg/base/clock.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/random.h>


static uint64_t draw_random_number(struct periods *p)
{
	uint64_t high;

	/* Knuth's generator for MMIX; its high half is random enough */
	p->random = p->random * 6364136223846793005ull + 1442695040888963407ull;
	high = p->random >> 32 << 32;
	p->random = p->random * 6364136223846793005ull + 1442695040888963407ull;
	return high | p->random >> 32;
}

struct perf_event_attr counting_randomize_period(struct counting *c, const struct perf_event_attr *attr, int cpu)
{
	struct perf_event_attr a = *attr;
	/* neighbouring processors begin on different sides of the mean, and the first one's side is random */
	uint64_t side = (c->periods.first_side + (uint64_t)cpu) & 1;

	/* attached counters of a ring share this period, because the sample of an inherited one does not tell which period it has */
	if (random_period_spread(attr) && !(c->attaching && random_period_is_once(attr)))
		a.sample_period = random_period_draw(attr, draw_random_number(&c->periods) >> 1 | side << 63);
	return a;
}

static void set_event_period(struct ring *r, int event, uint64_t period)
{
	if (ioctl(event == 0 ? r->fd : r->more[event - 1], PERF_EVENT_IOC_PERIOD, &period) == 0)
		random_period_note_change(&r->random_period[event], period);
}

void counting_randomize_ring_periods(struct counting *c, struct ring *r)
{
	for (int i = 0; i <= r->nr_more; i++)
		if (random_period_spread(&c->events.event[i].attr))
			set_event_period(r, i, random_period_draw(&c->events.event[i].attr, draw_random_number(&c->periods)));
}

void counting_seed_periods(struct counting *c)
{
	if (getrandom(&c->periods.random, sizeof(c->periods.random), GRND_NONBLOCK) < 0)
		c->periods.random = clock_now_ns();
	c->periods.first_side = draw_random_number(&c->periods) & 1;
}

uint64_t counting_draw_period(struct counting *c, const struct perf_event_attr *attr, const struct random_period *v)
{
	if (random_period_is_once(attr))
		return 0;
	return random_period_is_due(v) && random_period_spread(attr) ? random_period_draw(attr, draw_random_number(&c->periods)) : 0;
}

/* Varies the periods of events that write into kept rings. */
static void vary_attached_periods(struct counting *c)
{
	for (uint32_t i = 0; i < c->attached.nr; i++) {
		struct attached *a = &c->attached.at[i];
		uint64_t period;

		if (a->event == ATTACHED_ON_CPU || !a->period.period)
			continue;
		period = counting_draw_period(c, &c->events.event[a->event].attr, &a->period);
		if (!period)
			continue;
		counting_drain_rings(c); /* samples in the rings had the previous period */
		if (ioctl(a->fd, PERF_EVENT_IOC_PERIOD, &period) == 0)
			random_period_note_change(&a->period, period);
	}
}

/*
 * Sets new periods of the rings' own counters, or of the attached ones if rings are kept, where enough samples have come for that. Counters
 * that are inherited from them from now on have the new periods. The kernel has no way to reach counters that were inherited before.
 */
void counting_vary_periods(struct counting *c, uint64_t now_ns)
{
	if (now_ns - c->periods.varied_ns < PERIODS_VARY_NS)
		return;
	c->periods.varied_ns = now_ns;
	if (c->rings.are_kept) {
		vary_attached_periods(c);
		return;
	}
	for (size_t i = 0; i < c->rings.nr; i++)
		for (int e = 0; e <= c->rings.at[i].nr_more; e++) {
			struct ring *r = &c->rings.at[i];

			uint64_t period = counting_draw_period(c, &c->events.event[e].attr, &r->random_period[e]);

			if (!period)
				continue;
			counting_drain_ring(c, r); /* samples in the ring had the previous period */
			set_event_period(r, e, period);
		}
}

/* Sets the rate of one event, for its rings and for counters that are opened later.  PERF_EVENT_IOC_PERIOD sets the frequency of an event
 * that has one, else the period. */
static void set_rate(struct counting *c, int event, uint32_t halvings)
{
	struct event *e = &c->events.event[event];
	uint64_t period;

	e->rate = c->periods.full_rate[event] >> halvings | !(c->periods.full_rate[event] >> halvings);
	if (e->attr.freq)
		e->attr.sample_freq = e->rate;
	else
		e->attr.sample_period = e->attr.sample_period << halvings >> c->periods.halvings;
	for (size_t i = 0; i < c->rings.nr; i++) {
		struct ring *r = &c->rings.at[i];

		counting_drain_ring(c, r);
		period = e->attr.freq ? e->rate : random_period_draw(&e->attr, draw_random_number(&c->periods));
		set_event_period(r, event, period);
		if (e->attr.freq)
			random_period_note_change(&r->random_period[event], 0);
	}
}

void counting_lower_rate(struct counting *c, uint32_t halvings)
{
	for (int i = 0; i < c->events.nr; i++) {
		if (!c->periods.full_rate[i])
			c->periods.full_rate[i] = c->events.event[i].rate;
		if (c->periods.full_rate[i])
			set_rate(c, i, halvings);
	}
	c->periods.halvings = halvings;
}

static void notice_exceeded_rate(struct counting *c, const struct event *e)
{
	char text[512];

	if (c->periods.rate_noticed)
		return;
	c->periods.rate_noticed = true;
	snprintf(text, sizeof(text), "%s exceeded its rate of %llu samples per second by far; pausing the event to keep the rate on "
		 "average (--period sets a fixed period)", e->name, (unsigned long long)e->attr.sample_freq);
	c->notice(c->notice_context, NOTICE_LADDER, text);
}

/* Pauses counters with a frequency that they exceed by far, and enables them again later. The first event is never paused, because
 * mappings, tasks and names are recorded with it. */
void counting_limit_rates(struct counting *c, uint64_t now_ns)
{
	for (size_t i = 0; i < c->rings.nr && !c->paused; i++)
		for (int e = 1; e <= c->rings.at[i].nr_more; e++) {
			const struct perf_event_attr *a = &c->events.event[e].attr;
			struct ring *r = &c->rings.at[i];
			enum rate_limiter_action verdict;

			if (!a->freq)
				continue;
			verdict = rate_limiter_check(&r->rate_limiter[e], r->nr_samples[e], a->sample_freq, now_ns);
			if (verdict == RATE_LIMITER_KEEP)
				continue;
			ioctl(r->more[e - 1], verdict == RATE_LIMITER_ENABLE ? PERF_EVENT_IOC_ENABLE : PERF_EVENT_IOC_DISABLE, 0);
			counting_enable_attached_event(c, r->fd, (uint32_t)e, verdict == RATE_LIMITER_ENABLE);
			if (verdict == RATE_LIMITER_DISABLE)
				notice_exceeded_rate(c, &c->events.event[e]);
		}
}
