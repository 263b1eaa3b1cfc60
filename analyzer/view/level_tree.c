/* SPDX-License-Identifier: MIT */
#include "analyzer/view/level_tree.h"

#include <stdlib.h>

#define STEPS 3
#define SHOWN_FROM 0.005 /* share that a row needs to be shown in text form, except "(unattributed)" */

static const enum host_level steps[STEPS] = { HOST_LEVEL_MODULE, HOST_LEVEL_FUNCTION, HOST_LEVEL_LINE };

struct report_group *level_tree_ask(struct report *r)
{
	const uint32_t *level = r->model->host_level;

	for (int i = 0; i < STEPS; i++)
		if (!r->model->has_host_levels || level[steps[i]] >= LEVELS_MAX)
			return NULL;
	return report_add_group(r, REPORT_RUN, TABLE_LEVEL_0 + (int)level[HOST_LEVEL_MODULE],
				TABLE_LEVEL_0 + (int)level[HOST_LEVEL_FUNCTION], TABLE_LEVEL_0 + (int)level[HOST_LEVEL_LINE], -1);
}

struct tree {
	const struct report *r;
	const struct report_group *by;
	struct group_sum *sum; /* for each component: the sum of all groups that it is in */
	uint32_t nr_sums;
	uint32_t *order; /* groups, in the order in which the tree shows them: at each step, the largest component first */
};

static double measure_at_step(const struct tree *t, uint32_t group, uint32_t step)
{
	uint32_t component = report_value(t->by, group, step);

	return component && component < t->nr_sums ? report_measure(t->r, &t->sum[component]) : 0;
}

static int compare_tree_groups(const void *a, const void *b, void *context)
{
	const struct tree *t = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t x = report_value(t->by, i, step), y = report_value(t->by, j, step);
		double of_x = measure_at_step(t, i, step), of_y = measure_at_step(t, j, step);

		if (x == y)
			continue;
		if (!x || !y) /* groups without a component come last */
			return x ? -1 : 1;
		if (of_x < of_y || of_x > of_y)
			return of_x > of_y ? -1 : 1;
		return x < y ? -1 : 1;
	}
	return i < j ? -1 : i > j;
}

static bool make_level_tree(struct tree *t)
{
	t->nr_sums = t->r->model->dictionary.components.nr;
	t->sum = calloc(t->nr_sums, sizeof(*t->sum));
	t->order = malloc(((size_t)t->by->g.nr + 1) * sizeof(*t->order));
	if (!t->sum || !t->order)
		return false;
	for (uint32_t i = 0; i < t->by->g.nr; i++) {
		t->order[i] = i;
		for (uint32_t step = 0; step < STEPS; step++)
			if (report_value(t->by, i, step) < t->nr_sums)
				group_sum_add(&t->sum[report_value(t->by, i, step)], &t->by->g.sum[i]);
	}
	qsort_r(t->order, t->by->g.nr, sizeof(*t->order), compare_tree_groups, t);
	return true;
}

struct level_tree_columns {
	int share, samples, kernel, weight, depth, level, id, name;
};

static void add_component_row(const struct tree *t, struct grid *g, const struct level_tree_columns *c, const struct group_sum *sum,
			      uint32_t step, uint32_t component, const char *none)
{
	static const char *const prefix[] = { "", "  ", "    " };
	char spare[32];

	grid_row(g);
	grid_set(g, c->share, report_measure(t->r, sum));
	grid_set(g, c->samples, sum->samples);
	if (sum->samples > 0)
		grid_set(g, c->kernel, sum->kernel / sum->samples);
	grid_set(g, c->weight, sum->weight);
	grid_set(g, c->depth, step);
	grid_set_prefix(g, c->name, prefix[step]);
	if (!component) {
		grid_set_text(g, c->name, none);
		return;
	}
	grid_set_text(g, c->level, report_level_name(t->r, t->r->model->dictionary.components.at[component].level));
	grid_set(g, c->id, (double)t->r->model->dictionary.components.at[component].id);
	grid_set_text(g, c->name, report_component_name(t->r, component, spare));
}

/* Returns the sum of functions that have no module, for the row "(no module)" behind all modules. */
static struct group_sum sum_without_module(const struct tree *t)
{
	struct group_sum sum = { 0 };

	for (uint32_t i = 0; i < t->by->g.nr; i++)
		if (!report_value(t->by, i, 0) && report_value(t->by, i, 1))
			group_sum_add(&sum, &t->by->g.sum[i]);
	return sum;
}

/*
 * Adds a row for each component that begins at a group in the tree's order, and one for the functions without a module where these begin.
 * Rows with a smaller measure than least are left out.
 */
static void add_group_rows(const struct tree *t, struct grid *g, const struct level_tree_columns *c, uint32_t at, double least)
{
	uint32_t group = t->order[at];
	bool is_new = at == 0;

	for (uint32_t step = 0; step < STEPS; step++) {
		uint32_t component = report_value(t->by, group, step);

		is_new |= at > 0 && component != report_value(t->by, t->order[at - 1], step);
		if (is_new && !step && !component) {
			const struct group_sum sum = sum_without_module(t);

			if (sum.samples > 0 && report_measure(t->r, &sum) >= least)
				add_component_row(t, g, c, &sum, 0, COMPONENT_NONE, "(no module)");
		}
		if (!is_new || !component || component >= t->nr_sums || report_measure(t->r, &t->sum[component]) < least)
			continue;
		add_component_row(t, g, c, &t->sum[component], step, component, NULL);
	}
}

void level_tree_show(struct report *r, const struct report_group *by, struct page *p)
{
	struct tree t = { .r = r, .by = by };
	char phase[PHASE_TEXT];
	struct grid *g = grid_create("levels", "Modules, functions and lines%s", view_in_phase(r, phase));
	struct group_sum total = { 0 }, none = { 0 };
	struct level_tree_columns c;

	c.share = grid_column(g, "share", "share", CELL_SHARE, GRID_BAR, 0);
	c.samples = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES, 0);
	c.kernel = grid_column(g, "kernel", "kernel", CELL_PERCENT, 0, 0);
	c.weight = grid_column(g, "weight", "", CELL_NUMBER, GRID_HIDDEN, 0);
	c.depth = grid_column(g, "depth", "", CELL_COUNT, GRID_HIDDEN, 0);
	c.level = grid_column(g, "level", "", CELL_TEXT, GRID_HIDDEN, 0);
	c.id = grid_column(g, "id", "", CELL_COUNT, GRID_HIDDEN, 0);
	c.name = grid_column(g, "name", "module, function, line", CELL_TEXT, 0, 0);
	if (make_level_tree(&t)) {
		for (uint32_t i = 0; i < by->g.nr; i++) {
			bool unattributed = true;

			for (uint32_t step = 0; step < STEPS; step++)
				unattributed &= !report_value(by, i, step);
			group_sum_add(&total, &by->g.sum[i]);
			if (unattributed)
				group_sum_add(&none, &by->g.sum[i]);
		}
		grid_set_total(g, c.share, report_measure(r, &total));
		grid_set_total(g, c.samples, total.samples);
		grid_mark_tree_column(g, c.share);
		grid_show_all_rows(g);
		for (uint32_t i = 0; i < by->g.nr; i++)
			add_group_rows(&t, g, &c, i, p->form == PAGE_TEXT ? SHOWN_FROM * report_measure(r, &total) : 0);
		add_component_row(&t, g, &c, &none, 0, COMPONENT_NONE, "(unattributed)");
	}
	free(t.sum);
	free(t.order);
	grid_show(g, p);
}
