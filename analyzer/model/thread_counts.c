/* SPDX-License-Identifier: MIT */
/*
 * A thread begins with a whole period, and what it runs behind its last sample is in none: of one that lives for a few periods that is
 * much, and of one that lives for less than one it is all.
 *
 * Counters of a thread say what that is.  Counters of a processor say it of all their threads together: count less weights.  Of that, a
 * thread with samples has half a period, on the average; one without has at most a period, and of a clock no more than it lived.  What is
 * left is of interrupts that came late, which come so late for all.
 */
#include "analyzer/model/counts.h"

#include "analyzer/model/model.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/sorted.h"

#include <math.h>
#include <stdlib.h>

#define PERIODS_UNSAMPLED 2 /* that a thread may run without a sample: one, and what a period before it had left */
#define SCALE_MAX 1000.0
#define SCALE_SAME 0.005
#define UNSAMPLED_WORTH 0.01 /* a row, where it is no more than what late interrupts may be */

static uint64_t key_of_thread(uint32_t pid, uint32_t tid)
{
	return (uint64_t)pid << 32 | tid;
}

static uint64_t add_clamped(uint64_t a, uint64_t b)
{
	return a <= UINT64_MAX - b ? a + b : UINT64_MAX;
}

/* NULL without memory. */
static struct thread_count *get_thread_count(struct thread_counts *c, uint32_t event, const struct trace_record *r)
{
	uint64_t key = key_of_thread(r->pid, r->tid);
	uint32_t i = hash_map_find(&c->at, key, event);

	if (i)
		return &c->thread[i - 1];
	if (!GROW(c->thread, c->nr, c->capacity) || !hash_map_set(&c->at, key, event, c->nr + 1))
		return NULL;
	c->thread[c->nr] = (struct thread_count){ .event = event, .pid = r->pid, .tid = r->tid };
	return &c->thread[c->nr++];
}

void thread_counts_add(struct model *m, uint32_t event, const struct trace_record *r, struct thread_count_part said)
{
	struct thread_counts *c = &m->thread_counts;
	struct thread_count *t = GROW(c->part, c->nr_parts, c->parts_capacity) ? get_thread_count(c, event, r) : NULL;

	if (!t)
		return;
	said.thread = (uint32_t)(t - c->thread);
	c->part[c->nr_parts++] = said;
	t->value = add_clamped(t->value, said.value);
	t->samples = add_clamped(t->samples, said.samples);
	t->weight = add_clamped(t->weight, said.weight);
	t->time_ns = r->time_ns > t->time_ns ? r->time_ns : t->time_ns;
}

void thread_counts_read(struct model *m, const struct trace_record *r)
{
	uint64_t event = trace_u64(r, F(thread_count, event));

	if (event < m->nr_events)
		thread_counts_add(m, (uint32_t)event, r,
				  (struct thread_count_part){ trace_u64(r, F(thread_count, value)), trace_u64(r, F(thread_count, samples)),
							      trace_u64(r, F(thread_count, weight)), 0,
							      (uint32_t)trace_u64(r, F(thread_count, cpu)) });
}

void thread_counts_read_beginning(struct model *m, const struct trace_record *r)
{
	struct thread_counts *c = &m->thread_counts;

	if (GROW(c->beginning, c->nr_beginnings, c->beginnings_capacity))
		c->beginning[c->nr_beginnings++] = (struct thread_beginning){ key_of_thread(r->pid, r->tid), r->time_ns };
}

void thread_counts_fini(struct thread_counts *c)
{
	hash_map_fini(&c->at);
	free(c->thread);
	free(c->part);
	free(c->beginning);
}

/* ---------------------------------------------------------------------------------------- what counters of processors say together */

