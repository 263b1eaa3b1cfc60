/* SPDX-License-Identifier: MIT */
/*
 * The view marks shows the host's marks (queries, runs, compilations, iterations, tasks). It has their count, duration, units and
 * components, and the slowest instances. Marks may overlap, so their sums may exceed the total.
 */
#include "analyzer/query/mark_kinds.h"
#include "analyzer/query/mark_sums.h"
#include "analyzer/view/view.h"

#include <stdlib.h>

#define SLOWEST 5
#define SLOWEST_KINDS 10 /* maximum number of kinds whose slowest instances are shown */

/*
 * Asks for sums by thread, bin of time and component. Which of them lie in a mark can be computed only after all samples were read, because
 * only then is the width of bins known (mark_sums.h).
 */
static void prepare_marks_view(struct report *r, struct view_instance *v)
{
	uint32_t level = report_find_level(r, r->level);

	if (level == LEVELS_MAX)
		level = 0;
	v->group[0] = report_add_group(r, 0, TABLE_THREAD, GROUP_BIN, TABLE_LEVEL_0 + (int)level, -1);
}

static int compare_mark_durations(const void *a, const void *b)
{
	const struct mark *const *x = a, *const *y = b;
	uint64_t p = (*x)->end_ns - (*x)->begin_ns, q = (*y)->end_ns - (*y)->begin_ns;

	if (p != q)
		return p > q ? -1 : 1;
	return (*x)->begin_ns < (*y)->begin_ns ? -1 : (*x)->begin_ns > (*y)->begin_ns;
}

