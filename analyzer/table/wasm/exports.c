/* SPDX-License-Identifier: MIT */
/*
 * This file has the functions of the sample table that JavaScript of a page calls. JavaScript makes a table with all of its rows, writes
 * the columns in place (32-bit numbers; time, ip, address and weight are 64-bit numbers, and share is double), makes filters, and sums the
 * rows by groups. The commands use the same table.c and group.c. JavaScript reads each struct group_sum by places: samples, kernel,
 * weight, weight_squares (double), first_ns, last_ns (64-bit).
 * Context: the page's one thread.
 */
#include "analyzer/table/group.h"
#include "analyzer/table/wasm/memory.h"

#define CONDITIONS_MAX 16
#define GROUPS_FIRST 64u

_Static_assert(sizeof(struct group_sum) == 48, "JavaScript reads sums by their places");

enum wide { WIDE_TIME, WIDE_IP, WIDE_ADDRESS, WIDE_WEIGHT, WIDE_SHARE };

EXPORT(table_create) struct table *table_create(uint32_t nr, uint32_t nr_levels)
{
	struct table *t = memory_take(sizeof(*t));
	void *memory = nr_levels <= TABLE_LEVELS ? memory_take(table_bytes(nr, nr_levels)) : NULL;

	if (!t || !memory)
		return NULL;
	table_init(t, memory, nr, nr_levels);
	t->nr = nr;
	return t;
}

/* Returns the address to write a column of 32-bit numbers (enum table_column) to, or NULL if the table has no such column. */
EXPORT(table_column) uint32_t *table_column(struct table *t, uint32_t column)
{
	return column < TABLE_COLUMNS ? t->column[column] : NULL;
}

/* Returns the address to write one of the other columns (enum wide) to, or NULL for another number. */
EXPORT(table_wide) void *table_wide(struct table *t, uint32_t which)
{
	switch ((enum wide)which) {
	case WIDE_TIME:
		return t->time_ns;
	case WIDE_IP:
		return t->ip;
	case WIDE_ADDRESS:
		return t->address;
	case WIDE_WEIGHT:
		return t->weight;
	case WIDE_SHARE:
		return t->share;
	}
	return NULL;
}

/* -------------------------------------------------------------------------------------------------------------- filters */

struct page_filter {
	struct table_filter filter;
	struct table_condition condition[CONDITIONS_MAX];
	uint32_t *selected; /* numbers of the rows that passed in the last filter_select() */
};

/* Create a filter for the times [from_ns, to_ns).  to_ns 0: no end.  Returns NULL if memory runs out. */
EXPORT(filter_create) struct page_filter *filter_create(uint64_t from_ns, uint64_t to_ns)
{
	struct page_filter *f = memory_take(sizeof(*f));

	if (f) {
		f->filter = (struct table_filter){ from_ns, to_ns, f->condition, 0 };
		f->selected = NULL;
	}
	return f;
}

static struct table_condition *add_filter_condition(struct page_filter *f, uint32_t column, bool not )
{
	struct table_condition *c;

	if (column >= TABLE_COLUMNS || f->filter.nr_conditions == CONDITIONS_MAX)
		return NULL;
	c = &f->condition[f->filter.nr_conditions++];
	*c = (struct table_condition){ .column = (enum table_column)column, .not = not };
	return c;
}

/* Add the condition that the row's value of the column is in [low, high], or, with `not`, that it is not.  Returns false if there is no
 * such column, or if the filter has CONDITIONS_MAX conditions. */
EXPORT(filter_range) bool filter_range(struct page_filter *f, uint32_t column, uint32_t low, uint32_t high, bool not)
{
	struct table_condition *c = add_filter_condition(f, column, not );

	if (!c)
		return false;
	c->low = low;
	c->high = high;
	return true;
}

/* Add the condition that allowed[value] is set for the row's value of the column, or, with `not`, that it is not.  Returns false as
 * filter_range() does.  The page must keep allowed valid. */
EXPORT(filter_set) bool filter_set(struct page_filter *f, uint32_t column, const unsigned char *allowed, uint32_t nr, bool not)
{
	struct table_condition *c = add_filter_condition(f, column, not );

	if (!c)
		return false;
	c->allowed = allowed;
	c->nr_allowed = nr;
	return true;
}

/* Returns how many rows pass, or UINT32_MAX if memory runs out.  filter_rows() returns their numbers. */
EXPORT(filter_select) uint32_t filter_select(struct page_filter *f, const struct table *t)
{
	f->selected = memory_take((size_t)t->nr * 4 + 8);
	return f->selected ? table_select(t, &f->filter, NULL, t->nr, f->selected) : UINT32_MAX;
}

EXPORT(filter_rows) const uint32_t *filter_rows(const struct page_filter *f)
{
	return f->selected;
}

/* --------------------------------------------------------------------------------------------------------------- groups */

static bool allocate_group_memory(struct group *g, uint32_t capacity)
{
	void *memory = memory_take(group_bytes(g->nr_keys, capacity));

	if (memory)
		group_place(g, memory, capacity);
	return memory != NULL;
}

/* Create groups by nr keys, numbers of enum table_column or group_key.  Returns NULL if nr or a key is invalid, bin_ns is 0, or memory runs
 * out. */
EXPORT(group_create) struct group *group_create(const uint32_t *keys, uint32_t nr, uint64_t origin_ns, uint64_t bin_ns)
{
	struct group *g = nr && nr <= GROUP_KEYS_MAX && bin_ns ? memory_take(sizeof(*g)) : NULL;

	if (!g)
		return NULL;
	*g = (struct group){ .nr_keys = nr, .origin_ns = origin_ns, .bin_ns = bin_ns };
	for (uint32_t i = 0; i < nr; i++) {
		if (keys[i] > GROUP_IP_LOW)
			return NULL;
		g->key[i] = keys[i];
	}
	return allocate_group_memory(g, GROUPS_FIRST) ? g : NULL;
}

/* Add the nr rows with these numbers.  Returns false if memory runs out, or if there are more than 2^24 groups. */
EXPORT(group_rows) bool group_rows(struct group *g, const struct table *t, const uint32_t *rows, uint32_t nr)
{
	for (uint32_t done = 0; done < nr;) {
		done += group_add_rows(g, t, rows + done, nr - done);
		if (done < nr) {
			struct group old = *g;

			if (g->capacity >= 1u << 24 || !allocate_group_memory(g, 4 * g->capacity) || !group_merge(g, &old, 0))
				return false;
		}
	}
	return true;
}

EXPORT(group_nr) uint32_t group_nr(const struct group *g)
{
	return g->nr;
}

/* Returns the values of the keys of all groups, in the order of groups, as many numbers for each group as there are keys. */
EXPORT(group_values) const uint32_t *group_values(const struct group *g)
{
	return g->value;
}

EXPORT(group_sums) const struct group_sum *group_sums(const struct group *g)
{
	return g->sum;
}

EXPORT(group_total) const struct group_sum *group_total(const struct group *g)
{
	return &g->total;
}
