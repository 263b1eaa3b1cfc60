/* SPDX-License-Identifier: MIT */
/*
 * A multiplexed counter of a processor counted for a part of the time that its threads ran there (on_cpu_ns).  The kernel's
 * own "enabled" time is how long they ran on all processors: of a thread that runs half of its time on each of two, each counter was
 * enabled for twice as long as it could count.  Traces that do not know the time on the processor still know the time on all of them,
 * which is that of any counter, and how long counters ran on all of them together: the part that is missing is taken to be missing
 * everywhere alike.
 *
 * A clock counts the time that it runs.  What the kernel adds to its value while it throttles the clock's samples is more than that, up to
 * three times as much (Linux 6.18, perf_event_max_sample_rate of 1,000), so of clocks the running time counts.
 */
#include "analyzer/model/counts.h"

#include "analyzer/model/model.h"
#include "jitreg/base/grow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CPUS_MAX 8192u
#define SCALE_MAX 1000.0 /* beyond it is noise */
#define SCALE_MIN 0.5 /* samples at a rate weigh more than was counted where the kernel made their period longer */
#define SCALE_SAME 0.005
#define SAMPLES_FEW 50

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
	if (cpu >= CPUS_MAX && r->tid && !(e->is_clock && e->exclude_kernel)) /* its value has the kernel's time */
		thread_counts_add(m, (uint32_t)i, r, (struct thread_count_part){ value, trace_u64(r, F(count, samples)),
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
 * Counters that ran a tenth of their time, and lost half of their samples, have a twentieth of what there was.  Interrupts that come late
 * are missing samples that no loss record counts: where the sum of the samples' weights is known, its ratio to the count covers both.
 * Threads that ended have their own (thread_counts.c).
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

/* A few samples may stand for anything: theirs is what is missing of the event everywhere.  So is what differs by next to nothing. */
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
	to->tail += from->tail * from->tail_part;
	to->unsampled += from->unsampled * from->unsampled_part;
}

/* As scale_of_lost_samples(), of all counters together.  value: their sum, as it was counted. */
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
	}
	counted -= all.unsampled * e->multiplexed;
	sampled += all.tail;
	return clamp_scale(SCALE_MIN, counted / sampled);
}

/* Samples of user code are a part of what a clock counts, and stand for no more. */
static bool is_user_part_of_clock(const struct model_event *e)
{
	return e->is_clock && e->exclude_kernel && e->sampled > 0;
}

static void settle_event_counts(struct model_event *e)
{
	uint64_t everywhere = 0;
	double running = 0, value = (double)e->of_threads.value;

	e->of_threads.on_cpu_ns = e->of_threads.enabled_ns; /* counters of a thread count wherever it runs */
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

void counts_settle(struct model *m)
{
	thread_counts_sum(m);
	for (uint32_t i = 0; i < m->nr_events; i++)
		settle_event_counts(&m->event[i]);
	thread_counts_settle(m);
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
	return m->thread_counts.nr ? "late interrupts, or ends of short threads" : "late interrupts, or threads shorter than a period";
}

void counts_free(struct model_event *e)
{
	free(e->count);
}

uint64_t model_clamp_to_u64(double scaled)
{
	return scaled < 0x1p64 ? (uint64_t)scaled : UINT64_MAX;
}
