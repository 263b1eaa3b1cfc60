/* SPDX-License-Identifier: MIT */
#include "analyzer/query/plan_tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct making {
	const struct dictionary *d;
	struct plan_tree *t;
	char *seen;
	bool utf8;
};

static int by_order(const void *a, const void *b)
{
	const struct edge *const *x = a, *const *y = b;

	return (*x)->order < (*y)->order ? -1 : (*x)->order > (*y)->order;
}

static void add(struct making *m, uint32_t component, uint32_t parent, const char *prefix, bool last, int depth)
{
	const struct dictionary *d = m->d;
	struct plan_line *line = &m->t->line[m->t->nr];
	const struct edge **below;
	char next[PLAN_DEPTH_MAX * 4];
	uint32_t nr = 0, own;

	if (m->seen[component] || depth >= PLAN_DEPTH_MAX - 2)
		return;
	m->seen[component] = 1;
	own = ++m->t->nr;
	line->component = component;
	line->parent = parent;
	line->depth = depth;
	snprintf(line->prefix, sizeof(line->prefix), "%s%s", prefix,
		 depth == 0 ? "" : m->utf8 ? (last ? "└─ " : "├─ ") : (last ? "`- " : "|- "));
	below = malloc((d->nr_edges + 1) * sizeof(*below));
	for (uint32_t i = 0; below && i < d->nr_edges; i++)
		if (d->edges[i].to == component)
			below[nr++] = &d->edges[i];
	if (nr)
		qsort(below, nr, sizeof(*below), by_order);
	snprintf(next, sizeof(next), "%s%s", prefix, depth == 0 ? "" : last ? "   " : m->utf8 ? "│  " : "|  ");
	for (uint32_t i = 0; i < nr; i++)
		add(m, below[i]->from, own, next, i + 1 == nr, depth + 1);
	free(below);
}

bool plan_tree_make(const struct dictionary *d, uint32_t level, uint32_t process, bool utf8, struct plan_tree *t)
{
	struct making m = { d, t, calloc(d->nr_components, 1), utf8 };
	char *consumed = calloc(d->nr_components, 1);

	memset(t, 0, sizeof(*t));
	t->line = calloc(d->nr_components, sizeof(*t->line));
	if (m.seen && consumed && t->line && level < LEVELS_MAX) {
		for (uint32_t e = 0; e < d->nr_edges; e++)
			consumed[d->edges[e].from] = 1;
		/* roots first, then what no edge reaches (a cycle) */
		for (int round = 0; round < 2; round++)
			for (uint32_t i = 1; i < d->nr_components; i++)
				if (d->component[i].level == level && d->component[i].process == process && d->component[i].announced &&
				    (round || !consumed[i]))
					add(&m, i, 0, "", true, 0);
	}
	free(m.seen);
	free(consumed);
	return t->line != NULL;
}

void plan_tree_fini(struct plan_tree *t)
{
	free(t->line);
	memset(t, 0, sizeof(*t));
}
