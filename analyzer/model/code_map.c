/* SPDX-License-Identifier: MIT */
#include "code_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Ranges that cover very many pieces (one huge mapping, and thousands of objects in it) are bounded in what they cost. */
#define LIST_MAX (1u << 28)

int code_map_add(struct code_map *m, uint64_t start, uint64_t end, uint64_t from_ns, void *owner)
{
	if (end <= start)
		return 0;
	if (m->nr_facts == m->capacity) {
		size_t capacity = m->capacity ? 2 * m->capacity : 64;
		struct code_fact *bigger = realloc(m->facts, capacity * sizeof(*bigger));

		if (!bigger)
			return -ENOMEM;
		m->facts = bigger;
		m->capacity = capacity;
	}
	m->facts[m->nr_facts++] = (struct code_fact){ start, end, from_ns, owner };
	return 0;
}

const struct code_fact *code_map_starting_at(const struct code_map *m, uint64_t address)
{
	for (size_t i = m->nr_facts; i > 0; i--)
		if (m->facts[i - 1].start == address && m->facts[i - 1].owner)
			return &m->facts[i - 1];
	return NULL;
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Facts by time; those of the same time in the order in which they were told. */
static int by_time(const void *a, const void *b, void *facts)
{
	const struct code_fact *f = facts;
	uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;

	if (f[i].from_ns != f[j].from_ns)
		return f[i].from_ns < f[j].from_ns ? -1 : 1;
	return i < j ? -1 : i > j;
}

/* Piece that holds address; nr_cuts when it lies outside. */
static size_t piece_of(const struct code_map *m, uint64_t address)
{
	size_t low = 0, high = m->nr_cuts;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (m->cuts[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : m->nr_cuts;
}

int code_map_index(struct code_map *m)
{
	size_t nr = 0, pieces;
	uint64_t total = 0;
	uint32_t *order = malloc((m->nr_facts + 1) * sizeof(*order)), *fill;

	m->cuts = malloc((2 * m->nr_facts + 1) * sizeof(*m->cuts));
	m->first = calloc(2 * m->nr_facts + 2, sizeof(*m->first));
	fill = calloc(2 * m->nr_facts + 2, sizeof(*fill));
	if (!m->cuts || !m->first || !order || !fill)
		goto fail;
	for (size_t i = 0; i < m->nr_facts; i++) {
		m->cuts[nr++] = m->facts[i].start;
		m->cuts[nr++] = m->facts[i].end;
		order[i] = (uint32_t)i;
	}
	qsort(m->cuts, nr, sizeof(*m->cuts), by_number);
	for (size_t i = 0; i < nr; i++)
		if (!m->nr_cuts || m->cuts[i] != m->cuts[m->nr_cuts - 1])
			m->cuts[m->nr_cuts++] = m->cuts[i];
	pieces = m->nr_cuts;
	qsort_r(order, m->nr_facts, sizeof(*order), by_time, m->facts);
	/* count, then place */
	for (size_t i = 0; i < m->nr_facts; i++)
		for (size_t p = piece_of(m, m->facts[i].start); p < pieces && m->cuts[p] < m->facts[i].end; p++) {
			m->first[p + 1]++;
			if (++total > LIST_MAX)
				goto fail;
		}
	for (size_t p = 0; p < pieces; p++)
		m->first[p + 1] += m->first[p];
	m->list = malloc((total + 1) * sizeof(*m->list));
	if (!m->list)
		goto fail;
	for (size_t i = 0; i < m->nr_facts; i++) {
		const struct code_fact *f = &m->facts[order[i]];

		for (size_t p = piece_of(m, f->start); p < pieces && m->cuts[p] < f->end; p++)
			m->list[m->first[p] + fill[p]++] = order[i];
	}
	free(order);
	free(fill);
	return 0;
fail:
	free(order);
	free(fill);
	return -ENOMEM;
}

void *code_map_find(const struct code_map *m, uint64_t address, uint64_t time_ns, const struct code_fact **found)
{
	size_t p = piece_of(m, address);
	uint32_t low, high;

	if (found)
		*found = NULL;
	if (p >= m->nr_cuts || !m->list)
		return NULL;
	low = m->first[p];
	high = m->first[p + 1];
	while (low < high) { /* first one younger than the question */
		uint32_t middle = low + (high - low) / 2;

		if (m->facts[m->list[middle]].from_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == m->first[p])
		return NULL;
	if (found)
		*found = &m->facts[m->list[low - 1]];
	return m->facts[m->list[low - 1]].owner;
}

void code_map_fini(struct code_map *m)
{
	free(m->facts);
	free(m->cuts);
	free(m->first);
	free(m->list);
	memset(m, 0, sizeof(*m));
}
