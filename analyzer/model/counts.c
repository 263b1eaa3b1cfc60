/* SPDX-License-Identifier: MIT */
/*
 * A multiplexed counter of a processor counts (running_ns) for a part of the time that its threads run on this processor (on_cpu_ns).  The
 * kernel's "enabled" time is of no use here, because it is how long they ran on all processors: if a thread runs half of its time on each
 * of two, each counter was enabled for twice as long as it could count.  Older traces lack on_cpu_ns.  For these, the time on all
 * processors is the enabled time of any counter, and it is compared with the sum of running_ns of all counters.  The missing part is
 * assumed to be the same on each processor.
 *
 * A clock counts the time that it runs.  What the kernel adds to its value while it throttles the clock's samples is more than that, up to
 * three times as much (Linux 6.18, perf_event_max_sample_rate of 1,000), so of clocks running_ns is used as the value.
 */
#include "analyzer/model/counts.h"

#include "analyzer/model/model.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/sorted.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_MAX 8192u
#define SCALE_MAX 1000.0 /* limit of scales, because a larger one is due to too few samples */
/* limit of scales of events and processors below 1, which occur because the kernel changes the period of samples at a rate, so that they
 * weigh more than was counted. Scales of threads have no such limit */
#define SCALE_MIN 0.5
#define SCALE_SAME 0.005
#define SAMPLES_FEW 50
#define PERIODS_UNSAMPLED 2 /* from so many periods on, a sample of a thread was due: one period, and the rest of the period before */
/* smallest part of the processors' count for which threads without samples get rows if their counts are estimated, because less can be due
 * to late interrupts */
#define UNSAMPLED_WORTH 0.01

static uint64_t key_of_thread(uint32_t pid, uint32_t tid)
{
	return (uint64_t)pid << 32 | tid;
}

static uint64_t add_clamped(uint64_t a, uint64_t b)
{
	return a <= UINT64_MAX - b ? a + b : UINT64_MAX;
}

/* Finds or adds the count of a thread for an event.  Returns NULL if memory ran out. */
static struct thread_count *get_thread_count(struct thread_counts *c, uint32_t event, const struct trace_record *r)
{
	uint64_t key = key_of_thread(r->pid, r->tid);
	uint32_t i = hash_map_find(&c->at, key, event);

	if (i)
		return &c->threads.at[i - 1];
	if (!ARRAY_GROW(c->threads) || !hash_map_set(&c->at, key, event, c->threads.nr + 1))
		return NULL;
	c->threads.at[c->threads.nr] = (struct thread_count){ .event = event, .pid = r->pid, .tid = r->tid };
	return &c->threads.at[c->threads.nr++];
}

static void add_thread_count(struct model *m, uint32_t event, const struct trace_record *r, struct thread_count_part said)
{
	struct thread_counts *c = &m->thread_counts;
	struct thread_count *t = ARRAY_GROW(c->parts) ? get_thread_count(c, event, r) : NULL;

	if (!t)
		return;
	said.thread = (uint32_t)(t - c->threads.at);
	c->parts.at[c->parts.nr++] = said;
	t->value = add_clamped(t->value, said.value);
	t->samples = add_clamped(t->samples, said.samples);
	t->weight = add_clamped(t->weight, said.weight);
	t->time_ns = r->time_ns > t->time_ns ? r->time_ns : t->time_ns;
}

void thread_counts_read(struct model *m, const struct trace_record *r)
{
	uint64_t event = trace_u64(r, F(thread_count, event));

	if (event < m->nr_events)
		add_thread_count(m, (uint32_t)event, r,
				  (struct thread_count_part){ trace_u64(r, F(thread_count, value)), trace_u64(r, F(thread_count, samples)),
							      trace_u64(r, F(thread_count, weight)), 0,
							      (uint32_t)trace_u64(r, F(thread_count, cpu)) });
}

void thread_counts_read_beginning(struct model *m, const struct trace_record *r)
{
	struct thread_counts *c = &m->thread_counts;

	if (ARRAY_GROW(c->beginnings))
		c->beginnings.at[c->beginnings.nr++] = (struct thread_beginning){ key_of_thread(r->pid, r->tid), r->time_ns };
}

