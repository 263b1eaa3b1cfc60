/* SPDX-License-Identifier: MIT */
/*
 * A clock that samples so often that each sample takes longer than its period leaves the program no time: the kernel limits the time of
 * interrupts by counters, and not that of its own timers.  So where short periods are asked for, samples of a loop of our own are taken
 * first, and periods are at least twice as long as one of them takes.  Where a cost is asked for instead of a rate, it is chosen by that as
 * well.
 */
#include "agent/recorder/counting/internal.h"

#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define SHORT_NS 45000u	   /* longer periods are borne by all machines that were seen (22 µs a sample on a busy virtual machine) */
#define PERIODS 2	   /* that a sample's time fits into, at least: half of the time is the program's */
#define BY_SIGNAL 2	   /* a handler's sample takes so many times as long (38 µs there) */
#define TRY_PERIOD_NS 100000u
#define TRY_SAMPLES 10
#define TRIES 10 /* the shortest counts: the others were disturbed */
#define TRY_RING_BYTES (1u << 20)
#define RATE_BY_COST_MOST 1000u
#define RATE_LEAST 10u

static uint64_t spin_for(long rounds)
{
	struct timespec from, to;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	while (rounds-- > 0)
		__asm__ volatile("");
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	return (uint64_t)((to.tv_sec - from.tv_sec) * 1000000000L + to.tv_nsec - from.tv_nsec);
}

static uint64_t shortest_spin(long rounds)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t ns = spin_for(rounds);

		least = ns < least ? ns : least;
	}
	return least;
}

/* Rounds of a loop that takes so long without samples. */
static long rounds_of(uint64_t ns)
{
	long rounds = 10000;
	uint64_t took;

	while ((took = shortest_spin(rounds)) < ns / 4 && rounds < 1L << 32)
		rounds *= 2;
	return (long)((double)rounds * (double)ns / (double)(took ? took : 1));
}

/* What a sample of such an event takes, in ns; 0: not known. */
static uint64_t measure_sampling_cost(const struct perf_event_attr *like)
{
	struct perf_event_attr a = *like;
	long rounds = rounds_of((uint64_t)TRY_PERIOD_NS * TRY_SAMPLES);
	uint64_t without = shortest_spin(rounds), with = UINT64_MAX;
	struct ring r;
	int fd;

	a.sample_period = TRY_PERIOD_NS;
	a.inherit = a.remove_on_exec = a.enable_on_exec = a.mmap = a.mmap2 = a.comm = a.comm_exec = a.task = 0;
	a.disabled = 1;
	a.sample_regs_user &= ~(1ull << SAMPLE_TAG_WORD); /* a handler's, not the kernel's */
	fd = event_open(&a, 0, -1, 0);
	if (fd < 0 || ring_open(&r, fd, TRY_RING_BYTES, TRY_RING_BYTES)) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	for (int i = 0; i < TRIES; i++) {
		uint64_t ns;

		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		ns = spin_for(rounds);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		__atomic_store_n(&r.page->data_tail, __atomic_load_n(&r.page->data_head, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
		with = ns < with ? ns : with;
	}
	ring_close(&r);
	return with > without ? (with - without) * TRY_PERIOD_NS / with : 1;
}

/* The period that this machine bears, where a shorter one was asked for; else 0. */
static uint64_t period_to_bear(const struct counting *c, const struct event *e)
{
	uint64_t times = c->sampler == WIRE_SAMPLER_SIGNAL ? BY_SIGNAL : 1, least;

	if (!event_is_clock(&e->attr) || e->attr.sample_period >= SHORT_NS * times || c->sampler == WIRE_SAMPLER_TIMER)
		return 0;
	least = PERIODS * measure_sampling_cost(&e->attr) * times;
	return least > e->attr.sample_period ? least | 1 : 0;
}

/* One that was asked for by itself, or a period, stays. */
static bool may_choose_rate(const struct counting *c, const struct event *e)
{
	return c->options.cost_is_limit ? e->rate == EVENT_RATE_DEFAULT : e->rate != 0;
}

/* So many samples a second of each event take that part of the time. */
static void choose_rates_by_cost(struct counting *c)
{
	char text[256];
	int nr = 0;

	for (int i = 0; i < c->events.nr; i++)
		nr += c->events.event[i].rate != 0;
	for (int i = 0; i < c->events.nr; i++) {
		struct event *e = &c->events.event[i];
		uint64_t most = c->options.cost_is_limit ? e->rate : RATE_BY_COST_MOST, cost_ns, rate;

		if (!may_choose_rate(c, e) || !(cost_ns = measure_sampling_cost(&e->attr)))
			continue;
		rate = (uint64_t)(c->options.cost * 1e9 / (double)cost_ns / nr);
		rate = rate < RATE_LEAST ? RATE_LEAST : rate < most ? rate : most;
		if (rate == e->rate)
			continue;
		if (e->attr.freq)
			e->attr.sample_freq = rate;
		else
			e->attr.sample_period = (uint64_t)((double)e->attr.sample_period * (double)e->rate / (double)rate) | 1;
		e->rate = rate;
		snprintf(text, sizeof(text), "%.64s: %llu samples a second on each processor, since one takes about %llu ns here",
			 e->name, (unsigned long long)rate, (unsigned long long)cost_ns);
		c->notice(c->notice_context, NOTICE_LADDER, text);
	}
}

void counting_lower_rates(struct counting *c)
{
	if (c->options.cost > 0 && c->sampler == WIRE_SAMPLER_NONE)
		choose_rates_by_cost(c);
	for (int i = 0; i < c->events.nr; i++) {
		struct event *e = &c->events.event[i];
		uint64_t period = period_to_bear(c, e);
		char text[256];

		if (!period)
			continue;
		snprintf(text, sizeof(text), "%.64s each %llu ns leaves the program too little time: a sample takes about %llu ns here; "
			 "sampling each %llu ns", e->name, (unsigned long long)e->attr.sample_period,
			 (unsigned long long)period / PERIODS, (unsigned long long)period);
		c->notice(c->notice_context, NOTICE_LADDER, text);
		e->attr.sample_period = period;
		e->rate = e->rate ? 1000000000u / period : 0;
	}
}
