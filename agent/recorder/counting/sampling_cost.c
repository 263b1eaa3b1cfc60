/* SPDX-License-Identifier: MIT */
/*
 * This file measures the time of samples, and chooses periods by it. A clock that samples so often that each sample takes longer than its
 * period leaves the program no time. The kernel limits the interrupt time of counters, but not that of its own timers. So if short periods
 * are requested, samples of a loop of the recorder's own are taken first, and periods are at least twice as long as one of them takes. If a
 * cost is requested instead of a rate, the measurement chooses the rate. A program also loses what an interrupt (and, in a guest, the exits
 * to the hypervisor) displaced in its caches, so the loop then walks through as much memory as the processor's second cache has.
 */
#include "agent/recorder/counting/internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define SHORT_NS 45000u	   /* ns; all machines that were measured bear longer periods (22 µs a sample on a busy virtual machine) */
#define PERIODS 2	   /* a period lasts at least as long as this many samples, so half of the time is the program's */
#define BY_SIGNAL 2	   /* a sample takes this many times as long in a signal handler (38 µs on that machine) */
#define TRY_PERIOD 100000u /* in ns of a clock, or counts of another event */
#define TRY_SAMPLES 10
#define TRIES 10 /* walks per measurement; the shortest is taken, since the others were disturbed */
#define MEASUREMENTS 3
#define COST_LEAST 500u	    /* ns; an interrupt takes more, so a smaller result means that other work disturbed the measurement */
#define COST_ASSUMED 100000u /* ns; used if all measurements were disturbed */
#define TRY_RING_BYTES (1u << 20)
#define RATE_BY_COST_MOST 1000u
#define RATE_LEAST 10u
#define LINE_BYTES 64u
#define CACHE_BYTES (1u << 20) /* assumed if the C library does not know the size */
#define CACHE_LEAST (1u << 18)
#define CACHE_MOST (1u << 23)
/* distance between successive lines of a walk; odd, so that all of a power of two are reached, and too far for prefetchers */
#define STRIDE 0x9e3779b1u

/* A walk has lines of memory, each with the index of the next one, in an order that prefetchers do not foresee. */
struct walk {
	struct walk_line {
		uint32_t next, unused[LINE_BYTES / 4 - 1];
	} *line;
	uint32_t at;
};

/* Builds a walk of the largest power of two of lines within bytes, which has room for one line at least.  Returns false without memory. */
static bool walk_open(struct walk *w, size_t bytes)
{
	uint32_t lines = 1;

	while ((size_t)lines * 2 * LINE_BYTES <= bytes)
		lines *= 2;
	w->at = 0;
	w->line = aligned_alloc(LINE_BYTES, (size_t)lines * LINE_BYTES);
	for (uint32_t i = 0, at = 0; w->line && i < lines; i++)
		at = w->line[at].next = (i + 1) * STRIDE & (lines - 1);
	return w->line;
}

static uint64_t walk_for(struct walk *w, long rounds)
{
	struct timespec from, to;
	uint32_t at = w->at;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	while (rounds-- > 0)
		at = w->line[at].next;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	w->at = at;
	return (uint64_t)((to.tv_sec - from.tv_sec) * 1000000000L + to.tv_nsec - from.tv_nsec);
}

static uint64_t shortest_walk(struct walk *w, long rounds)
{
	uint64_t least = UINT64_MAX;

	for (int i = 0; i < TRIES; i++) {
		uint64_t ns = walk_for(w, rounds);

		least = ns < least ? ns : least;
	}
	return least;
}

/* Returns how many rounds of a walk take this many ns if no samples are taken. */
static long rounds_of(struct walk *w, uint64_t ns)
{
	long rounds = 10000;
	uint64_t took;

	while ((took = shortest_walk(w, rounds)) < ns / 4 && rounds < 1L << 32)
		rounds *= 2;
	return (long)((double)rounds * (double)ns / (double)(took ? took : 1));
}

static size_t second_cache_bytes(void)
{
	long bytes = -1;

#ifdef _SC_LEVEL2_CACHE_SIZE
	bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
#endif
	if (bytes <= 0)
		bytes = CACHE_BYTES;
	return bytes < (long)CACHE_LEAST ? CACHE_LEAST : bytes > (long)CACHE_MOST ? CACHE_MOST : (size_t)bytes;
}

uint64_t counting_sample_cost_ns(uint64_t without_ns, uint64_t with_ns, uint64_t samples)
{
	return samples && with_ns >= without_ns + COST_LEAST * samples ? (with_ns - without_ns) / samples : 0;
}

