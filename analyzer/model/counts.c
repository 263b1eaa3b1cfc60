/* SPDX-License-Identifier: MIT */
/*
 * A counter of a processor that took turns with others counted for a part of the time that its threads ran there (on_cpu_ns).  The kernel's
 * own "enabled" time is how long they ran on all processors: of a thread that runs half of its time on each of two, each counter was
 * enabled for twice as long as it could count.  Traces that do not know the time on the processor still know the time on all of them,
 * which is that of any counter, and how long counters ran on all of them together: the part that is missing is taken to be missing
 * everywhere alike.
 */
#include "counts.h"

#include "model.h"

#include <stdlib.h>
#include <string.h>

#define CPUS_MAX 8192u
#define SCALE_MAX 1000.0 /* beyond it is noise */

void counts_read(struct model *m, const struct trace_record *r)
{
	uint64_t i = trace_u64(r, F(count, event)), cpu = trace_u64(r, F(count, cpu));
	struct event_count *c;
	struct event *e;

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
	c->value += trace_u64(r, F(count, value));
	c->enabled_ns += trace_u64(r, F(count, enabled_ns));
	c->running_ns += trace_u64(r, F(count, running_ns));
	c->on_cpu_ns += trace_u64(r, F(count, on_cpu_ns));
	c->samples += trace_u64(r, F(count, samples));
	c->lost += trace_u64(r, F(count, lost));
}

static double bounded(double scale)
{
	return scale > 1 ? scale < SCALE_MAX ? scale : SCALE_MAX : 1;
}

/* A counter that ran a tenth of its time, and lost half of its samples, has a twentieth of what there was. */
static void settle_count(struct event *e, struct event_count *c)
{
	double turns = c->running_ns && c->on_cpu_ns > c->running_ns ? (double)c->on_cpu_ns / (double)c->running_ns : 1;

	if (!c->enabled_ns && !c->samples)
		return;
	turns = bounded(turns);
	c->scale = bounded(turns * (c->samples ? 1 + (double)c->lost / (double)c->samples : 1));
	e->counted += model_whole((double)c->value * turns);
	e->count_samples += c->samples;
	e->count_lost += c->lost;
	e->on_cpu_ns += c->on_cpu_ns > c->running_ns ? c->on_cpu_ns : c->running_ns;
	e->running_ns += c->running_ns;
}

static void settle_event(struct event *e)
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
			c->on_cpu_ns = model_whole((double)c->running_ns * ((double)everywhere / running));
		settle_count(e, c);
	}
	settle_count(e, &e->of_threads);
	e->scale = e->running_ns ? bounded((double)e->on_cpu_ns / (double)e->running_ns) : 1;
	e->scale = bounded(e->scale * (e->count_samples ? 1 + (double)e->count_lost / (double)e->count_samples : 1));
}

void counts_settle(struct model *m)
{
	for (uint32_t i = 0; i < m->nr_events; i++)
		settle_event(&m->event[i]);
}

double model_event_scale(const struct model *m, uint32_t event, uint32_t cpu)
{
	const struct event *e = event < m->nr_events ? &m->event[event] : NULL;

	if (!e || e->scale <= 0)
		return 1;
	return cpu < e->nr_counts && e->count[cpu].scale > 0 ? e->count[cpu].scale : e->scale;
}

void counts_free(struct event *e)
{
	free(e->count);
}