static int compare_beginnings(const void *a, const void *b)
{
	const struct thread_beginning *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* How long the thread lived; 0: not known. */
static uint64_t lifetime_ns(const struct thread_counts *c, const struct thread_count *t)
{
	const struct thread_beginning end = { key_of_thread(t->pid, t->tid), t->time_ns };
	uint32_t i = SORTED_COUNT(c->nr_beginnings, n, compare_beginnings(&c->beginning[n], &end) <= 0);

	return i && c->beginning[i - 1].thread == end.thread ? end.time_ns - c->beginning[i - 1].time_ns : 0;
}

/* What a sample of the event weighs on the average. */
static double mean_period(const struct model_event *e)
{
	double samples = (double)e->of_threads.samples, weight = (double)e->of_threads.weight;

	for (uint32_t cpu = 0; cpu < e->nr_counts; cpu++) {
		samples += (double)e->count[cpu].samples;
		weight += (double)e->count[cpu].weight;
	}
	return e->period ? (double)e->period : samples > 0 ? weight / samples : 0;
}

/* The processor's count that this is an untold part of; NULL: the thread's own is told. */
static struct event_count *count_of_untold(struct model *m, const struct thread_count_part *p)
{
	struct model_event *e = &m->event[m->thread_counts.thread[p->thread].event];

	return !p->value && p->cpu < e->nr_counts ? &e->count[p->cpu] : NULL;
}

/* Of the event, behind the thread's last sample; or, without one, the most that it may have. */
static double claim_of_untold(const struct model *m, const struct thread_count_part *p)
{
	const struct thread_count *t = &m->thread_counts.thread[p->thread];
	const struct model_event *e = &m->event[t->event];
	uint64_t lived_ns;

	if (p->samples)
		return (double)p->weight / (double)p->samples / 2;
	lived_ns = e->is_clock ? lifetime_ns(&m->thread_counts, t) : 0;
	return lived_ns ? fmin(e->mean_period, (double)lived_ns) : e->mean_period;
}

/* Which part of what is claimed the processor's count has beyond its samples. */
static void settle_claims(struct event_count *c, double period)
{
	double sampled = c->weight ? (double)c->weight : (double)c->samples * period;
	double rest = fmax((double)c->value - sampled - (double)c->lost * period, 0);

	c->tail_part = c->tail > rest ? rest / c->tail : 1;
	rest -= c->tail * c->tail_part;
	c->unsampled_part = c->unsampled > rest ? rest / c->unsampled : 1;
}

static void settle_claims_of_event(struct model_event *e)
{
	double unsampled = 0, value = 0;

	for (uint32_t cpu = 0; cpu < e->nr_counts; cpu++) {
		struct event_count *c = &e->count[cpu];

		settle_claims(c, e->mean_period);
		unsampled += c->unsampled * c->unsampled_part;
		value += (double)c->value;
	}
	for (uint32_t cpu = 0; cpu < e->nr_counts && unsampled < UNSAMPLED_WORTH * value; cpu++)
		e->count[cpu].unsampled_part = 0;
}

static void settle_untold_threads(struct model *m)
{
	struct thread_counts *counts = &m->thread_counts;

	if (counts->nr_beginnings)
		qsort(counts->beginning, counts->nr_beginnings, sizeof(*counts->beginning), compare_beginnings);
	for (uint32_t i = 0; i < counts->nr_parts; i++) {
		const struct thread_count_part *p = &counts->part[i];
		struct event_count *c = count_of_untold(m, p);

		if (c)
			*(p->samples ? &c->tail : &c->unsampled) += claim_of_untold(m, p);
	}
	for (uint32_t i = 0; i < m->nr_events; i++)
		settle_claims_of_event(&m->event[i]);
	for (uint32_t i = 0; i < counts->nr_parts; i++) {
		const struct thread_count_part *p = &counts->part[i];
		struct thread_count *t = &counts->thread[p->thread];
		const struct event_count *c = count_of_untold(m, p);

		if (c && p->samples)
			t->tail += claim_of_untold(m, p) * c->tail_part;
		else if (c)
			t->value = add_clamped(t->value, model_clamp_to_u64(claim_of_untold(m, p) * c->unsampled_part));
	}
}

/* ------------------------------------------------------------------------------------------- before and behind the events' scales */

/* A thread without a sample that was due for one: it was lost, or came late, as others', and these stand for it. */
static void find_threads_without_their_samples(struct model *m)
{
	for (uint32_t i = 0; i < m->thread_counts.nr; i++) {
		struct thread_count *t = &m->thread_counts.thread[i];
		double period = m->event[t->event].mean_period;

		t->is_left_out = t->tid && !t->samples && period > 0 && (double)t->value >= PERIODS_UNSAMPLED * period;
	}
}

void thread_counts_sum(struct model *m)
{
	const struct thread_counts *c = &m->thread_counts;

	for (uint32_t i = 0; i < m->nr_events; i++)
		m->event[i].mean_period = mean_period(&m->event[i]);
	settle_untold_threads(m);
	find_threads_without_their_samples(m);
	for (uint32_t i = 0; i < c->nr_parts; i++) {
		const struct thread_count_part *p = &c->part[i];
		struct model_event *e = &m->event[c->thread[p->thread].event];
		struct event_count *of = p->cpu < e->nr_counts ? &e->count[p->cpu] : &e->of_threads;

		if (c->thread[p->thread].is_left_out || count_of_untold(m, p))
			continue;
		of->ended_value = add_clamped(of->ended_value, p->value);
		of->ended_weight = add_clamped(of->ended_weight, p->weight);
		of->ended_samples = add_clamped(of->ended_samples, p->samples);
	}
}

static double scale_of_thread(const struct thread_count *t, const struct model_event *e)
{
	double weight = (double)t->weight;

	if (t->tail > 0)
		return e->scale * (weight + t->tail) / weight;
	return t->value ? (double)t->value / weight * e->multiplexed : e->scale;
}

void thread_counts_settle(struct model *m)
{
	for (uint32_t i = 0; i < m->thread_counts.nr; i++) {
		struct thread_count *t = &m->thread_counts.thread[i];
		struct model_event *e = &m->event[t->event];

		if (e->counted)
			e->unsampled += (double)thread_count_unsampled(m, i) / (double)e->counted;
		if (!t->weight || (e->is_clock && e->exclude_kernel))
			continue;
		t->scale = fmin(scale_of_thread(t, e), SCALE_MAX);
		if (fabs(t->scale / e->scale - 1) < SCALE_SAME)
			t->scale = 0;
		e->differs_by_thread |= t->scale > 0;
	}
}

double thread_count_scale(const struct model *m, uint32_t event, uint32_t pid, uint32_t tid)
{
	uint32_t i = hash_map_find(&m->thread_counts.at, key_of_thread(pid, tid), event);

	return i ? m->thread_counts.thread[i - 1].scale : 0;
}

uint64_t thread_count_unsampled(const struct model *m, uint32_t i)
{
	const struct thread_count *t = &m->thread_counts.thread[i];

	return t->samples || t->is_left_out ? 0 : model_clamp_to_u64((double)t->value * m->event[t->event].multiplexed);
}
