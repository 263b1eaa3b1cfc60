/* SPDX-License-Identifier: MIT */
#include "analyzer/table/table.h"

#include <string.h>

size_t table_bytes(uint32_t capacity, uint32_t nr_levels)
{
	return (size_t)capacity * (5 * 8 + (TABLE_LEVEL_0 + (size_t)nr_levels) * 4) + 8;
}

void table_init(struct table *t, void *memory, uint32_t capacity, uint32_t nr_levels)
{
	uint32_t *at;

	memset(t, 0, sizeof(*t));
	t->capacity = capacity;
	t->nr_levels = nr_levels;
	t->time_ns = memory;
	t->ip = t->time_ns + capacity;
	t->address = t->ip + capacity;
	t->weight = t->address + capacity;
	t->share = (double *)(void *)(t->weight + capacity);
	at = (uint32_t *)(void *)(t->share + capacity);
	for (uint32_t c = 0; c < TABLE_LEVEL_0 + nr_levels; c++)
		t->column[c] = at + (size_t)c * capacity;
}

uint32_t table_add(struct table *t)
{
	uint32_t row = t->nr++;

	t->time_ns[row] = t->ip[row] = t->address[row] = t->weight[row] = 0;
	t->share[row] = 0;
	for (uint32_t c = 0; c < TABLE_LEVEL_0 + t->nr_levels; c++)
		t->column[c][row] = 0;
	return row;
}

/* Select the rows that meet one condition.  Conditions are applied one after another to all rows, so that a column is read in the order of
 * memory.  selected may be rows. */
static uint32_t select_condition(const struct table *t, const struct table_condition *c, const uint32_t *rows, uint32_t nr,
				 uint32_t *selected)
{
	const uint32_t *column = t->column[c->column], *or_column = c->or_allowed ? t->column[c->or_column] : NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t row = rows ? rows[i] : i, v = column ? column[row] : 0;
		bool in = c->allowed ? v < c->nr_allowed && c->allowed[v] : v >= c->low && v <= c->high;

		if (or_column)
			in |= or_column[row] < c->nr_or_allowed && c->or_allowed[or_column[row]];
		selected[n] = row;
		n += in != c->not;
	}
	return n;
}

uint32_t table_select(const struct table *t, const struct table_filter *f, const uint32_t *rows, uint32_t nr, uint32_t *selected)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < nr; i++) {
		uint32_t row = rows ? rows[i] : i;

		selected[n] = row;
		n += t->time_ns[row] >= f->from_ns && (!f->to_ns || t->time_ns[row] < f->to_ns);
	}
	for (size_t c = 0; c < f->nr_conditions; c++)
		n = select_condition(t, &f->conditions[c], selected, n, selected);
	return n;
}
