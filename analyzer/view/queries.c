/* SPDX-License-Identifier: MIT */
/*
 * The view queries shows the queries of a server, the most expensive first. It has their share of the time, how often they ran and how long
 * that took (by the host's marks of their executions), and the part of the time in which they waited. The total of a query has the shares
 * of the queries that its functions and triggers ran.
 */
#include "analyzer/query/plan_queries.h"
#include "analyzer/view/view.h"

#include <stdlib.h>
#include <string.h>

static void prepare_queries_view(struct report *r, struct view_instance *v)
{
	uint32_t level = r->level ? report_find_level(r, r->level) : plan_queries_level(r);

	if (level == LEVELS_MAX)
		return;
	v->group[0] = report_add_group(r, 0, TABLE_LEVEL_0 + (int)level, TABLE_EVENT, -1);
	v->group[1] = report_add_group(r, 0, TABLE_LEVEL_0 + (int)level, TABLE_CALLER, -1);
}

/* This struct has the executions of one query, each of which is a mark. Their durations are durations[first] to durations[first + nr -
 * 1]. */
struct runs {
	uint32_t nr, first;
	double sum_ns;
};

static bool mark_is_query_run(const struct report *r, const struct mark *k)
{
	const struct filter *f = &r->filter;

	return k->component && k->name && strcmp(k->name, filter_phase(f)) == 0 && k->end_ns != UINT64_MAX &&
	       k->end_ns >= k->begin_ns && (!f->arguments->has_pid || r->model->numbered.at[k->process]->pid == f->arguments->pid) &&
	       k->end_ns >= f->table.from_ns && (!f->table.to_ns || k->begin_ns < f->table.to_ns);
}

static bool runs_are_seen(const struct report *r)
{
	for (uint32_t i = 0; i < r->model->marks.nr; i++)
		if (mark_is_query_run(r, &r->model->marks.at[i]) && mark_is_seen(r->model, &r->model->marks.at[i]))
			return true;
	return false;
}