void counts_read(struct model *m, const struct trace_record *r)
{
	uint64_t i = trace_u64(r, F(count, event)), cpu = trace_u64(r, F(count, cpu)), running_ns, value;
	struct event_count *c;
	struct model_event *e;

	if (i >= m->nr_events)
		return;
	e = &m->event[i];
	if (cpu < CPUS_MAX && cpu >= e->nr_counts) {
		struct event_count *bigger = realloc(e->count, (cpu + 1) * sizeof(*bigger));

		if (!bigger)
			return;
		memset(bigger + e->nr_counts, 0, (cpu + 1 - e->nr_counts) * sizeof(*bigger));
		e->count = bigger;
		e->nr_counts = (uint32_t)cpu + 1;
	}
	c = cpu < CPUS_MAX ? &e->count[cpu] : &e->of_threads;
	running_ns = trace_u64(r, F(count, running_ns));
	value = e->is_clock && running_ns ? running_ns : trace_u64(r, F(count, value));
	c->value += value;
	c->enabled_ns += trace_u64(r, F(count, enabled_ns));
	c->running_ns += running_ns;
	c->on_cpu_ns += trace_u64(r, F(count, on_cpu_ns));
	c->samples += trace_u64(r, F(count, samples));
	c->lost += trace_u64(r, F(count, lost));
	c->weight += trace_u64(r, F(count, weight));
	e->idle_ns = add_clamped(e->idle_ns, trace_u64(r, F(count, idle_ns)));
	/* The count of a clock includes time in the kernel, also if only user code is sampled.  Its samples do not stand for that. */
	if (cpu >= CPUS_MAX && r->tid && !(e->is_clock && e->exclude_kernel))
		add_thread_count(m, (uint32_t)i, r, (struct thread_count_part){ value, trace_u64(r, F(count, samples)),
										trace_u64(r, F(count, weight)), 0, UINT32_MAX });
}

static double clamp_scale(double least, double scale)
{
	return scale > least ? scale < SCALE_MAX ? scale : SCALE_MAX : least;
}

static double clamp_scale_from_one(double scale)
{
	return clamp_scale(1, scale);
}

/*
 * Returns how many samples each one stands for, because others were lost, or are missing because interrupts came late, which no loss
 * record counts.  If the sum of the samples' weights is known, its ratio to the count covers both.  Else only lost samples are known.  The
 * parts of threads that ended are taken out, because they have scales of their own (counts.h).
 */
static double scale_of_lost_samples(const struct event_count *c)
{
	if (c->weight) {
		double value = (double)c->value - (double)c->ended_value - c->unsampled * c->unsampled_part;
		double weight = (double)c->weight - (double)c->ended_weight + c->tail * c->tail_part;

		return value > 0 && weight > 0 ? value / weight : 1;
	}
	return c->samples ? 1 + (double)c->lost / (double)c->samples : 1;
}

static double scale_of_multiplexing(const struct event_count *c)
{
	return clamp_scale_from_one(c->running_ns && c->on_cpu_ns > c->running_ns ? (double)c->on_cpu_ns / (double)c->running_ns : 1);
}

static void add_count(struct model_event *e, const struct event_count *c)
{
	double counted = (double)c->value * scale_of_multiplexing(c);

	if (!c->enabled_ns && !c->samples)
		return;
	e->counted += model_clamp_to_u64(counted);
	e->count_samples += c->samples;
	e->count_lost += c->lost;
	e->on_cpu_ns += c->on_cpu_ns > c->running_ns ? c->on_cpu_ns : c->running_ns;
	e->running_ns += c->running_ns;
	e->sampled += (double)c->weight;
}

/* Sets the scale of a processor's counter. If weights are known and there are few samples, chance decides their ratio to the count, so they
 * get the scale of the whole event. So do those whose scale differs from it by less than SCALE_SAME. */
static void settle_cpu_scale(const struct model_event *e, struct event_count *c)
{
	if (c->enabled_ns || c->samples)
		c->scale = clamp_scale(c->weight ? SCALE_MIN : 1, scale_of_multiplexing(c) * scale_of_lost_samples(c));
	if (e->sampled > 0 && (c->samples < c->ended_samples + SAMPLES_FEW || fabs(c->scale / e->scale - 1) < SCALE_SAME))
		c->scale = e->scale;
}

