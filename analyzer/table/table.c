/* SPDX-License-Identifier: MIT */
#include "table.h"

#include <string.h>

#define MODE_KERNEL 1 /* SAMPLE_MODE_KERNEL of the trace */

size_t table_bytes(uint64_t capacity)
{
	return (size_t)capacity * (4 * 8 + TABLE_COLUMNS * 4) + 8;
}

void table_init(struct table *t, void *memory, uint64_t capacity)
{
	char *at = memory;

	memset(t, 0, sizeof(*t));
	t->capacity = capacity;
	t->time_ns = (uint64_t *)(void *)at;
	t->ip = t->time_ns + capacity;
	t->weight = t->ip + capacity;
	t->share = (double *)(void *)(t->weight + capacity);
	at = (char *)(t->share + capacity);
	for (int c = 0; c < TABLE_COLUMNS; c++)
		t->column[c] = (uint32_t *)(void *)at + (size_t)c * capacity;
}

uint64_t table_add(struct table *t)
{
	uint64_t row = t->nr++;

	t->time_ns[row] = t->ip[row] = t->weight[row] = 0;
	t->share[row] = 0;
	for (int c = 0; c < TABLE_COLUMNS; c++)
		t->column[c][row] = 0;
	return row;
}

bool table_passes(const struct table *t, uint64_t row, const struct table_filter *f)
{
	if (!f)
		return true;
	if (t->time_ns[row] < f->from_ns || (f->to_ns && t->time_ns[row] >= f->to_ns))
		return false;
	for (size_t i = 0; i < f->nr_conditions; i++) {
		const struct table_condition *c = &f->conditions[i];
		uint32_t v = t->column[c->column][row];

		if ((v >= c->low && v <= c->high) == c->not)
			return false;
	}
	return true;
}

struct table_sum table_group(const struct table *t, const struct table_filter *f, enum table_column column,
			     struct table_sum *sums, uint32_t nr_sums)
{
	struct table_sum total = { 0, 0, 0 };

	for (uint64_t row = 0; row < t->nr; row++) {
		uint32_t group = t->column[column][row];
		double share = t->share[row];
		struct table_sum *s;

		if (!table_passes(t, row, f))
			continue;
		total.samples += share;
		total.weight += share * (double)t->weight[row];
		if (t->column[TABLE_MODE][row] == MODE_KERNEL)
			total.kernel += share;
		if (group >= nr_sums)
			continue;
		s = &sums[group];
		s->samples += share;
		s->weight += share * (double)t->weight[row];
		if (t->column[TABLE_MODE][row] == MODE_KERNEL)
			s->kernel += share;
	}
	return total;
}
