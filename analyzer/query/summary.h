/* SPDX-License-Identifier: MIT */
/*
 * What the views show, added up once from the table: the same sums behind text and JSON.  Context: thread.
 */
#ifndef TAILOR_SUMMARY_H
#define TAILOR_SUMMARY_H

#include "analyzer/attribute/attribute.h"
#include "analyzer/table/group.h"

/* Sums by each kind of group, for one filter.  Arrays are as long as what they index. */
struct sums {
	struct group_sum total;
	struct group_sum *component[LEVELS_MAX]; /* by component index; [0]: samples with none at that level */
	struct group_sum *function, *line, *image, *process, *thread, *event, *phase;
	struct group_sum method[NR_METHODS], reason[NR_REASONS];
	uint32_t nr[TABLE_COLUMNS]; /* of the arrays, by column */
};

struct summary {
	const struct attribution *a;
	struct sums all; /* of what passes the filter */
	struct sums run; /* ... inside of run marks: what the plan shows; settled: equal to all where there are none */
	bool has_run;
	bool by_thread; /* else there are no sums by thread */
	uint32_t nr_runs; /* marks with samples in them */
	uint32_t plan_level; /* LEVELS_MAX: no level is a plan */
	uint64_t lost; /* samples that were not recorded */
	uint32_t event; /* the sums are of this one: samples of different events do not add up (all.event: of each) */
};

/* The columns that it asks for (attribute_options.sums_by). */
uint64_t summary_sums_by(const struct summary *s, const struct model *m);
/* NULL without memory.  by_thread: sums of threads are asked for as well. */
struct summary *summary_create(bool by_thread);
/* Add rows that passed the filter, of all events.  0 or -ENOMEM. */
int summary_rows(struct summary *s, const struct attribution *a, const struct table *t, const uint32_t *selected, uint32_t nr);
/* After the last rows.  0 or -ENOMEM. */
int summary_settle(struct summary *s, const struct attribution *a);
void summary_destroy(struct summary *s);

/* The level that the host calls its plan, else the topmost one that has edges; LEVELS_MAX: none. */
uint32_t summary_plan_level(const struct dictionary *d);
/* Samples that were not recorded, as far as they were counted. */
uint64_t summary_lost(const struct model *m);

/* What shares are of: weights; samples where these have none. */
static inline double summary_measure(const struct group_sum *s)
{
	return s->weight > 0 ? s->weight : s->samples;
}

/* Indexes of the groups with samples, the largest measure first.  Returns how many; order has room for nr. */
size_t summary_order(const struct group_sum *sums, uint32_t nr, uint32_t *order);

#endif
