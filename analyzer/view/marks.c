/* SPDX-License-Identifier: MIT */
/*
 * marks: the host's marks (queries, runs, compilations, iterations, tasks): count, duration, units, components, and the slowest
 * instances.  Marks may overlap, so shares do not add up over them.
 */
#include "analyzer/view/view.h"

#include <stdlib.h>
#include <string.h>

#define SLOWEST 5
#define TOP_TEXT 256

/* Samples are summed up per bin and (thread, component); which of them lie in a mark is known when all marks' bins are. */
static void prepare(struct report *r, struct view_instance *v)
{
	uint32_t level = report_level(r, r->level);

	if (level == LEVELS_MAX)
		level = 0;
	v->group[0] = report_group(r, 0, TABLE_THREAD, GROUP_BIN, TABLE_LEVEL_0 + (int)level, -1);
}

struct kind {
	const char *name;
	uint32_t process, component, nr, unended;
	double time_ns, units, samples, measure;
	double shortest_ns, longest_ns;
};

static bool same_kind(const struct kind *k, const struct mark *m)
{
	return k->process == m->process && k->component == m->component && strcmp(k->name, m->name ? m->name : "") == 0;
}

static uint64_t end_of(const struct report *r, const struct mark *m)
{
	uint64_t end = m->end_ns == UINT64_MAX ? r->a->last_ns : m->end_ns;

	return end > m->begin_ns ? end : m->begin_ns;
}

static bool wanted(const struct report *r, const struct mark *m)
{
	const struct filter *f = &r->filter;

	if (f->arguments->has_pid && r->model->numbered[m->process]->pid != f->arguments->pid)
		return false;
	if (f->arguments->has_tid && m->tid != f->arguments->tid)
		return false;
	return end_of(r, m) >= f->table.from_ns && (!f->table.to_ns || m->begin_ns < f->table.to_ns);
}

/* By (thread, bin): what lies in each group, in the order of time. */
struct cell {
	uint32_t thread, bin, component;
	double measure, samples;
};

static int by_time(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	return x->bin < y->bin ? -1 : x->bin > y->bin;
}

static struct cell *make_cells(const struct report *r, const struct report_group *g)
{
	struct cell *c = calloc((size_t)g->g.nr + 1, sizeof(*c));

	for (uint32_t i = 0; c && i < g->g.nr; i++)
		c[i] = (struct cell){ report_value(g, i, 0), report_value(g, i, 1), report_value(g, i, 2),
				      report_measure(r, &g->g.sum[i]), g->g.sum[i].samples };
	if (c && g->g.nr)
		qsort(c, g->g.nr, sizeof(*c), by_time);
	return c;
}

/* A stretch of time of one thread or of all. */
struct covered {
	uint64_t from_ns, to_ns;
	uint32_t process, tid;
	bool all_threads;
};

/* Sums of the bins that it covers; a bin that it covers in part counts with that part.  by_component: NULL or sums. */
static void in_stretch(const struct report *r, const struct report_group *g, const struct cell *cells, const struct covered *c,
		       double *samples, double *measure, double *by_component)
{
	double bin_ns = (double)g->g.bin_ns, origin = (double)g->g.origin_ns;
	double first = ((double)c->from_ns - origin) / bin_ns, last = ((double)c->to_ns - origin) / bin_ns;
	uint32_t low = 0, high = g->g.nr;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (cells[middle].bin + 1 <= first)
			low = middle + 1;
		else
			high = middle;
	}
	for (uint32_t i = low; i < g->g.nr && cells[i].bin <= last; i++) {
		const struct thread *t = &r->model->thread[cells[i].thread];
		double from = cells[i].bin > first ? cells[i].bin : first, to = cells[i].bin + 1 < last ? cells[i].bin + 1 : last;

		if (t->process != c->process || (!c->all_threads && t->tid != c->tid) || to <= from)
			continue;
		*samples += cells[i].samples * (to - from);
		*measure += cells[i].measure * (to - from);
		if (by_component)
			by_component[cells[i].component] += cells[i].measure * (to - from);
	}
}

