/* SPDX-License-Identifier: MIT */
#include "analyzer/whatif/parts.h"

#include <stdlib.h>

/* The made threads must end within this last part of the group's time. A maker that ran less than this is left out. */
#define QUEUE_ENDS 0.05
#define QUEUE_WAITS 0.02 /* part of the threads' time that they may wait for other threads */
#define QUEUE_SKEW 1.1	 /* with a smaller skew, the work is divided evenly enough as it is */

static bool tick_is_of(const struct tick *k, int level, uint32_t of)
{
	return level == PART_FUNCTION ? k->function == of : level >= 0 && k->component[level] == of;
}

static bool is_made_by(const struct step_graph *g, uint32_t thread, uint32_t maker)
{
	const struct timeline_thread *h = &g->t->threads.at[thread];

	return h->creator == maker && h->pid == g->t->threads.at[maker].pid;
}

bool part_has_thread(const struct step_graph *g, const struct part *group, uint32_t thread)
{
	return thread == group->of || is_made_by(g, thread, group->of);
}

/*
 * The time of a group (PART_THREADS) is that from the beginning of the first thread that the maker made in its process to the end of the
 * last one. Without such a thread, and for other levels, from_ns is behind to_ns.
 */
struct part part_make(const struct step_graph *g, int level, uint32_t of)
{
	struct part part = { level, of, UINT64_MAX, 0 };

	for (uint32_t i = 0; level == PART_THREADS && i < g->t->threads.nr; i++) {
		const struct timeline_thread *h = &g->t->threads.at[i];

		if (!is_made_by(g, i, of))
			continue;
		part.from_ns = h->from_ns < part.from_ns ? h->from_ns : part.from_ns;
		part.to_ns = h->to_ns > part.to_ns ? h->to_ns : part.to_ns;
	}
	return part;
}

bool part_has(const struct step_graph *g, const struct tick *k, const struct part *part)
{
	if (part->level == PART_BETWEEN || part->level == PART_COPIES || part->level == PART_ALL)
		return part->level == PART_BETWEEN ? k->between : part->level == PART_COPIES ? k->copies : true;
	if (part->level == PART_LOCK)
		return k->lock == part->of + 1;
	if (part->level != PART_THREADS)
		return tick_is_of(k, part->level, part->of);
	return part_has_thread(g, part, k->thread) && k->time_ns >= part->from_ns && k->time_ns <= part->to_ns;
}

void part_sum_threads(const struct step_graph *g, const struct part *of, double *part, double *all)
{
	for (uint32_t i = 0; i < g->t->ticks.nr; i++) {
		const struct tick *k = &g->t->ticks.at[i];

		if (g->step_of_tick[i] == SIMULATE_NONE)
			continue;
		all[k->thread] += k->weight;
		part[k->thread] += part_has(g, k, of) ? k->weight : 0;
	}
}

double part_share(const struct step_graph *g, int level, uint32_t of, double *samples)
{
	double part = 0, all = 0;

	*samples = 0;
	for (uint32_t i = 0; i < g->t->ticks.nr; i++)
		if (g->step_of_tick[i] != SIMULATE_NONE) {
			all += g->t->ticks.at[i].weight;
			part += tick_is_of(&g->t->ticks.at[i], level, of) ? g->t->ticks.at[i].weight : 0;
			++*samples;
		}
	return all > 0 ? part / all : 0;
}

double part_skew(const struct step_graph *g, int level, uint32_t of, uint32_t *nr)
{
	const struct part what = part_make(g, level, of);
	double *part = calloc((size_t)g->t->threads.nr + 1, sizeof(*part)), *all = calloc((size_t)g->t->threads.nr + 1, sizeof(*all));
	double most = 0, sum = 0;

	*nr = 0;
	if (part && all)
		part_sum_threads(g, &what, part, all);
	for (uint32_t i = 0; part && all && i < g->t->threads.nr; i++)
		if (part[i] > 0) {
			most = part[i] > most ? part[i] : most;
			sum += part[i];
			++*nr;
		}
	free(part);
	free(all);
	return *nr && sum > 0 ? most * *nr / sum : 1;
}

/* Returns how long a thread ran in [from, to) (SPAN_RUN), or waited for a child, a sibling or something unknown (SPAN_WAIT). */
static double time_of(const struct timeline *t, uint32_t thread, uint64_t from_ns, uint64_t to_ns, enum span_kind kind)
{
	const struct timeline_thread *h = &t->threads.at[thread];
	double sum = 0;

	for (uint32_t i = h->first_span; i < h->first_span + h->nr_spans; i++) {
		const struct span *s = &t->spans.at[i];
		const uint64_t from = s->from_ns > from_ns ? s->from_ns : from_ns, to = s->to_ns < to_ns ? s->to_ns : to_ns;

		if (from < to && s->kind == kind && (kind != SPAN_WAIT || s->resource >= RESOURCE_CHILD))
			sum += (double)(to - from);
	}
	return sum;
}

bool part_is_queue(const struct step_graph *g, const struct part *part)
{
	const struct timeline *t = g->t;
	const double time = (double)(part->to_ns - part->from_ns);
	uint64_t first_end = UINT64_MAX;
	double waits = 0, lives = 0;
	uint32_t nr = 0, nr_working;

	if (part->from_ns >= part->to_ns || part->from_ns < g->from_ns || part->to_ns > g->to_ns)
		return false;
	for (uint32_t i = 0; i < t->threads.nr; i++) {
		const struct timeline_thread *h = &t->threads.at[i];
		const bool is_maker = i == part->of;

		if (!part_has_thread(g, part, i) ||
		    (is_maker && time_of(t, i, part->from_ns, part->to_ns, SPAN_RUN) < QUEUE_ENDS * time))
			continue;
		nr++;
		first_end = !is_maker && h->to_ns < first_end ? h->to_ns : first_end;
		lives += is_maker ? time : (double)(h->to_ns - h->from_ns);
		waits += time_of(t, i, part->from_ns, part->to_ns, SPAN_WAIT);
	}
	return nr > 1 && (double)(part->to_ns - first_end) < QUEUE_ENDS * time && waits < QUEUE_WAITS * lives &&
	       part_skew(g, PART_THREADS, part->of, &nr_working) > QUEUE_SKEW && nr_working > 1;
}
