/* SPDX-License-Identifier: MIT */
/* Checks plans. Their edges lead from producers to consumers, and must form a tree, or a graph with one root. */
#include "analyzer/check/internal.h"

#include <errno.h>
#include <stdlib.h>

struct graph {
	/* for each component: another component of its plan; plan_piece_of() follows these to the representative of all that edges
	 * connect */
	uint32_t *piece;
	uint32_t *nr_in;     /* number of edges that lead to each component and were not removed */
	uint32_t *first_out, *next_out; /* lists of edges by producer, as 1 + index of the edge; 0: the end */
	uint32_t *root;      /* for each representative: a root of the plan; 0: none yet; UINT32_MAX: reported */
	uint32_t *left;	     /* components to which no edge leads any more, in the order in which they are removed */
};

static uint32_t plan_piece_of(uint32_t *piece, uint32_t i)
{
	while (piece[i] != i)
		i = piece[i] = piece[piece[i]];
	return i;
}

static bool edge_is_of_plan(const struct dictionary *d, const struct edge *e)
{
	return d->level[d->components.at[e->from].level].flags & JITREG_LEVEL_PLAN && e->from != e->to;
}

static void check_plan_edges(struct check *c)
{
	const struct dictionary *d = &c->m->dictionary;
	char a[CHECK_NAME], b[CHECK_NAME];

	for (uint32_t i = 0; i < d->edges.nr; i++) {
		const struct edge *e = &d->edges.at[i];

		if (e->from == e->to)
			FOUND(c, FINDING_EDGE_SELF, 0, "%s", check_component_name(c, e->from, a));
		if (c->complete && (!c->known[e->from] || !c->known[e->to]))
			FOUND(c, FINDING_EDGE_UNKNOWN, 0, "%s to %s", check_component_name(c, e->from, a),
			      check_component_name(c, e->to, b));
	}
}

static void join_plan_pieces(const struct dictionary *d, struct graph *g)
{
	for (uint32_t i = 0; i < d->components.nr; i++)
		g->piece[i] = i;
	for (uint32_t i = 0; i < d->edges.nr; i++) {
		const struct edge *e = &d->edges.at[i];

		if (!edge_is_of_plan(d, e))
			continue;
		g->piece[plan_piece_of(g->piece, e->from)] = plan_piece_of(g->piece, e->to);
		g->nr_in[e->to]++;
		g->next_out[i] = g->first_out[e->from];
		g->first_out[e->from] = i + 1;
	}
}

/* Remove components to which no edge leads, with their edges, as long as there are any. What is left is on a cycle, or behind one, and is
 * reported. */
static void check_plan_cycles(struct check *c, struct graph *g)
{
	const struct dictionary *d = &c->m->dictionary;
	uint32_t nr = 0;
	char name[CHECK_NAME];

	for (uint32_t i = 1; i < d->components.nr; i++)
		if (!g->nr_in[i])
			g->left[nr++] = i;
	for (uint32_t at = 0; at < nr; at++)
		for (uint32_t e = g->first_out[g->left[at]]; e; e = g->next_out[e - 1])
			if (--g->nr_in[d->edges.at[e - 1].to] == 0)
				g->left[nr++] = d->edges.at[e - 1].to;
	for (uint32_t i = 1; i < d->components.nr; i++)
		if (g->nr_in[i])
			FOUND(c, FINDING_PLAN_CYCLE, 0, "%s", check_component_name(c, i, name));
}

static void check_plan_roots(struct check *c, struct graph *g)
{
	const struct dictionary *d = &c->m->dictionary;
	char a[CHECK_NAME], b[CHECK_NAME];

	for (uint32_t i = 1; i < d->components.nr; i++) {
		uint32_t piece = plan_piece_of(g->piece, i);

		if (g->first_out[i])
			continue;
		if (g->root[piece] && g->root[piece] != UINT32_MAX) {
			FOUND(c, FINDING_PLAN_ROOTS, 0, "%s and %s", check_component_name(c, g->root[piece], a),
			      check_component_name(c, i, b));
			g->root[piece] = UINT32_MAX; /* a plan with more roots is reported only once */
		} else if (!g->root[piece]) {
			g->root[piece] = i;
		}
	}
}

int check_plans(struct check *c)
{
	const struct dictionary *d = &c->m->dictionary;
	const size_t nr = d->components.nr;
	uint32_t *memory;
	struct graph g;

	if (!d->edges.nr)
		return 0;
	memory = calloc(5 * nr + d->edges.nr, sizeof(*memory));
	if (!memory)
		return -ENOMEM;
	g = (struct graph){ memory, memory + nr, memory + 2 * nr, memory + 5 * nr, memory + 3 * nr, memory + 4 * nr };
	check_plan_edges(c);
	join_plan_pieces(d, &g);
	check_plan_cycles(c, &g);
	if (c->complete)
		check_plan_roots(c, &g);
	free(memory);
	return 0;
}