static void add_ended(struct event_count *to, const struct event_count *from)
{
	to->ended_value += from->ended_value;
	to->ended_weight += from->ended_weight;
	to->ended_samples += from->ended_samples;
	to->ended_unsampled += from->ended_unsampled;
	to->tail += from->tail * from->tail_part;
	to->unsampled += from->unsampled * from->unsampled_part;
}

/* Returns the scale of all counters together, for multiplexing and missing samples, and sets e->multiplexed and e->sampled.  value: the
 * sum of their unscaled values. */
static double scale_of_all(struct model_event *e, double value)
{
	double counted = (double)e->counted, sampled = e->sampled;
	struct event_count all = { 0 };

	add_ended(&all, &e->of_threads);
	for (uint32_t cpu = 0; cpu < e->nr_counts; cpu++)
		add_ended(&all, &e->count[cpu]);
	e->multiplexed = clamp_scale_from_one(counted / value);
	e->sampled = sampled / counted;
	if (e->count_samples >= all.ended_samples + SAMPLES_FEW && value > (double)all.ended_value && sampled > (double)all.ended_weight) {
		counted -= (double)all.ended_value * e->multiplexed;
		sampled -= (double)all.ended_weight;
	/* threads without samples have rows of their own, also if there are too few other samples */
	} else if (value > (double)all.ended_unsampled) {
		counted -= (double)all.ended_unsampled * e->multiplexed;
	}
	counted -= all.unsampled * e->multiplexed;
	sampled += all.tail;
	return clamp_scale(SCALE_MIN, counted / sampled);
}

/* Checks for a clock with samples of user code only. These are meant to be less than what the clock counts, so their weights are not
 * scaled. */
static bool is_user_part_of_clock(const struct model_event *e)
{
	return e->is_clock && e->exclude_kernel && e->sampled > 0;
}

static void settle_event_counts(struct model_event *e)
{
	uint64_t everywhere = 0;
	double running = 0, value = (double)e->of_threads.value;

	e->of_threads.on_cpu_ns = e->of_threads.enabled_ns; /* a thread's counters count wherever it runs */
	for (uint32_t cpu = 0; cpu < e->nr_counts; cpu++) {
		const struct event_count *c = &e->count[cpu];

		everywhere = c->enabled_ns > everywhere ? c->enabled_ns : everywhere;
		running += (double)c->running_ns;
		value += (double)c->value;
	}
	for (uint32_t cpu = 0; cpu < e->nr_counts; cpu++) {
		struct event_count *c = &e->count[cpu];

		if (!c->on_cpu_ns && running > 0 && running < (double)everywhere)
			c->on_cpu_ns = model_clamp_to_u64((double)c->running_ns * ((double)everywhere / running));
		add_count(e, c);
	}
	add_count(e, &e->of_threads);
	e->multiplexed = 1;
	if (is_user_part_of_clock(e)) {
		e->sampled = e->counted ? e->sampled / (double)e->counted : 0;
		e->scale = 1;
		return;
	}
	if (e->sampled > 0 && e->counted) {
		e->scale = scale_of_all(e, value);
	} else {
		e->sampled = 0;
		e->scale = e->running_ns ? clamp_scale_from_one((double)e->on_cpu_ns / (double)e->running_ns) : 1;
		e->scale = clamp_scale_from_one(e->scale * (e->count_samples ? 1 + (double)e->count_lost / (double)e->count_samples : 1));
	}
	for (uint32_t cpu = 0; cpu < e->nr_counts; cpu++)
		settle_cpu_scale(e, &e->count[cpu]);
	settle_cpu_scale(e, &e->of_threads);
}

/* ------------------------------------------------------------------------------------------------- threads that ended */

/*
 * A thread begins with a whole period, and no sample covers the time that it runs after its last one.  For a thread that lives for a few
 * periods that is much, and for one that lives for less than a period it is everything.
 *
 * If the thread had a counter of its own, the value says how much that is.  Counters of a processor only have it for all their threads
 * together: their count less the weights of samples.  A thread with samples is assumed to have half a period of this, which is the mean.
 * A thread without samples has at most a period, and for a clock no more than it lived.  The rest is due to late interrupts, which are
 * late for all threads alike.
 */