/* Measures the time of a sample during a walk, in ns. Returns 0 if no samples came or the counter cannot be read, and COST_ASSUMED if all
 * measurements were disturbed. Walks with and without samples alternate, so that other work on the machine disturbs both. */
static uint64_t measure_samples(struct walk *w, int fd, struct ring *r)
{
	long rounds = rounds_of(w, (uint64_t)TRY_PERIOD * TRY_SAMPLES);
	uint64_t without = UINT64_MAX, with = UINT64_MAX, samples = 0, before = 0, cost_ns = 0, counted;

	for (int i = 0; i < TRIES * MEASUREMENTS && !cost_ns; i++) {
		uint64_t ns = walk_for(w, rounds);

		without = ns < without ? ns : without;
		ioctl(fd, PERF_EVENT_IOC_ENABLE, 0);
		ns = walk_for(w, rounds);
		ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
		if (read(fd, &counted, sizeof(counted)) != sizeof(counted))
			return 0;
		__atomic_store_n(&r->page->data_tail, __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE), __ATOMIC_RELEASE);
		if (ns < with) {
			with = ns;
			samples = (counted - before) / TRY_PERIOD;
		}
		before = counted;
		if ((i + 1) % TRIES)
			continue;
		cost_ns = counting_sample_cost_ns(without, with, samples);
		without = with = UINT64_MAX;
	}
	return cost_ns || !samples ? cost_ns : COST_ASSUMED;
}

/* Measures the time that a sample of such an event costs a program with this much memory, in ns.  Returns 0 if that cannot be measured. */
static uint64_t measure_sampling_cost(const struct perf_event_attr *like, size_t bytes)
{
	struct perf_event_attr a = *like;
	uint64_t cost_ns = 0;
	struct walk w;
	struct ring r;
	int fd;

	a.sample_period = TRY_PERIOD;
	a.freq = 0;
	a.read_format = 0;
	a.inherit = a.remove_on_exec = a.enable_on_exec = a.mmap = a.mmap2 = a.comm = a.comm_exec = a.task = a.ksymbol = 0;
	a.disabled = 1;
	a.sample_regs_user &= ~(1ull << SAMPLE_TAG_WORD); /* a handler fills in this word, the kernel does not */
	fd = event_open(&a, 0, -1, 0);
	if (fd < 0 || ring_open(&r, fd, TRY_RING_BYTES, TRY_RING_BYTES)) {
		if (fd >= 0)
			close(fd);
		return 0;
	}
	if (walk_open(&w, bytes)) {
		cost_ns = measure_samples(&w, fd, &r);
		free(w.line);
	}
	ring_close(&r);
	return cost_ns;
}

/* Returns the period that this machine bears, if the event is a clock with a shorter one.  Else, and for timers, returns 0. */
static uint64_t period_to_bear(const struct counting *c, const struct event *e)
{
	uint64_t times = c->sampler == WIRE_SAMPLER_SIGNAL ? BY_SIGNAL : 1, least;

	if (!event_is_clock(&e->attr) || e->attr.sample_period >= SHORT_NS * times || c->sampler == WIRE_SAMPLER_TIMER)
		return 0;
	least = PERIODS * measure_sampling_cost(&e->attr, LINE_BYTES) * times;
	return least > e->attr.sample_period ? least | 1 : 0;
}

/* May the event's rate be chosen by cost?  If the cost is only a limit, this is so for the default rate, else for any rate.  A requested
 * period stays. */
static bool may_choose_rate(const struct counting *c, const struct event *e)
{
	return c->options.cost_is_limit ? e->rate == EVENT_RATE_DEFAULT : e->rate != 0;
}

/* Sets the rate of each event that may_choose_rate() permits and whose cost can be measured. Each event that has a rate gets an equal part
 * of the requested time, which its samples exceed only if RATE_LEAST requires it. */
static void choose_rates_by_cost(struct counting *c)
{
	char text[256];
	int nr = 0;

	for (int i = 0; i < c->events.nr; i++)
		nr += c->events.event[i].rate != 0;
	for (int i = 0; i < c->events.nr; i++) {
		struct event *e = &c->events.event[i];
		uint64_t most = c->options.cost_is_limit ? e->rate : RATE_BY_COST_MOST, cost_ns, rate;

		if (!may_choose_rate(c, e) || !(cost_ns = measure_sampling_cost(&e->attr, second_cache_bytes())))
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
		snprintf(text, sizeof(text), "%.64s: %llu samples a second on each processor, since a sample takes about %llu us here",
			 e->name, (unsigned long long)rate, (unsigned long long)(cost_ns + 500) / 1000);
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