/* A mark covers what its host says; where it does not say, one of a component is of its thread, others are of the process. */
static void in_mark(const struct report *r, const struct report_group *g, const struct cell *cells, const struct mark *m,
		    double *samples, double *measure, double *by_component)
{
	struct covered c = { m->begin_ns, end_of(r, m), m->process, m->tid,
			     m->covers ? m->covers == JITREG_COVERS_PROCESS : !m->component };

	if (m->covers != JITREG_COVERS_TASK) {
		in_stretch(r, g, cells, &c, samples, measure, by_component);
		return;
	}
	for (uint32_t i = m->pieces; i; i = r->model->piece[i - 1].before) {
		const struct mark_piece *x = &r->model->piece[i - 1];

		c = (struct covered){ x->from_ns, x->to_ns == UINT64_MAX ? end_of(r, m) : x->to_ns, m->process, x->tid, false };
		in_stretch(r, g, cells, &c, samples, measure, by_component);
	}
}

static void top_components(const struct report *r, const double *by_component, uint32_t nr, char text[TOP_TEXT])
{
	double total = 0, before = 0;
	uint32_t shown = COMPONENT_NONE;
	size_t at = 0;
	char spare[32];

	text[0] = 0;
	for (uint32_t i = 0; i < nr; i++)
		total += by_component[i];
	for (int n = 0; n < 3 && total > 0; n++) {
		uint32_t best = COMPONENT_NONE;

		for (uint32_t i = 1; i < nr; i++)
			if (by_component[i] > 0 && (!best || by_component[i] > by_component[best]) &&
			    (n == 0 || by_component[i] < before || (by_component[i] <= before && i > shown)))
				best = i;
		if (!best || by_component[best] < 0.01 * total || at > TOP_TEXT - 48)
			break;
		at += (size_t)snprintf(text + at, TOP_TEXT - at, "%s%.20s %.0f %%", n ? ", " : "",
				       report_component_name(r, best, spare), 100 * by_component[best] / total);
		before = by_component[best];
		shown = best;
	}
}

static int by_duration(const void *a, const void *b)
{
	const struct mark *const *x = a, *const *y = b;
	uint64_t p = (*x)->end_ns - (*x)->begin_ns, q = (*y)->end_ns - (*y)->begin_ns;

	if (p != q)
		return p > q ? -1 : 1;
	return (*x)->begin_ns < (*y)->begin_ns ? -1 : (*x)->begin_ns > (*y)->begin_ns;
}

static const char *kind_name(const struct report *r, const struct kind *k, char text[128])
{
	char spare[32];

	if (!k->component)
		return k->name;
	snprintf(text, 128, "%s %s", k->name, report_component_name(r, k->component, spare));
	return text;
}

static void show_slowest(const struct report *r, const struct report_group *g, const struct cell *cells, const struct kind *k,
			 double *by_component, struct page *p)
{
	char text[128], tops[TOP_TEXT];
	struct grid *slow = grid_create("slowest", "Slowest of %u: %s", k->nr, kind_name(r, k, text));
	int name = grid_column(slow, "name", "", CELL_TEXT, GRID_HIDDEN, 0);
	int instance = grid_column(slow, "instance", "#", CELL_COUNT, 0, 0);
	int time = grid_column(slow, "time_ns", "time", CELL_DURATION, 0, 0);
	int begin = grid_column(slow, "begin_ns", "begin", CELL_DURATION, 0, 0);
	int of = grid_column(slow, "times_mean", "vs. mean", CELL_TIMES, 0, 0);
	int units = grid_column(slow, "units", "units", CELL_NUMBER, 0, 0);
	int n = grid_column(slow, "samples", "samples", CELL_COUNT, 0, 0);
	int top = grid_column(slow, "top", "top components", CELL_TEXT, 0, 0);
	const struct mark **list = calloc((size_t)k->nr + 1, sizeof(*list));
	uint32_t nr = 0, nr_components = r->model->dictionary.nr_components;

	for (uint32_t i = 0; list && i < r->model->nr_marks && nr < k->nr; i++)
		if (same_kind(k, &r->model->mark[i]) && wanted(r, &r->model->mark[i]) && r->model->mark[i].end_ns != UINT64_MAX)
			list[nr++] = &r->model->mark[i];
	if (nr)
		qsort(list, nr, sizeof(*list), by_duration);
	for (uint32_t i = 0; i < nr && i < SLOWEST; i++) {
		double samples = 0, measure = 0, ns = (double)(list[i]->end_ns - list[i]->begin_ns);

		memset(by_component, 0, nr_components * sizeof(*by_component));
		in_mark(r, g, cells, list[i], &samples, &measure, by_component);
		top_components(r, by_component, nr_components, tops);
		grid_row(slow);
		grid_set_text(slow, name, k->name);
		grid_set(slow, instance, (double)list[i]->instance);
		grid_set(slow, time, ns);
		grid_set(slow, begin, (double)list[i]->begin_ns - (double)r->a->first_ns);
		if (k->time_ns > 0)
			grid_set(slow, of, ns * k->nr / k->time_ns);
		if (list[i]->units)
			grid_set(slow, units, (double)list[i]->units);
		grid_set(slow, n, samples);
		grid_set_text(slow, top, tops);
	}
	free(list);
	grid_show(slow, p);
}

