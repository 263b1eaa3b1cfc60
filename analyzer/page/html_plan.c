/* SPDX-License-Identifier: MIT */
/*
 * Writes plans with a place for each operator. Consumers are above their producers, and each leaf has a column of its own. The layout takes
 * linear time. A plan that is a graph is laid out as the tree that plan_tree_make() finds in it, and the page draws its other edges between
 * those places.
 */
#include "analyzer/output/escape.h"
#include "analyzer/page/html_page.h"
#include "analyzer/query/plan_tree.h"

#include <stdlib.h>

struct spot {
	double x; /* place from the left, in columns */
	double first, last; /* x of its first and of its last child */
	uint32_t nr; /* number of children */
};

/* Set the x of each operator, and return how many columns there are. Leaves take the columns in their order, and any other operator stands
 * over the middle between its first and its last child. Parents come before their children in t. */
static double lay_out_plan(const struct plan_tree *t, struct spot *spot)
{
	double columns = 0;

	for (uint32_t i = 0; i < t->nr; i++)
		if (t->line[i].parent)
			spot[t->line[i].parent - 1].nr++;
	for (uint32_t i = 0; i < t->nr; i++)
		if (!spot[i].nr)
			spot[i].x = columns++;
	for (uint32_t i = t->nr; i-- > 0;) {
		struct spot *s = &spot[i], *parent = t->line[i].parent ? &spot[t->line[i].parent - 1] : NULL;

		if (s->nr)
			s->x = (s->first + s->last) / 2;
		if (!parent)
			continue;
		if (parent->last <= 0 && parent->first <= 0)
			parent->last = s->x; /* the loop reaches the last child before the others */
		parent->first = s->x;
	}
	return columns;
}

static void write_query_json(const struct model *m, uint32_t component, FILE *to)
{
	const char *name = NULL, *text = model_find_query(m, component, &name);
	const struct scope *scope = model_find_scope(m, component);

	fputs("\"query\":", to);
	escape_json_string(to, name && *name ? name : scope && scope->name ? scope->name : "");
	fputs(",\"text\":", to);
	escape_json_string(to, text ? text : "");
}

static void write_plan_json(const struct html_trace *t, uint32_t owner, const struct plan_tree *tree, uint32_t level, const char *comma,
			    FILE *to)
{
	const struct model *m = t->report->model;
	struct spot *spot = calloc((size_t)tree->nr + 1, sizeof(*spot));
	double columns = spot ? lay_out_plan(tree, spot) : 0;
	uint32_t query_level = owner == PLAN_COMMON ? plan_query_level(&m->dictionary, level) : LEVELS_MAX;

	fprintf(to, "%s{\"process\":%d,\"columns\":%g,\"nodes\":[", comma, owner == PLAN_COMMON ? -1 : (int)owner, columns);
	for (uint32_t i = 0; spot && i < tree->nr; i++)
		fprintf(to, "%s[%u,%u,%d,%g]", i ? "," : "", tree->line[i].component, tree->line[i].parent, tree->line[i].depth, spot[i].x);
	fputs("],\"roots\":[", to);
	for (uint32_t i = 0, n = 0; i < tree->nr; i++) {
		if (tree->line[i].parent)
			continue;
		fprintf(to, "%s{\"node\":%u,\"of\":%u,", n++ ? "," : "", i,
			query_level != LEVELS_MAX ? plan_query_of(&m->dictionary, tree->line[i].component, query_level) : COMPONENT_NONE);
		write_query_json(m, tree->line[i].component, to);
		fputc('}', to);
	}
	fputs("]}", to);
	free(spot);
}

void html_put_plans(const struct html_trace *t, FILE *to)
{
	const struct model *m = t->report->model;
	uint32_t level = report_find_level(t->report, t->report->level), nr, *owner;
	const char *comma = "";

	fprintf(to, "\"plan_level\":%d,\"plans\":[", level == LEVELS_MAX ? -1 : (int)level);
	nr = level == LEVELS_MAX ? 0 : plan_tree_owners(&m->dictionary, level, m->processes.nr, &owner);
	for (uint32_t i = 0; i < nr; i++) {
		struct plan_tree tree;

		if (plan_tree_make(&m->dictionary, level, owner[i], true, &tree) && tree.nr) {
			write_plan_json(t, owner[i], &tree, level, comma, to);
			comma = ",";
		}
		plan_tree_fini(&tree);
	}
	if (level != LEVELS_MAX)
		free(owner);
	fputs("],\n", to);
}
