/* SPDX-License-Identifier: MIT */
#include "analyzer/query/executions.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TEXTS_MAX 256 /* maximum number of different texts of marks; further ones are counted with the last */

/* A plan is identified by its root. Roots are numbered from 1 on, and 0 is no root. */
struct counting {
	const struct report *r;
	uint32_t process, nr_roots;
	uint32_t *root_of; /* root of each component */
	uint32_t *root_at; /* root of each mark */
	double *most;	   /* for each mark: the samples of the component by which root_at was chosen, which has most */
	double *runs;	   /* executions of each root */
};

static bool mark_is_wanted(const struct counting *c, uint32_t i)
{
	const struct report *r = c->r;
	const struct filter *f = &r->filter;
	const struct mark *k = &r->model->marks.at[i];

	return k->process == c->process && k->name && strcmp(k->name, filter_phase(f)) == 0 &&
	       (!f->has_instance || k->instance == f->instance) && k->end_ns > f->table.from_ns &&
	       (!f->table.to_ns || k->begin_ns < f->table.to_ns) && k->end_ns > r->first_ns && k->begin_ns <= r->last_ns;
}

static uint32_t number_roots(const struct plan_tree *t, uint32_t *root_of)
{
	uint32_t nr = 0;

	for (uint32_t i = 0; i < t->nr; i++) /* parents come before their children */
		root_of[t->line[i].component] = t->line[i].parent ? root_of[t->line[t->line[i].parent - 1].component] : ++nr;
	return nr;
}

bool executions_need_sums(const struct report *r, uint32_t level)
{
	uint32_t *owner, nr = plan_tree_owners(&r->model->dictionary, level, r->model->processes.nr, &owner), roots = 0;

	for (uint32_t n = 0; roots < 2 && n < nr && owner[n] != PLAN_COMMON; n++) {
		struct plan_tree t;

		roots = 0;
		if (plan_tree_make(&r->model->dictionary, level, owner[n], false, &t))
			for (uint32_t i = 0; i < t.nr; i++)
				roots += !t.line[i].parent;
		plan_tree_fini(&t);
	}
	free(owner);
	return roots > 1;
}

/* Assigns each mark to the plan of the component that has most samples in it.  g: sums by TABLE_PHASE and a level. */
static void assign_marks_by_samples(struct counting *c, const struct report_group *g)
{
	for (uint32_t i = 0; i < g->g.nr; i++) {
		uint32_t mark = report_value(g, i, 0), component = report_value(g, i, 1);

		if (!mark || mark > c->r->model->marks.nr || component >= c->r->model->dictionary.components.nr || !c->root_of[component] ||
		    g->g.sum[i].samples <= c->most[mark - 1])
			continue;
		c->most[mark - 1] = g->g.sum[i].samples;
		c->root_at[mark - 1] = c->root_of[component];
	}
}

struct same_text {
	const char *text;
	uint32_t unknown; /* number of marks without a plan */
	double *of;	  /* number of marks with a plan, by root */
};

/* Counts executions. Marks without a plan are counted for the plans of marks with the same text, in proportion to these. Returns false if
 * memory ran out. */
static bool assign_marks_by_text(struct counting *c)
{
	struct same_text *list = calloc(TEXTS_MAX, sizeof(*list));
	uint32_t nr = 0;
	bool ok = list != NULL;

	for (uint32_t i = 0; ok && i < c->r->model->marks.nr; i++) {
		const char *text = c->r->model->marks.at[i].text ? c->r->model->marks.at[i].text : "";
		uint32_t n = 0;

		if (!mark_is_wanted(c, i))
			continue;
		while (n < nr && strcmp(list[n].text, text) != 0)
			n++;
		n = n < TEXTS_MAX ? n : TEXTS_MAX - 1;
		if (n == nr) {
			list[n] = (struct same_text){ .text = text, .of = calloc((size_t)c->nr_roots + 1, sizeof(*list[n].of)) };
			ok = list[n].of != NULL;
			nr++;
		}
		if (c->root_at[i] && ok)
			list[n].of[c->root_at[i]]++;
		else
			list[n].unknown++;
	}
	for (uint32_t n = 0; n < nr; n++) {
		double known = 0;

		for (uint32_t k = 1; ok && k <= c->nr_roots; k++)
			known += list[n].of[k];
		for (uint32_t k = 1; ok && known > 0 && k <= c->nr_roots; k++)
			c->runs[k] += list[n].of[k] * (1 + list[n].unknown / known);
		free(list[n].of);
	}
	free(list);
	return ok;
}

bool executions_count(const struct report *r, const struct plan_tree *t, uint32_t process, const struct report_group *by_phase,
		      uint32_t *runs)
{
	uint32_t nr_components = r->model->dictionary.components.nr, nr_marks = r->model->marks.nr;
	struct counting c = { .r = r, .process = process, .root_of = calloc((size_t)nr_components + 1, 4),
			      .root_at = calloc((size_t)nr_marks + 1, 4), .most = calloc((size_t)nr_marks + 1, sizeof(double)),
			      .runs = calloc((size_t)t->nr + 1, sizeof(double)) };
	bool ok = c.root_of && c.root_at && c.most && c.runs;

	if (ok)
		c.nr_roots = number_roots(t, c.root_of);
	if (ok && c.nr_roots > 1 && by_phase)
		assign_marks_by_samples(&c, by_phase);
	for (uint32_t i = 0; ok && i < nr_marks; i++)
		if (c.nr_roots == 1)
			c.root_at[i] = 1;
		else if (r->model->marks.at[i].component < nr_components && c.root_of[r->model->marks.at[i].component])
			c.root_at[i] = c.root_of[r->model->marks.at[i].component];
	ok = ok && assign_marks_by_text(&c);
	for (uint32_t i = 0; i < t->nr; i++)
		runs[i] = ok ? (uint32_t)fmax(1, floor(c.runs[c.root_of[t->line[i].component]] + 0.5)) : 1;
	free(c.root_of);
	free(c.root_at);
	free(c.most);
	free(c.runs);
	return ok;
}
