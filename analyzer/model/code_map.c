/* SPDX-License-Identifier: MIT */
#include "analyzer/model/code_map.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/sorted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int code_map_add(struct code_map *m, uint64_t start, uint64_t end, uint64_t from_ns, void *owner)
{
	if (end <= start)
		return 0;
	if (m->facts.nr >= UINT32_MAX / 64) /* lists hold 32-bit indexes, at most 2 log n of them per fact */
		return -ENOMEM;
	if (!ARRAY_PUSH(m->facts, (struct code_fact){ start, end, from_ns, owner }))
		return -ENOMEM;
	if (owner && !hash_map_set(&m->by_start, start, 0, (uint32_t)m->facts.nr))
		return -ENOMEM;
	return 0;
}

const struct code_fact *code_map_starting_at(const struct code_map *m, uint64_t address)
{
	uint32_t i = hash_map_find(&m->by_start, address, 0);

	return i ? &m->facts.at[i - 1] : NULL;
}

/* Orders facts by time, and those of the same time as they were read. */
static int compare_fact_times(const void *a, const void *b, void *facts)
{
	const struct code_fact *f = facts;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (f[i].from_ns != f[j].from_ns)
		return f[i].from_ns < f[j].from_ns ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* Returns the piece that holds address, or nr_cuts if address lies before the first piece. */
static size_t piece_of_address(const struct code_map *m, uint64_t address)
{
	size_t up_to = SORTED_COUNT(m->nr_cuts, i, m->cuts[i] <= address);

	return up_to ? up_to - 1 : m->nr_cuts;
}

/* Returns the next of the tree's nodes that together have the leaves [*left, *right), and moves *left and *right on. Returns 0 if there
 * are no more. */
static uint32_t next_node_of_range(uint32_t *left, uint32_t *right)
{
	while (*left < *right) {
		if (*left & 1)
			return (*left)++;
		if (*right & 1)
			return --*right;
		*left /= 2;
		*right /= 2;
	}
	return 0;
}

struct leaf_range {
	uint32_t left, right;
};

static struct leaf_range leaf_range_of_fact(const struct code_map *m, const struct code_fact *f)
{
	return (struct leaf_range){ (uint32_t)piece_of_address(m, f->start) + m->nr_leaves,
				    (uint32_t)piece_of_address(m, f->end) + m->nr_leaves };
}

enum { COVERED = 1, COVERED_BELOW = 2 };

/* Marks the nodes of a fact's range in seen.  Returns whether a range that was marked before overlaps it. */
static bool cover_leaf_range(struct leaf_range r, unsigned char *seen)
{
	uint32_t node, up;
	bool found = false;

	while ((node = next_node_of_range(&r.left, &r.right)) != 0) {
		found |= seen[node] != 0;
		for (up = node / 2; up; up /= 2) {
			found |= (seen[up] & COVERED) != 0;
			seen[up] |= COVERED_BELOW;
		}
		seen[node] |= COVERED;
	}
	return found;
}

static int make_interval_index(struct code_map *m, const uint32_t *order, uint32_t *fill, unsigned char *seen, struct leaf_range *range)
{
	uint32_t node;

	for (size_t i = 0; i < m->facts.nr; i++) {
		struct leaf_range r = range[i] = leaf_range_of_fact(m, &m->facts.at[i]);

		while ((node = next_node_of_range(&r.left, &r.right)) != 0)
			m->first[node + 1]++;
	}
	for (uint32_t n = 0; n <= 2 * m->nr_leaves; n++)
		m->first[n + 1] += m->first[n];
	m->list = malloc(((size_t)m->first[2 * m->nr_leaves + 1] + 1) * sizeof(*m->list));
	m->replaced_ns = malloc((m->facts.nr + 1) * sizeof(*m->replaced_ns));
	if (!m->list || !m->replaced_ns)
		return -ENOMEM;
	for (size_t i = 0; i < m->facts.nr; i++) {
		const struct code_fact *f = &m->facts.at[order[i]];
		struct leaf_range r = range[order[i]];

		while ((node = next_node_of_range(&r.left, &r.right)) != 0)
			m->list[m->first[node] + fill[node]++] = order[i];
		if (f->owner && cover_leaf_range(range[order[i]], seen))
			m->replaced_ns[m->nr_replaced++] = f->from_ns;
	}
	return 0;
}

int code_map_index(struct code_map *m)
{
	uint32_t *order = malloc((m->facts.nr + 1) * sizeof(*order)), *fill = NULL;
	unsigned char *seen = NULL;
	struct leaf_range *range = malloc((m->facts.nr + 1) * sizeof(*range));
	size_t nr = 0;
	int ret = -ENOMEM;

	m->cuts = malloc((2 * m->facts.nr + 1) * sizeof(*m->cuts));
	if (!m->cuts || !order || !range)
		goto out;
	for (size_t i = 0; i < m->facts.nr; i++) {
		m->cuts[nr++] = m->facts.at[i].start;
		m->cuts[nr++] = m->facts.at[i].end;
		order[i] = (uint32_t)i;
	}
	qsort(m->cuts, nr, sizeof(*m->cuts), sorted_by_number);
	for (size_t i = 0; i < nr; i++)
		if (!m->nr_cuts || m->cuts[i] != m->cuts[m->nr_cuts - 1])
			m->cuts[m->nr_cuts++] = m->cuts[i];
	qsort_r(order, m->facts.nr, sizeof(*order), compare_fact_times, m->facts.at);
	for (m->nr_leaves = 1; m->nr_leaves < m->nr_cuts;)
		m->nr_leaves *= 2;
	m->first = calloc(2 * (size_t)m->nr_leaves + 2, sizeof(*m->first));
	fill = calloc(2 * (size_t)m->nr_leaves, sizeof(*fill));
	seen = calloc(2 * (size_t)m->nr_leaves, 1);
	if (m->first && fill && seen)
		ret = make_interval_index(m, order, fill, seen, range);
out:
	free(order);
	free(fill);
	free(seen);
	free(range);
	return ret;
}

struct code_answer code_map_ask(const struct code_map *m, uint64_t address, uint64_t time_ns)
{
	struct code_answer a = CODE_ANSWER_NONE;
	size_t p = piece_of_address(m, address);

	if (!m->list || !m->nr_cuts)
		return a;
	if (p >= m->nr_cuts) {
		a.end = m->cuts[0];
		return a;
	}
	a.start = m->cuts[p];
	a.end = p + 1 < m->nr_cuts ? m->cuts[p + 1] : UINT64_MAX;
	for (uint32_t node = (uint32_t)p + m->nr_leaves; node; node /= 2) {
		const uint32_t *list = &m->list[m->first[node]], nr = m->first[node + 1] - m->first[node];
		const uint32_t n = SORTED_COUNT(nr, i, m->facts.at[list[i]].from_ns <= time_ns);
		const struct code_fact *f;

		if (n < nr && m->facts.at[list[n]].from_ns < a.until_ns)
			a.until_ns = m->facts.at[list[n]].from_ns;
		if (n == 0)
			continue;
		f = &m->facts.at[list[n - 1]];
		if (!a.fact || f->from_ns > a.fact->from_ns || (f->from_ns == a.fact->from_ns && f > a.fact))
			a.fact = f;
	}
	if (a.fact)
		a.from_ns = a.fact->from_ns;
	return a;
}

void *code_map_find(const struct code_map *m, uint64_t address, uint64_t time_ns)
{
	const struct code_fact *f = code_map_ask(m, address, time_ns).fact;

	return f ? f->owner : NULL;
}

uint64_t code_map_generation(const struct code_map *m, uint64_t time_ns)
{
	return SORTED_COUNT(m->nr_replaced, i, m->replaced_ns[i] <= time_ns);
}

void code_map_fini(struct code_map *m)
{
	free(m->facts.at);
	free(m->cuts);
	free(m->first);
	free(m->list);
	free(m->replaced_ns);
	hash_map_fini(&m->by_start);
	memset(m, 0, sizeof(*m));
}
