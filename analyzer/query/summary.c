/* SPDX-License-Identifier: MIT */
#include "analyzer/query/summary.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint64_t summary_sums_by(const struct summary *s, const struct model *m)
{
	return (s->by_thread ? 1ull << TABLE_THREAD : 0) | 1ull << TABLE_PROCESS | 1ull << TABLE_EVENT | 1ull << TABLE_MODE |
	       1ull << TABLE_FUNCTION | 1ull << TABLE_LINE | 1ull << TABLE_IMAGE | 1ull << TABLE_METHOD | 1ull << TABLE_REASON |
	       1ull << TABLE_PHASE | ((1ull << m->dictionary.nr_levels) - 1) << TABLE_LEVEL_0;
}

/* The array that a column is summed up in; NULL where it is one of fixed size. */
static struct group_sum **array_of(struct sums *s, uint32_t column)
{
	switch (column) {
	case TABLE_FUNCTION:
		return &s->function;
	case TABLE_LINE:
		return &s->line;
	case TABLE_IMAGE:
		return &s->image;
	case TABLE_PROCESS:
		return &s->process;
	case TABLE_THREAD:
		return &s->thread;
	case TABLE_EVENT:
		return &s->event;
	case TABLE_PHASE:
		return &s->phase;
	default:
		return column >= TABLE_LEVEL_0 ? &s->component[column - TABLE_LEVEL_0] : NULL;
	}
}

static uint32_t nr_groups(const struct attribution *a, uint32_t column)
{
	switch (column) {
	case TABLE_FUNCTION:
		return a->nr_functions;
	case TABLE_LINE:
		return a->nr_lines;
	case TABLE_IMAGE:
		return a->nr_images;
	case TABLE_PROCESS:
		return a->model->nr_processes;
	case TABLE_THREAD:
		return a->model->nr_threads;
	case TABLE_EVENT:
		return a->model->nr_events;
	case TABLE_PHASE:
		return a->model->nr_marks + 1;
	default:
		return a->model->dictionary.nr_components;
	}
}

static int grow(struct sums *s, const struct attribution *a)
{
	for (uint32_t c = 0; c < TABLE_LEVEL_0 + a->model->dictionary.nr_levels; c++) {
		struct group_sum **array = array_of(s, c), *bigger;
		uint32_t nr = nr_groups(a, c);

		if (!array || (nr < s->nr[c] && *array))
			continue;
		bigger = realloc(*array, 2 * ((size_t)nr + 1) * sizeof(*bigger));
		if (!bigger)
			return -ENOMEM;
		memset(bigger + s->nr[c], 0, (2 * ((size_t)nr + 1) - s->nr[c]) * sizeof(*bigger));
		*array = bigger;
		s->nr[c] = 2 * (nr + 1);
	}
	return 0;
}

static void add_row(struct group_sum *s, const struct table *t, uint32_t row)
{
	if (t->sum) {
		s->samples += t->sum[row].samples;
		s->weight += t->sum[row].weight;
		s->kernel += t->sum[row].kernel;
		return;
	}
	s->samples += t->share[row];
	s->weight += t->share[row] * (double)t->weight[row];
	if (t->column[TABLE_MODE][row] == TABLE_MODE_KERNEL)
		s->kernel += t->share[row];
}

static void add_column(struct group_sum *sums, uint32_t nr_sums, const struct table *t, uint32_t column, const uint32_t *selected,
		       uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		uint32_t group = t->column[column][selected[i]];

		if (group < nr_sums) /* else of a damaged trace */
			add_row(&sums[group], t, selected[i]);
	}
}

static int add_rows(struct sums *s, const struct attribution *a, const struct table *t, const uint32_t *selected, uint32_t nr)
{
	if (grow(s, a))
		return -ENOMEM;
	for (uint32_t c = 0; c < TABLE_LEVEL_0 + t->nr_levels; c++)
		if (array_of(s, c))
			add_column(*array_of(s, c), s->nr[c], t, c, selected, nr);
	add_column(s->method, NR_METHODS, t, TABLE_METHOD, selected, nr);
	add_column(s->reason, NR_REASONS, t, TABLE_REASON, selected, nr);
	for (uint32_t i = 0; i < nr; i++)
		add_row(&s->total, t, selected[i]);
	return 0;
}

