/* SPDX-License-Identifier: MIT */
/*
 * As many executions flow into a block as out of it. So the counts of all arcs follow from the counts of those outside of a spanning tree,
 * which can be any numbers. These arcs get random numbers here, and the tree's arcs follow. Blocks that run equally often whatever the
 * counts are get equal sums. Two other blocks have equal sums by chance, with a probability of 2^-64.
 */
#include "analyzer/flow/classes.h"

#include <stdbool.h>
#include <stdlib.h>

struct graph {
	const struct class_arc *arc;
	uint32_t nr_arcs, nr_nodes; /* the outside is the last node */
	uint32_t *first, *arc_of;   /* indexes of arcs, sorted by either end; those of node n begin at arc_of[first[n]] */
	/* order: nodes in the order in which they were reached; tree_arc: the arc by which each node was reached, UINT32_MAX for a root */
	uint32_t *order, *tree_arc;
	uint64_t *count;	    /* count of each arc */
	bool *in_tree, *seen;
};

static uint32_t node_of_block(const struct graph *g, uint32_t block)
{
	return block < g->nr_nodes - 1 ? block : g->nr_nodes - 1;
}

/* Return the next number of S. Vigna's splitmix64. The sequence is the same each time, and so are the classes. */
static uint64_t next_random_number(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

static void list_arcs(struct graph *g)
{
	for (uint32_t i = 0; i < g->nr_arcs; i++) {
		g->first[node_of_block(g, g->arc[i].from) + 2]++;
		g->first[node_of_block(g, g->arc[i].to) + 2]++;
	}
	for (uint32_t i = 2; i < g->nr_nodes + 2; i++)
		g->first[i] += g->first[i - 1];
	for (uint32_t i = 0; i < g->nr_arcs; i++) {
		g->arc_of[g->first[node_of_block(g, g->arc[i].from) + 1]++] = i;
		g->arc_of[g->first[node_of_block(g, g->arc[i].to) + 1]++] = i;
	}
}

static void build_spanning_tree(struct graph *g)
{
	uint32_t nr = 0, at = 0;

	for (uint32_t root = g->nr_nodes; root > 0; root--) {
		if (g->seen[root - 1])
			continue;
		g->seen[root - 1] = true;
		g->tree_arc[root - 1] = UINT32_MAX;
		for (g->order[nr++] = root - 1; at < nr; at++)
			for (uint32_t i = g->first[g->order[at]]; i < g->first[g->order[at] + 1]; i++) {
				const struct class_arc *a = &g->arc[g->arc_of[i]];
				uint32_t from = node_of_block(g, a->from), other = from == g->order[at] ? node_of_block(g, a->to) : from;

				if (g->seen[other])
					continue;
				g->seen[other] = g->in_tree[g->arc_of[i]] = true;
				g->tree_arc[other] = g->arc_of[i];
				g->order[nr++] = other;
			}
	}
}

/* Return what flows into a node, less what flows out, over the arcs that have a count by now. The sum wraps around, as all sums here. */
static uint64_t flow_balance_of_node(const struct graph *g, uint32_t n)
{
	uint64_t sum = 0;

	for (uint32_t i = g->first[n]; i < g->first[n + 1]; i++) {
		const struct class_arc *a = &g->arc[g->arc_of[i]];

		if (g->in_tree[g->arc_of[i]] || node_of_block(g, a->from) == node_of_block(g, a->to))
			continue;
		sum += node_of_block(g, a->to) == n ? g->count[g->arc_of[i]] : -g->count[g->arc_of[i]];
	}
	return sum;
}

/* Give random counts to the arcs outside of the tree, and then compute those of the tree's arcs. Nodes come in the reverse of the order in
 * which they were reached, so the arc by which a node was reached is the only one of its arcs that has no count yet. */
static void fill_tree_arc_counts(struct graph *g)
{
	uint64_t state = g->nr_arcs;

	for (uint32_t i = 0; i < g->nr_arcs; i++)
		if (!g->in_tree[i])
			g->count[i] = next_random_number(&state);
	for (uint32_t i = g->nr_nodes; i > 0; i--) {
		uint32_t n = g->order[i - 1], up = g->tree_arc[n];

		if (up == UINT32_MAX)
			continue;
		g->count[up] = node_of_block(g, g->arc[up].to) == n ? -flow_balance_of_node(g, n) : flow_balance_of_node(g, n);
		g->in_tree[up] = false;
	}
}

struct keyed {
	uint64_t count;
	uint32_t block;
};

static int compare_block_counts(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? -1 : 1;
	return x->block < y->block ? -1 : x->block > y->block;
}

/* Sort blocks by their counts, so that the blocks of a class are neighbours, and number the classes in the order of their first blocks.
 * Return how many classes there are. */
static uint32_t number_block_classes(const struct graph *g, struct keyed *k, uint32_t nr_blocks, uint32_t *class_of)
{
	uint32_t nr = 0;

	for (uint32_t b = 0; b < nr_blocks; b++)
		k[b] = (struct keyed){ 0, b };
	for (uint32_t i = 0; i < g->nr_arcs; i++)
		if (node_of_block(g, g->arc[i].to) < nr_blocks)
			k[node_of_block(g, g->arc[i].to)].count += g->count[i];
	qsort(k, nr_blocks, sizeof(*k), compare_block_counts);
	for (uint32_t i = 0; i < nr_blocks; i++)
		class_of[k[i].block] = i && k[i].count == k[i - 1].count ? class_of[k[i - 1].block] : k[i].block;
	for (uint32_t b = 0; b < nr_blocks; b++) /* class_of[b] is the first block of b's class here, which has got its number already */
		class_of[b] = class_of[b] == b ? nr++ : class_of[class_of[b]];
	return nr;
}

uint32_t flow_block_classes(const struct class_arc *arc, uint32_t nr_arcs, uint32_t nr_blocks, uint32_t *class_of)
{
	struct graph g = { .arc = arc, .nr_arcs = nr_arcs, .nr_nodes = nr_blocks + 1 };
	struct keyed *k = calloc((size_t)nr_blocks + 1, sizeof(*k));
	uint32_t nr = 0;

	g.first = calloc((size_t)g.nr_nodes + 2, sizeof(*g.first));
	g.arc_of = calloc(2 * (size_t)nr_arcs + 1, sizeof(*g.arc_of));
	g.order = calloc((size_t)g.nr_nodes + 1, sizeof(*g.order));
	g.tree_arc = calloc((size_t)g.nr_nodes + 1, sizeof(*g.tree_arc));
	g.count = calloc((size_t)nr_arcs + 1, sizeof(*g.count));
	g.in_tree = calloc((size_t)nr_arcs + 1, sizeof(*g.in_tree));
	g.seen = calloc((size_t)g.nr_nodes + 1, sizeof(*g.seen));
	if (k && g.first && g.arc_of && g.order && g.tree_arc && g.count && g.in_tree && g.seen && nr_blocks) {
		list_arcs(&g);
		build_spanning_tree(&g);
		fill_tree_arc_counts(&g);
		nr = number_block_classes(&g, k, nr_blocks, class_of);
	}
	free(k);
	free(g.first);
	free(g.arc_of);
	free(g.order);
	free(g.tree_arc);
	free(g.count);
	free(g.in_tree);
	free(g.seen);
	return nr;
}