static int compare_beginnings(const void *a, const void *b)
{
	const struct thread_beginning *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* Returns how long the thread lived, or 0 if that is unknown. */
static uint64_t lifetime_ns(const struct thread_counts *c, const struct thread_count *t)
{
	const struct thread_beginning end = { key_of_thread(t->pid, t->tid), t->time_ns };
	uint32_t i = SORTED_COUNT(c->beginnings.nr, n, compare_beginnings(&c->beginnings.at[n], &end) <= 0);

	return i && c->beginnings.at[i - 1].thread == end.thread ? end.time_ns - c->beginnings.at[i - 1].time_ns : 0;
}

/* Returns the event's period if that is fixed, else the mean weight of its samples, or 0 if there are no samples. */
static double mean_period(const struct model_event *e)
{
	double samples = (double)e->of_threads.samples, weight = (double)e->of_threads.weight;

	for (uint32_t cpu = 0; cpu < e->nr_counts; cpu++) {
		samples += (double)e->count[cpu].samples;
		weight += (double)e->count[cpu].weight;
	}
	return e->period ? (double)e->period : samples > 0 ? weight / samples : 0;
}

/* Returns the count of the processor that contains this part of a thread's count, if its value is unknown. Returns NULL if the value is
 * known, or if the part is of a counter of the thread's own, or the trace has no count of the processor. */
static struct event_count *count_of_untold(struct model *m, const struct thread_count_part *p)
{
	struct model_event *e = &m->event[m->thread_counts.threads.at[p->thread].event];

	return !p->value && p->cpu < e->nr_counts ? &e->count[p->cpu] : NULL;
}

/* Returns how much of the event the thread is assumed to have on this processor after its last sample. If it has no sample, this is the
 * most that it can have. */
static double claim_of_untold(const struct model *m, const struct thread_count_part *p)
{
	const struct thread_count *t = &m->thread_counts.threads.at[p->thread];
	const struct model_event *e = &m->event[t->event];
	uint64_t lived_ns;

	if (p->samples)
		return (double)p->weight / (double)p->samples / 2;
	lived_ns = e->is_clock ? lifetime_ns(&m->thread_counts, t) : 0;
	return lived_ns ? fmin(e->mean_period, (double)lived_ns) : e->mean_period;
}

/* Limits the estimates for threads that ended (tail, unsampled) to what the processor counted beyond its samples and those that were lost.
 * Threads with samples get theirs first. period: mean weight of a sample. */
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
	uint64_t samples = 0;

	for (uint32_t cpu = 0; cpu < e->nr_counts; cpu++) {
		struct event_count *c = &e->count[cpu];

		samples += c->samples;

		settle_claims(c, e->mean_period);
		unsampled += c->unsampled * c->unsampled_part;
		value += (double)c->value;
	}
	/* These threads get no rows if the event has no sample at all, because the report says why, or if their part is too small. */
	for (uint32_t cpu = 0; cpu < e->nr_counts && (!samples || unsampled < UNSAMPLED_WORTH * value); cpu++)
		e->count[cpu].unsampled_part = 0;
}

static void settle_untold_threads(struct model *m)
{
	struct thread_counts *counts = &m->thread_counts;

	if (counts->beginnings.nr)
		qsort(counts->beginnings.at, counts->beginnings.nr, sizeof(*counts->beginnings.at), compare_beginnings);
	for (uint32_t i = 0; i < counts->parts.nr; i++) {
		const struct thread_count_part *p = &counts->parts.at[i];
		struct event_count *c = count_of_untold(m, p);

		if (c)
			*(p->samples ? &c->tail : &c->unsampled) += claim_of_untold(m, p);
	}
	for (uint32_t i = 0; i < m->nr_events; i++)
		settle_claims_of_event(&m->event[i]);
	for (uint32_t i = 0; i < counts->parts.nr; i++) {
		const struct thread_count_part *p = &counts->parts.at[i];
		struct thread_count *t = &counts->threads.at[p->thread];
		const struct event_count *c = count_of_untold(m, p);

		if (c && p->samples)
			t->tail += claim_of_untold(m, p) * c->tail_part;
		else if (c)
			t->value = add_clamped(t->value, model_clamp_to_u64(claim_of_untold(m, p) * c->unsampled_part));
	}
}

