/* SPDX-License-Identifier: MIT */
#include "analyzer/query/plan_queries.h"

#include <stdlib.h>
#include <string.h>

/* Checks whether the group is also by query.  Without a level of queries, plan_queries_ask() uses the level of nodes for both keys. */
static bool has_queries(const struct report_group *by)
{
	return by->g.key[0] != by->g.key[1];
}

static uint32_t query_of_group(const struct report_group *by, uint32_t i)
{
	return has_queries(by) ? report_value(by, i, 0) : COMPONENT_NONE;
}

uint32_t plan_queries_level(const struct report *r)
{
	return plan_query_level(&r->model->dictionary, report_find_level(r, NULL));
}

struct report_group *plan_queries_ask(struct report *r, uint32_t level, unsigned flags)
{
	const struct dictionary *d = &r->model->dictionary;
	uint32_t query = plan_query_level(d, level);
	bool any = false;

	for (uint32_t i = 1; d->nr_common && i < d->components.nr && !any; i++)
		any = d->components.at[i].common && d->components.at[i].level == level;
	if (!any || level >= LEVELS_MAX)
		return NULL;
	return report_add_group(r, flags, TABLE_LEVEL_0 + (int)(query < LEVELS_MAX ? query : level), TABLE_LEVEL_0 + (int)level,
				TABLE_CALLER, -1);
}

struct by_query {
	const struct report *r;
	const struct report_group *by;
};

static int compare_groups(const void *a, const void *b, void *context)
{
	const struct by_query *c = context;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b, x = query_of_group(c->by, i), y = query_of_group(c->by, j);
	double of_x = report_measure(c->r, &c->by->g.sum[i]), of_y = report_measure(c->r, &c->by->g.sum[j]);

	if (x != y)
		return x < y ? -1 : 1;
	if (of_x < of_y || of_x > of_y)
		return of_x > of_y ? -1 : 1;
	return report_value(c->by, i, 1) < report_value(c->by, j, 1) ? -1 : 1;
}

static int compare_roots(const void *a, const void *b)
{
	const struct plan_root *x = a, *y = b;

	if (x->query != y->query)
		return x->query < y->query ? -1 : 1;
	return x->line < y->line ? -1 : 1;
}

double plan_query_measure(const struct report *r, const struct plan_query *q)
{
	return report_measure(r, &q->sum) + report_measure(r, &q->called);
}

static int compare_queries(const void *a, const void *b, void *context)
{
	const struct plan_query *x = a, *y = b;
	double of_x = plan_query_measure(context, x), of_y = plan_query_measure(context, y);

	if (!x->query != !y->query) /* samples of no query come last */
		return x->query ? -1 : 1;
	if (of_x < of_y || of_x > of_y)
		return of_x > of_y ? -1 : 1;
	return x->query < y->query ? -1 : x->query > y->query;
}

static struct plan_query *get_query(struct plan_queries *q, uint32_t query, uint32_t *with_query)
{
	if (!with_query[query]) {
		q->query[q->nr] = (struct plan_query){ .query = query };
		with_query[query] = ++q->nr;
	}
	return &q->query[with_query[query] - 1];
}

/* Lists each query once. Samples without a query come first, then queries with plans, then those that only have samples.
 * with_query[component] becomes 1 + the query's index. */
static void list_queries(struct plan_queries *q, const uint32_t *order, uint32_t nr_roots, uint32_t *with_query)
{
	q->query[q->nr++] = (struct plan_query){ .query = COMPONENT_NONE };
	with_query[COMPONENT_NONE] = 1;
	for (uint32_t i = 0; i < nr_roots; i++) {
		uint32_t query = q->roots[i].query;

		if (!get_query(q, query, with_query)->nr_roots++)
			q->query[with_query[query] - 1].root = i;
	}
	for (uint32_t i = 0; i < q->by->g.nr; i++) {
		uint32_t query = query_of_group(q->by, order[i]);
		struct plan_query *of;

		of = get_query(q, query, with_query);
		if (!of->nr++)
			of->first = i;
		group_sum_add(&of->sum, &q->by->g.sum[order[i]]);
		group_sum_add(&q->total, &q->by->g.sum[order[i]]);
	}
}

/* Is a caller further out in the same query? */
static bool is_called_by_same_query(const struct callers *callers, uint32_t caller)
{
	const uint32_t query = callers->at[caller].query;

	for (caller = callers->at[caller].outer; caller; caller = callers->at[caller].outer)
		if (callers->at[caller].query == query)
			return true;
	return false;
}

/* Returns the caller of a group of samples, or the next one further out, that is in a query other than the samples' own.  A query counts at
 * its outermost caller. callee: the query that it calls. */
static uint32_t next_caller(const struct callers *callers, uint32_t caller, uint32_t own, uint32_t *callee)
{
	for (; caller; caller = callers->at[caller].outer) {
		const struct caller *c = &callers->at[caller];

		if (c->query && c->query != own && !is_called_by_same_query(callers, caller))
			return caller;
		*callee = c->query ? c->query : *callee;
	}
	return CALLER_NONE;
}

