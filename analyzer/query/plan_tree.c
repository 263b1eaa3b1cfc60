/* SPDX-License-Identifier: MIT */
#include "analyzer/query/plan_tree.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct making {
	const struct dictionary *d;
	struct plan_tree *t;
	char *seen;
	bool utf8;
	/* Edges by consumer. Those that lead to component i are edge[first[i]] to edge[first[i + 1] - 1]. */
	const struct edge **edge;
	uint32_t *first;
};

static int compare_edge_orders(const void *a, const void *b)
{
	const struct edge *const *x = a, *const *y = b;

	if ((*x)->order != (*y)->order)
		return (*x)->order < (*y)->order ? -1 : 1;
	return *x < *y ? -1 : *x > *y;
}

static bool index_edges(struct making *m)
{
	const struct dictionary *d = m->d;
	uint32_t *next;

	m->first = calloc((size_t)d->components.nr + 2, sizeof(*m->first));
	m->edge = malloc(((size_t)d->edges.nr + 1) * sizeof(*m->edge));
	if (!m->first || !m->edge)
		return false;
	next = m->first + 1;
	for (uint32_t i = 0; i < d->edges.nr; i++)
		next[d->edges.at[i].to + 1]++;
	for (uint32_t i = 0; i < d->components.nr; i++)
		next[i + 1] += next[i];
	for (uint32_t i = 0; i < d->edges.nr; i++)
		/* afterwards next[i] is the end of component i's edges, which is first[i + 1] */
		m->edge[next[d->edges.at[i].to]++] = &d->edges.at[i];
	return true;
}

static void add_plan_line(struct making *m, uint32_t component, uint32_t parent, const char *prefix, bool last, int depth)
{
	struct plan_line *line = &m->t->line[m->t->nr];
	const uint32_t first = m->first[component], nr = m->first[component + 1] - first;
	char next[PLAN_DEPTH_MAX * 4];
	uint32_t own;

	if (m->seen[component] || depth >= PLAN_DEPTH_MAX - 2)
		return;
	m->seen[component] = 1;
	own = ++m->t->nr;
	line->component = component;
	line->parent = parent;
	line->depth = depth;
	snprintf(line->prefix, sizeof(line->prefix), "%s%s", prefix,
		 depth == 0 ? "" : m->utf8 ? (last ? "└─ " : "├─ ") : (last ? "`- " : "|- "));
	if (nr > 1)
		qsort(m->edge + first, nr, sizeof(*m->edge), compare_edge_orders);
	snprintf(next, sizeof(next), "%s%s", prefix, depth == 0 ? "" : last ? "   " : m->utf8 ? "│  " : "|  ");
	for (uint32_t i = 0; i < nr; i++)
		add_plan_line(m, m->edge[first + i]->from, own, next, i + 1 == nr, depth + 1);
}

static bool component_is_in_plan(const struct component *c, uint32_t level, uint32_t process)
{
	return c->level == level && c->announced && (c->common ? process == PLAN_COMMON : c->process == process);
}

bool plan_tree_make(const struct dictionary *d, uint32_t level, uint32_t process, bool utf8, struct plan_tree *t)
{
	struct making m = { d, t, calloc(d->components.nr, 1), utf8, NULL, NULL };
	char *consumed = calloc(d->components.nr, 1);

	memset(t, 0, sizeof(*t));
	t->line = calloc(d->components.nr, sizeof(*t->line));
	if (m.seen && consumed && t->line && level < LEVELS_MAX && index_edges(&m)) {
		for (uint32_t e = 0; e < d->edges.nr; e++)
			consumed[d->edges.at[e].from] = 1;
		/* Roots (without a consumer) come first, then components that were not reached from a root, because they are in a cycle or
		 * too deep. */
		for (int round = 0; round < 2; round++)
			for (uint32_t i = 1; i < d->components.nr; i++)
				if (component_is_in_plan(&d->components.at[i], level, process) && (round || !consumed[i]))
					add_plan_line(&m, i, 0, "", true, 0);
	}
	free(m.seen);
	free(m.first);
	free(m.edge);
	free(consumed);
	return t->line != NULL;
}