static int compare_durations(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/*
 * Returns the executions of each component, and sets *durations to their durations, which are sorted within each component. The caller
 * frees both. Returns NULL if memory runs out, and also then the caller frees *durations.
 */
static struct runs *count_runs(const struct report *r, double **durations)
{
	const struct model *m = r->model;
	struct runs *runs = calloc((size_t)m->dictionary.components.nr + 1, sizeof(*runs));
	uint32_t at = 0;

	*durations = malloc(((size_t)m->marks.nr + 1) * sizeof(**durations));
	if (!runs || !*durations) {
		free(runs);
		return NULL;
	}
	for (uint32_t i = 0; i < m->marks.nr; i++)
		if (mark_is_query_run(r, &m->marks.at[i]))
			runs[m->marks.at[i].component].nr++;
	for (uint32_t i = 0; i < m->dictionary.components.nr; i++) {
		runs[i].first = at;
		at += runs[i].nr;
		runs[i].nr = 0;
	}
	for (uint32_t i = 0; i < m->marks.nr; i++)
		if (mark_is_query_run(r, &m->marks.at[i])) {
			struct runs *of = &runs[m->marks.at[i].component];

			(*durations)[of->first + of->nr++] = (double)(m->marks.at[i].end_ns - m->marks.at[i].begin_ns);
			of->sum_ns += (double)(m->marks.at[i].end_ns - m->marks.at[i].begin_ns);
		}
	for (uint32_t i = 0; i < m->dictionary.components.nr; i++)
		if (runs[i].nr)
			qsort(*durations + runs[i].first, runs[i].nr, sizeof(**durations), compare_durations);
	return runs;
}

/* Returns the least duration that 95 % of the executions do not exceed. of->nr must not be 0. */
static double p95_of(const struct runs *of, const double *durations)
{
	return durations[of->first + (uint64_t)of->nr * 95 / 100 - (of->nr * 95ull % 100 == 0)];
}

struct query_columns {
	int share, total, samples, weight, calls, mean, p95, waiting, waiting_ns, id, name, text;
};

/* Returns the measure of a query, with the queries that it calls.  called: the sums of these, by query. */
static double measure_total(const struct report *r, const struct split *s, const struct group_sum *called, uint32_t query)
{
	return report_measure(r, &s->sum[r->event][query]) + (query ? report_measure(r, &called[query]) : 0);
}

struct by_total {
	const struct report *r;
	const struct split *s;
	const struct group_sum *called;
};

static int compare_totals(const void *a, const void *b, void *context)
{
	const struct by_total *by = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
	double x = measure_total(by->r, by->s, by->called, i), y = measure_total(by->r, by->s, by->called, j);

	return x > y ? -1 : x < y ? 1 : i < j ? -1 : i > j;
}

/* Lists the queries with samples, and those that only call such queries.  The largest total comes first.  Returns how many there are. */
static uint32_t order_by_total(const struct report *r, const struct split *s, const struct group_sum *called, uint32_t *order)
{
	uint32_t nr = s->nr_order;

	memcpy(order, s->order, nr * sizeof(*order));
	for (uint32_t i = 1; r->model->callers.nr && i < s->nr; i++)
		if (called[i].samples > 0 && s->sum[r->event][i].samples <= 0)
			order[nr++] = i;
	if (r->model->callers.nr)
		qsort_r(order, nr, sizeof(*order), compare_totals, &(struct by_total){ r, s, called });
	return nr;
}

static void add_query_row(struct report *r, struct grid *g, const struct query_columns *c, const struct split *s, uint32_t query,
			  const struct group_sum *called, const struct runs *runs, const double *durations)
{
	const double all = report_measure(r, &s->total[r->event]);
	const struct component *of = &r->model->dictionary.components.at[query];
	const struct group_sum *sum = &s->sum[r->event][query];
	char spare[32];

	grid_row(g);
	grid_set(g, c->share, report_measure(r, sum));
	grid_set_evidence(g, c->share, view_effective_samples(sum, &s->total[r->event]));
	if (all > 0)
		grid_set(g, c->total, measure_total(r, s, called, query) / all);
	grid_set(g, c->samples, sum->samples);
	grid_set(g, c->weight, sum->weight);
	if (query && runs[query].nr) {
		grid_set(g, c->calls, runs[query].nr);
		grid_set(g, c->mean, runs[query].sum_ns / runs[query].nr);
		grid_set(g, c->p95, p95_of(&runs[query], durations));
	}
	if (r->model->leaving < VIEW_EVENTS_MAX) {
		double waited = s->sum[r->model->leaving][query].weight, ran = report_weighs(r) == WEIGHT_NS ? sum->weight : 0;

		if (ran > 0)
			grid_set(g, c->waiting, waited / (waited + ran));
		grid_set(g, c->waiting_ns, waited);
	}
	if (query)
		grid_set_address(g, c->id, of->id);
	grid_set_text(g, c->name, query ? report_component_name(r, query, spare) : "(no query)");
	if (query && of->detail && *of->detail)
		grid_set_text(g, c->text, of->detail);
}

static void show_queries_view(struct report *r, const struct view_instance *v, struct page *p)
{
	struct grid *g;
	struct query_columns c;
	bool is_seen;
	double *durations = NULL;
	struct runs *runs;
	struct group_sum *called;
	uint32_t *order, nr;
	struct split s;

	if (!v->group[0]) {
		page_sentence(p, "No queries: the host declared none above plans that are common to its processes (--level NAME takes "
			      "components of another level).");
		return;
	}
	is_seen = runs_are_seen(r);
	g = grid_create("queries", "Queries by time%s", r->has_run ? ", all samples" : "");
	c.share = grid_column(g, "share", "share", CELL_SHARE, 0, 0);
	c.total = grid_column(g, "total", "total", CELL_PERCENT, r->model->callers.nr ? 0 : GRID_HIDDEN, 0);
	c.samples = grid_column(g, "samples", "samples", CELL_COUNT, GRID_SAMPLES, 0);
	c.weight = grid_column(g, "weight", "", CELL_NUMBER, GRID_HIDDEN, 0);
	c.calls = grid_column(g, "calls", is_seen ? "seen" : "calls", CELL_COUNT, 0, 0);
	c.mean = grid_column(g, "mean_ns", "mean", CELL_DURATION, 0, 0);
	c.p95 = grid_column(g, "p95_ns", "p95", CELL_DURATION, 0, 0);
	c.waiting = grid_column(g, "waiting", "waiting", CELL_PERCENT, 0, 0);
	c.waiting_ns = grid_column(g, "waiting_ns", "", CELL_DURATION, GRID_HIDDEN, 0);
	c.id = grid_column(g, "id", "", CELL_HEX, GRID_HIDDEN, 0);
	c.name = grid_column(g, "query", "query", CELL_TEXT, 0, 0);
	c.text = grid_column(g, "text", "", CELL_TEXT, GRID_HIDDEN, 0);
	runs = count_runs(r, &durations);
	called = calloc((size_t)r->model->dictionary.components.nr + 1, sizeof(*called));
	order = malloc(((size_t)r->model->dictionary.components.nr + 1) * sizeof(*order));
	if (split_make(r, v->group[0], &s) && runs && called && order) {
		plan_queries_add_called(r, v->group[1], called);
		grid_set_total(g, c.share, report_measure(r, &s.total[r->event]));
		grid_set_total(g, c.samples, s.total[r->event].samples);
		nr = order_by_total(r, &s, called, order);
		for (uint32_t i = 0; i < nr; i++)
			add_query_row(r, g, &c, &s, order[i], called, runs, durations);
	}
	split_fini(&s);
	grid_show(g, p);
	if (is_seen)
		page_sentence(p, "(seen: from outside; equal statements in a row may be one, and short ones are missed)");
	if (r->model->leaving >= VIEW_EVENTS_MAX)
		page_sentence(p, "(waiting: record with `-e auto,context-switches`)");
	if (r->model->callers.nr)
		page_sentence(p, "(total: with the queries that functions and triggers of the query ran)");
	free(called);
	free(order);
	free(runs);
	free(durations);
}

const struct view view_queries = { "queries", "a server's queries by time: calls, mean and 95th percentile, share waiting",
				   prepare_queries_view, show_queries_view };