void plan_queries_add_called(const struct report *r, const struct report_group *by, struct group_sum *called)
{
	const struct callers *callers = &r->model->callers;

	for (uint32_t i = 0; i < by->g.nr; i++) {
		uint32_t own = report_value(by, i, 0), callee, c = next_caller(callers, report_value(by, i, 1), own, &callee);

		for (; c; c = next_caller(callers, callers->at[c].outer, own, &callee))
			group_sum_add(&called[callers->at[c].query], &by->g.sum[i]);
	}
}

static void add_called(struct plan_queries *q, uint32_t *with_query)
{
	for (uint32_t i = 0; i < q->by->g.nr; i++) {
		uint32_t own = query_of_group(q->by, i), callee = own, c = next_caller(q->callers, report_value(q->by, i, 2), own, &callee);

		if (c)
			q->with_caller[q->nr_with_caller++] = i;
		for (; c; c = next_caller(q->callers, q->callers->at[c].outer, own, &callee))
			group_sum_add(&get_query(q, q->callers->at[c].query, with_query)->called, &q->by->g.sum[i]);
	}
}

bool mark_is_seen(const struct model *m, const struct mark *k)
{
	return !m->numbered.at[k->process]->has_guest;
}

static void count_executions(const struct report *r, struct plan_queries *q, const uint32_t *with_query)
{
	const struct filter *f = &r->filter;

	for (uint32_t i = 0; i < r->model->marks.nr; i++) {
		const struct mark *k = &r->model->marks.at[i];
		uint32_t at = k->component < r->model->dictionary.components.nr ? with_query[k->component] : 0;

		if (!at || !k->component || !k->name || strcmp(k->name, filter_phase(f)) != 0 ||
		    k->end_ns == UINT64_MAX)
			continue;
		q->query[at - 1].executions++;
		q->query[at - 1].is_seen |= mark_is_seen(r->model, k);
		q->query[at - 1].executed_ns += (double)(k->end_ns - k->begin_ns);
	}
}

bool plan_queries_make(const struct report *r, const struct report_group *by, uint32_t level, bool utf8, struct plan_queries *q)
{
	const struct dictionary *d = &r->model->dictionary;
	const uint32_t query_level = plan_query_level(d, level);
	uint32_t *with_query = calloc((size_t)d->components.nr + 1, sizeof(*with_query)), nr_roots = 0;
	bool ok;

	*q = (struct plan_queries){ .by = by, .callers = &r->model->callers, .utf8 = utf8 };
	ok = with_query && plan_tree_make(d, level, PLAN_COMMON, utf8, &q->all);
	q->order = malloc(((size_t)by->g.nr + 1) * sizeof(*q->order));
	q->roots = malloc(((size_t)q->all.nr + 1) * sizeof(*q->roots));
	q->query = malloc(((size_t)q->all.nr + by->g.nr + q->callers->nr + 1) * sizeof(*q->query));
	q->scratch = calloc((size_t)d->components.nr + 1, sizeof(*q->scratch));
	q->with_caller = malloc(((size_t)by->g.nr + 1) * sizeof(*q->with_caller));
	ok = ok && q->order && q->roots && q->query && q->scratch && q->with_caller;
	for (uint32_t i = 0; ok && i < q->all.nr; i++)
		if (!q->all.line[i].parent) {
			uint32_t component = q->all.line[i].component, query = plan_query_of(d, component, query_level);

			if (!query && !d->components.at[component].of_objects)
				continue; /* the component is of no query and no object, so it never has samples */
			q->roots[nr_roots++] = (struct plan_root){ query, i, 1 };
		} else if (nr_roots && i == q->roots[nr_roots - 1].line + q->roots[nr_roots - 1].nr_lines) {
			q->roots[nr_roots - 1].nr_lines++;
		}
	for (uint32_t i = 0; ok && i < by->g.nr; i++)
		q->order[i] = i;
	if (ok) {
		qsort(q->roots, nr_roots, sizeof(*q->roots), compare_roots);
		qsort_r(q->order, by->g.nr, sizeof(*q->order), compare_groups, &(struct by_query){ r, by });
		list_queries(q, q->order, nr_roots, with_query);
		add_called(q, with_query);
		count_executions(r, q, with_query);
		qsort_r(q->query, q->nr, sizeof(*q->query), compare_queries, (void *)(uintptr_t)r);
	}
	while (ok && q->nr_sampled < q->nr && q->query[q->nr_sampled].query &&
	       q->query[q->nr_sampled].sum.samples + q->query[q->nr_sampled].called.samples > 0)
		q->nr_sampled++;
	free(with_query);
	return ok;
}

void plan_queries_fini(struct plan_queries *q)
{
	plan_tree_fini(&q->all);
	free(q->query);
	free(q->order);
	free(q->roots);
	free(q->scratch);
	free(q->with_caller);
	memset(q, 0, sizeof(*q));
}