static void show(struct report *r, const struct view_instance *v, struct page *p)
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
	int name = grid_column(g, "name", "mark", CELL_TEXT, 0, 16);
	int top = grid_column(g, "top", "top components", CELL_TEXT, 0, 0);
	struct kind *kind = calloc((size_t)m->nr_marks + 1, sizeof(*kind));
	uint32_t nr_kinds = 0, nr_components = m->dictionary.nr_components;
	double *by_component = calloc((size_t)nr_components + 1, sizeof(*by_component));
	struct cell *cells = make_cells(r, v->group[0]);
	char text[TOP_TEXT], full[128];

	for (uint32_t i = 0; kind && i < m->nr_marks; i++) {
		const struct mark *k = &m->mark[i];
		double ns = (double)(end_of(r, k) - k->begin_ns);
		uint32_t n = 0;

		if (!wanted(r, k))
			continue;
		while (n < nr_kinds && !same_kind(&kind[n], k))
			n++;
		if (n == nr_kinds)
			kind[nr_kinds++] = (struct kind){ .name = k->name ? k->name : "", .process = k->process, .component = k->component,
							  .shortest_ns = ns };
		kind[n].nr++;
		kind[n].unended += k->end_ns == UINT64_MAX;
		kind[n].time_ns += ns;
		kind[n].units += (double)k->units;
		kind[n].longest_ns = ns > kind[n].longest_ns ? ns : kind[n].longest_ns;
	}
	for (uint32_t n = 0; cells && by_component && n < nr_kinds; n++) {
		memset(by_component, 0, nr_components * sizeof(*by_component));
		for (uint32_t i = 0; i < m->nr_marks; i++)
			if (same_kind(&kind[n], &m->mark[i]) && wanted(r, &m->mark[i]))
				in_mark(r, v->group[0], cells, &m->mark[i], &kind[n].samples, &kind[n].measure, by_component);
		top_components(r, by_component, nr_components, text);
		grid_row(g);
		grid_set(g, nr, kind[n].nr);
		grid_set(g, time, kind[n].time_ns);
		grid_set(g, mean, kind[n].time_ns / kind[n].nr);
		grid_set(g, longest, kind[n].longest_ns);
		if (kind[n].units > 0)
			grid_set(g, units, kind[n].units);
		grid_set(g, samples, kind[n].samples);
		grid_set(g, pid, m->numbered[kind[n].process]->pid);
		grid_set(g, unended, kind[n].unended);
		grid_set_text(g, name, kind_name(r, &kind[n], full));
		grid_set_text(g, top, text);
	}
	grid_show(g, p);
	for (uint32_t n = 0; cells && by_component && n < nr_kinds; n++)
		if (kind[n].nr > 1)
			show_slowest(r, v->group[0], cells, &kind[n], by_component, p);
	if (!m->nr_marks)
		page_sentence(p, "No marks: the host set none.");
	free(cells);
	free(by_component);
	free(kind);
}

const struct view view_marks = { "marks", "the host's marks (queries, runs, tasks): duration, top components, the slowest", prepare,
				 show };
