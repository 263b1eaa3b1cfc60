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
	uint64_t i = trace_u64(r, F(count, event)), cpu = trace_u64(r, F(count, cpu)), running_ns;
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
	c->value += e->is_clock && running_ns ? running_ns : trace_u64(r, F(count, value));
	c->enabled_ns += trace_u64(r, F(count, enabled_ns));
	c->running_ns += running_ns;
	c->on_cpu_ns += trace_u64(r, F(count, on_cpu_ns));
	c->samples += trace_u64(r, F(count, samples));
	c->lost += trace_u64(r, F(count, lost));
	c->weight += trace_u64(r, F(count, weight));
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
 */
static double scale_of_lost_samples(const struct event_count *c)
{
	if (c->weight)
		return (double)c->value / (double)c->weight;
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
	if (e->sampled > 0 && (c->samples < SAMPLES_FEW || fabs(c->scale / e->scale - 1) < SCALE_SAME))
		c->scale = e->scale;
}

static void settle_event_counts(struct model_event *e)
{
	uint64_t everywhere = 0;
	double running = 0;

	e->of_threads.on_cpu_ns = e->of_threads.enabled_ns; /* counters of a thread count wherever it runs */
	for (uint32_t cpu = 0; cpu < e->nr_counts; cpu++) {
		const struct event_count *c = &e->count[cpu];

		everywhere = c->enabled_ns > everywhere ? c->enabled_ns : everywhere;
		running += (double)c->running_ns;
	}
	for (uint32_t cpu = 0; cpu < e->nr_counts; cpu++) {
		struct event_count *c = &e->count[cpu];

		if (!c->on_cpu_ns && running > 0 && running < (double)everywhere)
			c->on_cpu_ns = model_clamp_to_u64((double)c->running_ns * ((double)everywhere / running));
		add_count(e, c);
	}
	add_count(e, &e->of_threads);
	if (e->sampled > 0 && e->counted) {
		e->sampled /= (double)e->counted;
		e->scale = clamp_scale(SCALE_MIN, 1 / e->sampled);
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
	for (uint32_t i = 0; i < m->nr_events; i++)
		settle_event_counts(&m->event[i]);
}

double model_event_scale(const struct model *m, uint32_t event, uint32_t cpu)
{
	const struct model_event *e = event < m->nr_events ? &m->event[event] : NULL;

	if (!e || e->scale <= 0)
		return 1;
	return cpu < e->nr_counts && e->count[cpu].scale > 0 ? e->count[cpu].scale : e->scale;
}

void counts_free(struct model_event *e)
{
	free(e->count);
}

uint64_t model_clamp_to_u64(double scaled)
{
	return scaled < 0x1p64 ? (uint64_t)scaled : UINT64_MAX;
}