static int compare_kind_times(const void *a, const void *b)
{
	const struct mark_kind *const *x = a, *const *y = b;

	if ((*x)->time_ns != (*y)->time_ns)
		return (*x)->time_ns > (*y)->time_ns ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

/*
 * Returns the kinds in the order in which they first began, or by descending time if there are more than SLOWEST_KINDS. Returns NULL if
 * memory runs out. The caller frees the list.
 */
static const struct mark_kind **order_kinds(const struct mark_kinds *kinds)
{
	const struct mark_kind **order = calloc((size_t)kinds->nr + 1, sizeof(*order));

	for (uint32_t i = 0; order && i < kinds->nr; i++)
		order[i] = &kinds->kind[i];
	if (order && kinds->nr > SLOWEST_KINDS)
		qsort(order, kinds->nr, sizeof(*order), compare_kind_times);
	return order;
}

static const char *kind_name(const struct report *r, const struct mark_kind *k, char text[128])
{
	char spare[32];

	if (!k->component)
		return k->name;
	snprintf(text, 128, "%s %s", k->name, report_component_name(r, k->component, spare));
	return text;
}

static void show_slowest(struct mark_sums *sums, const struct mark_kind *k, const struct mark **list, struct page *p)
{
	const struct report *r = sums->r;
	char text[128], tops[MARK_SUMS_TEXT];
	struct grid *slow = grid_create("slowest", "Slowest of %u: %s", k->nr, kind_name(r, k, text));
	int name = grid_column(slow, "name", "", CELL_TEXT, GRID_HIDDEN, 0);
	int instance = grid_column(slow, "instance", "#", CELL_COUNT, 0, 0);
	int time = grid_column(slow, "time_ns", "time", CELL_DURATION, 0, 0);
	int begin = grid_column(slow, "begin_ns", "begin", CELL_DURATION, 0, 0);
	int of = grid_column(slow, "times_mean", "vs. mean", CELL_TIMES, 0, 0);
	int units = grid_column(slow, "units", "units", CELL_NUMBER, 0, 0);
	int n = grid_column(slow, "samples", "samples", CELL_COUNT, 0, 0);
	int top = grid_column(slow, "top", "top components", CELL_TEXT, 0, 0);
	uint32_t nr = 0;

	for (uint32_t i = 0; i < k->nr; i++)
		if (list[i]->end_ns != UINT64_MAX)
			list[nr++] = list[i];
	if (nr)
		qsort(list, nr, sizeof(*list), compare_mark_durations);
	for (uint32_t i = 0; i < nr && i < SLOWEST; i++) {
		double ns = (double)(list[i]->end_ns - list[i]->begin_ns);

		mark_sums_begin(sums);
		mark_sums_add(sums, list[i]);
		mark_sums_top(sums, tops);
		grid_row(slow);
		grid_set_text(slow, name, k->name);
		grid_set(slow, instance, (double)list[i]->instance);
		grid_set(slow, time, ns);
		grid_set(slow, begin, (double)list[i]->begin_ns - (double)r->a->first_ns);
		if (k->time_ns > 0)
			grid_set(slow, of, ns * k->nr / k->time_ns);
		if (list[i]->units)
			grid_set(slow, units, (double)list[i]->units);
		grid_set(slow, n, sums->samples);
		grid_set_text(slow, top, tops);
	}
	grid_show(slow, p);
}

static void show_marks_view(struct report *r, const struct view_instance *v, struct page *p)
{
	const struct model *m = r->model;
	struct grid *g = grid_create("marks", "Marks (they may overlap, so their sums exceed the total)");
	int nr = grid_column(g, "count", "count", CELL_COUNT, 0, 0);
	int time = grid_column(g, "time_ns", "time", CELL_DURATION, 0, 0);
	int mean = grid_column(g, "mean_ns", "mean", CELL_DURATION, 0, 0);
	int longest = grid_column(g, "longest_ns", "longest", CELL_DURATION, 0, 0);
	int units = grid_column(g, "units", "units", CELL_NUMBER, 0, 0);
	int samples = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES, 0);
	int pid = grid_column(g, "process", "", CELL_COUNT, GRID_HIDDEN, 0);
	int unended = grid_column(g, "unended", "", CELL_COUNT, GRID_HIDDEN, 0);
	int name = grid_column(g, "name", "mark", CELL_TEXT, 0, 40);
	bool has_components = report_find_level(r, r->level) != LEVELS_MAX;
	int top = grid_column(g, "top", "top components", CELL_TEXT, has_components ? 0 : GRID_HIDDEN, 0);
	char text[MARK_SUMS_TEXT], full[128];
	struct mark_sums sums;
	struct mark_kinds kinds;
	bool ok = mark_kinds_make(r, &kinds);
	const struct mark_kind **order = ok ? order_kinds(&kinds) : NULL;

	ok = mark_sums_init(&sums, r, v->group[0]) && order;
	for (uint32_t n = 0; ok && n < kinds.nr; n++) {
		const struct mark_kind *k = order[n];

		mark_sums_begin(&sums);
		for (uint32_t i = k->end - k->nr; i < k->end; i++)
			mark_sums_add(&sums, kinds.list[i]);
		mark_sums_top(&sums, text);
		grid_row(g);
		grid_set(g, nr, k->nr);
		grid_set(g, time, k->time_ns);
		grid_set(g, mean, k->time_ns / k->nr);
		grid_set(g, longest, k->longest_ns);
		if (k->units > 0)
			grid_set(g, units, k->units);
		grid_set(g, samples, sums.samples);
		grid_set(g, pid, m->numbered.at[k->process]->pid);
		grid_set(g, unended, k->unended);
		grid_set_text(g, name, kind_name(r, k, full));
		grid_set_text(g, top, text);
	}
	grid_show(g, p);
	for (uint32_t n = 0; ok && n < kinds.nr && n < SLOWEST_KINDS; n++)
		if (order[n]->nr > 1)
			show_slowest(&sums, order[n], kinds.list + order[n]->end - order[n]->nr, p);
	if (!m->marks.nr)
		page_sentence(p, "No marks: the host set none.");
	free(order);
	mark_sums_fini(&sums);
	mark_kinds_fini(&kinds);
}

const struct view view_marks = { "marks", "the host's marks (queries, runs, tasks): duration, top components, the slowest",
				 prepare_marks_view, show_marks_view };