int summary_rows(struct summary *s, const struct attribution *a, const struct table *t, const uint32_t *selected, uint32_t nr)
{
	static const struct table_condition in_run = { .column = TABLE_PHASE, .low = 0, .high = 0, .not = true };
	const struct table_condition is_shown = { .column = TABLE_EVENT, .low = s->event, .high = s->event };
	const struct table_condition is_other = { .column = TABLE_EVENT, .low = s->event, .high = s->event, .not = true };
	const struct table_filter run = { .conditions = &in_run, .nr_conditions = 1 };
	const struct table_filter shown = { .conditions = &is_shown, .nr_conditions = 1 };
	const struct table_filter other = { .conditions = &is_other, .nr_conditions = 1 };
	uint32_t *rows = malloc(((size_t)nr + 1) * sizeof(*rows)), *of_event = malloc(((size_t)nr + 1) * sizeof(*of_event));
	int ret = rows && of_event ? grow(&s->all, a) : -ENOMEM;

	if (ret == 0 && a->model->nr_events > 1) {
		add_column(s->all.event, s->all.nr[TABLE_EVENT], t, TABLE_EVENT, rows, table_select(t, &other, selected, nr, rows));
		nr = table_select(t, &shown, selected, nr, of_event);
		selected = of_event;
	}
	if (ret == 0)
		ret = add_rows(&s->all, a, t, selected, nr);
	if (ret == 0)
		ret = add_rows(&s->run, a, t, rows, table_select(t, &run, selected, nr, rows));
	free(of_event);
	free(rows);
	return ret;
}

static void sums_fini(struct sums *s)
{
	for (uint32_t c = 0; c < TABLE_COLUMNS; c++)
		if (array_of(s, c))
			free(*array_of(s, c));
	memset(s, 0, sizeof(*s));
}

static int sums_copy(struct sums *to, struct sums *from)
{
	sums_fini(to);
	*to = *from;
	for (uint32_t c = 0; c < TABLE_COLUMNS; c++)
		if (array_of(to, c))
			*array_of(to, c) = NULL;
	for (uint32_t c = 0; c < TABLE_COLUMNS; c++) {
		struct group_sum **array = array_of(to, c);
		size_t bytes = from->nr[c] * sizeof(**array);

		if (!array || !from->nr[c])
			continue;
		*array = malloc(bytes);
		if (!*array)
			return -ENOMEM;
		memcpy(*array, *array_of(from, c), bytes);
	}
	return 0;
}

uint32_t summary_plan_level(const struct dictionary *d)
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

uint64_t summary_lost(const struct model *m)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < m->nr_losses; i++)
		if (strcmp(m->loss[i].kind, "ring full") == 0 || strcmp(m->loss[i].kind, "trace write failed") == 0)
			lost += m->loss[i].count;
	return lost;
}

struct summary *summary_create(bool by_thread)
{
	struct summary *s = calloc(1, sizeof(*s));

	if (s)
		s->by_thread = by_thread;
	return s;
}

int summary_settle(struct summary *s, const struct attribution *a)
{
	if (grow(&s->all, a) || grow(&s->run, a))
		return -ENOMEM;
	s->a = a;
	s->plan_level = summary_plan_level(&a->model->dictionary);
	s->lost = summary_lost(a->model);
	for (uint32_t i = 1; i <= a->model->nr_marks; i++)
		s->nr_runs += s->all.phase[i].samples > 0;
	s->has_run = s->nr_runs > 0;
	return s->has_run ? 0 : sums_copy(&s->run, &s->all);
}

void summary_destroy(struct summary *s)
{
	if (!s)
		return;
	sums_fini(&s->all);
	sums_fini(&s->run);
	free(s);
}

static int by_measure(const void *a, const void *b, void *sums)
{
	const struct group_sum *s = sums;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	double x = summary_measure(&s[i]), y = summary_measure(&s[j]);

	if (x < y || x > y)
		return x > y ? -1 : 1;
	return i < j ? -1 : i > j;
}

size_t summary_order(const struct group_sum *sums, uint32_t nr, uint32_t *order)
{
	size_t n = 0;

	for (uint32_t i = 0; i < nr; i++)
		if (sums[i].samples > 0)
			order[n++] = i;
	qsort_r(order, n, sizeof(*order), by_measure, (void *)(uintptr_t)sums);
	return n;
}