/* Copies the lines of a query's plans to t, with their sums, which are taken out of q->scratch. */
static void copy_trees(const struct plan_queries *q, const struct plan_query *of, struct plan_tree *t, struct group_sum *sum)
{
	for (uint32_t i = of->root; i < of->root + of->nr_roots; i++)
		for (uint32_t n = 0; n < q->roots[i].nr_lines; n++) {
			struct plan_line *line = &t->line[t->nr];

			/* Without a query, a tree of one line is most often work of a class (jitreg_object()), which is shown only if it
			 * has samples. */
			if (q->roots[i].nr_lines == 1 && !of->query && q->scratch[q->all.line[q->roots[i].line].component].samples <= 0)
				continue;
			*line = q->all.line[q->roots[i].line + n];
			if (line->parent)
				line->parent += t->nr - n - q->roots[i].line;
			sum[t->nr++] = q->scratch[line->component];
			q->scratch[line->component] = (struct group_sum){ 0 };
		}
}

#define DEPTH_NARROW 5 /* deeper trees have branches of one column a level, so that names have room */

/* Shortens branches to a column a level. "|  |- " becomes "||". In UTF-8 a line character has three bytes. */
static void narrow_branches(char *prefix)
{
	char *to = prefix;

	for (const char *from = prefix; *from;) {
		const size_t line = *from == ' ' || *from == '|' || *from == '`' ? 1 : 3;

		memmove(to, from, line);
		to += line;
		from += line;
		from += strlen(from) >= 3 && (from[0] & 0x80) ? 4 : strlen(from) >= 2 ? 2 : strlen(from);
	}
	*to = 0;
}

static bool tree_is_deep(const struct plan_tree *t)
{
	for (uint32_t i = 0; i < t->nr; i++)
		if (t->line[i].depth > DEPTH_NARROW)
			return true;
	return false;
}

/* Returns the index of the line of a query that the component calls, and adds the line if it is new. */
static uint32_t get_called_line(const struct plan_queries *q, struct plan_tree *t, struct group_sum *sum, uint32_t component,
				uint32_t query)
{
	uint32_t at = 0;

	for (; at < t->nr; at++) {
		const uint32_t parent = t->line[at].parent;

		if (t->line[at].is_query && t->line[at].component == query &&
		    (parent ? t->line[parent - 1].component == component : !component))
			return at;
	}
	at = plan_tree_add_query(t, component, query, q->utf8);
	memmove(sum + at + 1, sum + at, (t->nr - 1 - at) * sizeof(*sum));
	sum[at] = (struct group_sum){ 0 };
	return at;
}

/* Adds a line for a component that calls queries and has no samples of its own, as work of a class has none in most queries. */
static void add_caller_line(struct plan_tree *t, struct group_sum *sum, uint32_t component)
{
	for (uint32_t i = 0; i < t->nr; i++)
		if (t->line[i].component == component && !t->line[i].is_query)
			return;
	t->line[t->nr].component = component;
	sum[t->nr++] = (struct group_sum){ 0 };
}

static void add_called_lines(const struct plan_queries *q, const struct plan_query *of, struct plan_tree *t, struct group_sum *sum)
{
	for (uint32_t n = 0; n < q->nr_with_caller && of->query; n++) {
		uint32_t i = q->with_caller[n];
		uint32_t own = query_of_group(q->by, i), callee = own, c = next_caller(q->callers, report_value(q->by, i, 2), own, &callee);

		for (; c; callee = q->callers->at[c].query, c = next_caller(q->callers, q->callers->at[c].outer, own, &callee)) {
			const struct caller *caller = &q->callers->at[c];

			if (caller->query != of->query)
				continue;
			if (caller->component)
				add_caller_line(t, sum, caller->component);
			group_sum_add(&sum[get_called_line(q, t, sum, caller->component, callee)], &q->by->g.sum[i]);
		}
	}
}

bool plan_queries_tree(const struct plan_queries *q, uint32_t i, struct plan_tree *t, struct group_sum **sum)
{
	const struct plan_query *of = &q->query[i];
	size_t most = of->nr + 2 * (size_t)q->nr_with_caller;

	for (uint32_t n = of->root; n < of->root + of->nr_roots; n++)
		most += q->roots[n].nr_lines;
	*t = (struct plan_tree){ .line = calloc(most + 1, sizeof(*t->line)) };
	*sum = calloc(most + 1, sizeof(**sum));
	if (!t->line || !*sum)
		return false;
	for (uint32_t n = of->first; n < of->first + of->nr; n++)
		group_sum_add(&q->scratch[report_value(q->by, q->order[n], 1)], &q->by->g.sum[q->order[n]]);
	copy_trees(q, of, t, *sum);
	for (uint32_t n = of->first; n < of->first + of->nr; n++) {
		uint32_t component = report_value(q->by, q->order[n], 1);

		if (component && q->scratch[component].samples > 0) {
			t->line[t->nr].component = component;
			(*sum)[t->nr++] = q->scratch[component];
		}
		q->scratch[component] = (struct group_sum){ 0 };
	}
	add_called_lines(q, of, t, *sum);
	for (uint32_t n = 0, nr = tree_is_deep(t) ? t->nr : 0; n < nr; n++)
		narrow_branches(t->line[n].prefix);
	return true;
}