void plan_tree_fini(struct plan_tree *t)
{
	free(t->line);
	memset(t, 0, sizeof(*t));
}

/* Makes the prefix of the lines below one with this prefix, without their own branch: a branch goes on downwards unless it is the last. */
static void prefix_below(const struct plan_line *above, bool utf8, char *to, size_t room)
{
	const char *last = utf8 ? "└─ " : "`- ", *more = utf8 ? "│  " : "|  ";
	const size_t bytes = strlen(above->prefix), branch = strlen(last);
	const char *own = above->prefix + bytes - (bytes < branch ? bytes : branch);

	if (!above->depth || bytes < branch) {
		*to = 0;
		return;
	}
	snprintf(to, room, "%.*s%s", (int)(bytes - branch), above->prefix, strcmp(own, last) == 0 ? "   " : more);
}

uint32_t plan_tree_add_query(struct plan_tree *t, uint32_t component, uint32_t query, bool utf8)
{
	struct plan_line line = { .component = query, .is_query = true };
	char below[PLAN_DEPTH_MAX * 4 - 16];
	uint32_t at = 0;
	bool last;

	while (at < t->nr && (t->line[at].component != component || t->line[at].is_query))
		at++;
	if (component && at < t->nr) {
		last = at + 1 >= t->nr || t->line[at + 1].parent != at + 1;
		prefix_below(&t->line[at], utf8, below, sizeof(below));
		snprintf(line.prefix, sizeof(line.prefix), "%s%s", below, utf8 ? (last ? "└─ " : "├─ ") : (last ? "`- " : "|- "));
		line.depth = t->line[at].depth + 1;
		line.parent = ++at; /* the line follows its parent */
	} else {
		at = t->nr;
	}
	memmove(t->line + at + 1, t->line + at, (t->nr - at) * sizeof(*t->line));
	t->line[at] = line;
	t->nr++;
	for (uint32_t i = at + 1; i < t->nr; i++)
		t->line[i].parent += t->line[i].parent > at;
	return at;
}

uint32_t plan_tree_owners(const struct dictionary *d, uint32_t level, uint32_t nr_processes, uint32_t **list)
{
	char *owns = calloc((size_t)nr_processes + 1, 1);
	uint32_t nr = 0;

	*list = malloc(((size_t)nr_processes + 1) * sizeof(**list));
	for (uint32_t i = 1; owns && i < d->components.nr; i++)
		if (d->components.at[i].level == level && d->components.at[i].announced)
			owns[d->components.at[i].common ? nr_processes : d->components.at[i].process] = 1;
	for (uint32_t i = 0; owns && *list && i <= nr_processes; i++)
		if (owns[i])
			(*list)[nr++] = i < nr_processes ? i : PLAN_COMMON;
	free(owns);
	return nr;
}

uint32_t plan_query_of(const struct dictionary *d, uint32_t component, uint32_t query_level)
{
	const struct component *c = &d->components.at[component];

	for (uint32_t i = 0; i < c->links.nr; i++)
		if (d->components.at[c->links.at[i].upper].level == query_level)
			return c->links.at[i].upper;
	return COMPONENT_NONE;
}

uint32_t plan_query_level(const struct dictionary *d, uint32_t level)
{
	uint32_t best = LEVELS_MAX;

	for (uint32_t i = 1; i < d->components.nr && level < LEVELS_MAX && d->nr_common; i++) {
		const struct component *c = &d->components.at[i];

		for (uint32_t n = 0; c->common && c->level == level && n < c->links.nr; n++) {
			uint32_t upper = d->components.at[c->links.at[n].upper].level;

			/* The lowest of the levels above counts, which has the largest rank. */
			if (best == LEVELS_MAX || d->level[upper].rank > d->level[best].rank)
				best = upper;
		}
	}
	return best;
}
