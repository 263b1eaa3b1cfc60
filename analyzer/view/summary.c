/* SPDX-License-Identifier: MIT */
#include "summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static struct table_sum *group(const struct attribution *a, const struct table_filter *f, enum table_column column, uint32_t nr,
			       struct table_sum *total)
{
	struct table_sum *sums = calloc(nr + 1, sizeof(*sums)), all;

	if (!sums)
		return NULL;
	all = table_group(&a->table, f, column, sums, nr);
	if (total)
		*total = all;
	return sums;
}

static int sums_make(const struct attribution *a, const struct table_filter *f, struct sums *s)
{
	const struct model *m = a->model;
	bool ok = true;

	for (uint32_t i = 0; i < m->dictionary.nr_levels; i++)
		ok &= (s->component[i] = group(a, f, TABLE_LEVEL_0 + i, m->dictionary.nr_components, NULL)) != NULL;
	ok &= (s->function = group(a, f, TABLE_FUNCTION, a->nr_functions, &s->total)) != NULL;
	ok &= (s->line = group(a, f, TABLE_LINE, a->nr_lines, NULL)) != NULL;
	ok &= (s->image = group(a, f, TABLE_IMAGE, a->nr_images, NULL)) != NULL;
	ok &= (s->process = group(a, f, TABLE_PROCESS, m->nr_processes, NULL)) != NULL;
	ok &= (s->thread = group(a, f, TABLE_THREAD, m->nr_threads, NULL)) != NULL;
	ok &= (s->event = group(a, f, TABLE_EVENT, m->nr_events, NULL)) != NULL;
	table_group(&a->table, f, TABLE_METHOD, s->method, NR_METHODS);
	table_group(&a->table, f, TABLE_REASON, s->reason, NR_REASONS);
	return ok ? 0 : -ENOMEM;
}

static void sums_fini(struct sums *s)
{
	for (int i = 0; i < LEVELS_MAX; i++)
		free(s->component[i]);
	free(s->function);
	free(s->line);
	free(s->image);
	free(s->process);
	free(s->thread);
	free(s->event);
}

/* The level that the host calls its plan, else the topmost one that has edges. */
static uint32_t find_plan_level(const struct dictionary *d)
{
	uint32_t best = LEVELS_MAX;

	for (uint32_t i = 0; i < d->nr_levels; i++)
		if (d->level[i].flags & JITREG_LEVEL_PLAN)
			return i;
	for (uint32_t e = 0; e < d->nr_edges; e++) {
		uint32_t level = d->component[d->edges[e].from].level;

		if (best == LEVELS_MAX || d->level[level].rank < d->level[best].rank)
			best = level;
	}
	return best;
}

int summary_create(const struct attribution *a, const struct table_filter *filter, struct summary **out)
{
	struct summary *s = calloc(1, sizeof(*s));
	struct table_condition *conditions = calloc(filter->nr_conditions + 1, sizeof(*conditions));
	struct table_filter run = *filter;
	struct table_sum *phases = NULL;
	int ret = -ENOMEM;

	if (!s || !conditions)
		goto out;
	s->a = a;
	s->filter = *filter;
	s->plan_level = find_plan_level(&a->model->dictionary);
	for (uint32_t i = 0; i < a->model->nr_losses; i++)
		if (strcmp(a->model->loss[i].kind, "ring full") == 0 || strcmp(a->model->loss[i].kind, "trace write failed") == 0)
			s->lost += a->model->loss[i].count;
	ret = sums_make(a, filter, &s->all);
	if (ret)
		goto out;
	phases = group(a, filter, TABLE_PHASE, a->model->nr_marks + 1, NULL);
	if (!phases) {
		ret = -ENOMEM;
		goto out;
	}
	for (uint32_t i = 1; i <= a->model->nr_marks; i++)
		s->nr_runs += phases[i].samples > 0;
	s->has_run = s->nr_runs > 0;
	if (filter->nr_conditions)
		memcpy(conditions, filter->conditions, filter->nr_conditions * sizeof(*conditions));
	if (s->has_run)
		conditions[run.nr_conditions++] = (struct table_condition){ TABLE_PHASE, 0, 0, true };
	run.conditions = conditions;
	ret = sums_make(a, &run, &s->run);
out:
	free(phases);
	free(conditions);
	if (ret) {
		summary_destroy(s);
		return ret;
	}
	*out = s;
	return 0;
}

void summary_destroy(struct summary *s)
{
	if (!s)
		return;
	sums_fini(&s->all);
	sums_fini(&s->run);
	free(s);
}

void summary_tenths(const double *values, size_t nr, double total, int *tenths)
{
	double sum = 0;
	int given = 0, wanted;

	for (size_t i = 0; i < nr; i++) {
		tenths[i] = total > 0 ? (int)(values[i] * 1000 / total) : 0;
		given += tenths[i];
		sum += values[i];
	}
	wanted = total > 0 ? (int)(sum * 1000 / total + 0.5) : 0;
	while (given < wanted) {
		size_t best = 0;
		double most = -1;

		for (size_t i = 0; i < nr; i++) {
			double rest = values[i] * 1000 / total - tenths[i];

			if (rest > most) {
				most = rest;
				best = i;
			}
		}
		tenths[best]++;
		given++;
	}
}

static int by_samples(const void *a, const void *b, void *sums)
{
	const struct table_sum *s = sums;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (s[i].samples != s[j].samples)
		return s[i].samples > s[j].samples ? -1 : 1;
	return i < j ? -1 : i > j;
}

size_t summary_order(const struct table_sum *sums, uint32_t nr, uint32_t *order)
{
	size_t n = 0;

	for (uint32_t i = 0; i < nr; i++)
		if (sums[i].samples > 0)
			order[n++] = i;
	qsort_r(order, n, sizeof(*order), by_samples, (void *)(uintptr_t)sums);
	return n;
}