/* ------------------------------------------------------------------------------------------- counts and scales of threads that ended */

/* Marks threads without a sample although one was due. The sample was lost or came late, as samples of other threads were, and the scale
 * of all samples makes up for it. */
static void find_threads_without_their_samples(struct model *m)
{
	for (uint32_t i = 0; i < m->thread_counts.threads.nr; i++) {
		struct thread_count *t = &m->thread_counts.threads.at[i];
		double period = m->event[t->event].mean_period;

		t->is_left_out = t->tid && !t->samples && period > 0 && (double)t->value >= PERIODS_UNSAMPLED * period;
	}
}

static void sum_ended_threads(struct model *m)
{
	const struct thread_counts *c = &m->thread_counts;

	for (uint32_t i = 0; i < m->nr_events; i++)
		m->event[i].mean_period = mean_period(&m->event[i]);
	settle_untold_threads(m);
	find_threads_without_their_samples(m);
	for (uint32_t i = 0; i < c->parts.nr; i++) {
		const struct thread_count_part *p = &c->parts.at[i];
		struct model_event *e = &m->event[c->threads.at[p->thread].event];
		struct event_count *of = p->cpu < e->nr_counts ? &e->count[p->cpu] : &e->of_threads;

		if (c->threads.at[p->thread].is_left_out || count_of_untold(m, p))
			continue;
		of->ended_value = add_clamped(of->ended_value, p->value);
		of->ended_weight = add_clamped(of->ended_weight, p->weight);
		of->ended_samples = add_clamped(of->ended_samples, p->samples);
		of->ended_unsampled = add_clamped(of->ended_unsampled, c->threads.at[p->thread].samples ? 0 : p->value);
	}
}

static double scale_of_thread(const struct thread_count *t, const struct model_event *e)
{
	double weight = (double)t->weight;

	if (t->tail > 0)
		return e->scale * (weight + t->tail) / weight;
	return t->value ? (double)t->value / weight * e->multiplexed : e->scale;
}

static void settle_thread_counts(struct model *m)
{
	for (uint32_t i = 0; i < m->thread_counts.threads.nr; i++) {
		struct thread_count *t = &m->thread_counts.threads.at[i];
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

/* ------------------------------------------------------------------------------------------------------ all counts */

void counts_settle(struct model *m)
{
	sum_ended_threads(m);
	for (uint32_t i = 0; i < m->nr_events; i++)
		settle_event_counts(&m->event[i]);
	settle_thread_counts(m);
}

double model_event_scale(const struct model *m, uint32_t event, uint32_t cpu)
{
	const struct model_event *e = event < m->nr_events ? &m->event[event] : NULL;

	if (!e || e->scale <= 0)
		return 1;
	return cpu < e->nr_counts && e->count[cpu].scale > 0 ? e->count[cpu].scale : e->scale;
}

const char *model_why_not_covered(const struct model *m)
{
	return m->thread_counts.threads.nr ? "late interrupts, or ends of short threads" :
					     "late interrupts, or threads shorter than a period";
}

void counts_free(struct model_event *e)
{
	free(e->count);
}

uint64_t model_clamp_to_u64(double scaled)
{
	return scaled < 0x1p64 ? (uint64_t)scaled : UINT64_MAX;
}

void thread_counts_fini(struct thread_counts *c)
{
	hash_map_fini(&c->at);
	free(c->threads.at);
	free(c->parts.at);
	free(c->beginnings.at);
}

double thread_count_scale(const struct model *m, uint32_t event, uint32_t pid, uint32_t tid)
{
	uint32_t i = hash_map_find(&m->thread_counts.at, key_of_thread(pid, tid), event);

	return i ? m->thread_counts.threads.at[i - 1].scale : 0;
}

uint64_t thread_count_unsampled(const struct model *m, uint32_t i)
{
	const struct thread_count *t = &m->thread_counts.threads.at[i];

	return t->samples || t->is_left_out ? 0 : model_clamp_to_u64((double)t->value * m->event[t->event].multiplexed);
}
