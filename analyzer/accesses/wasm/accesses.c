/* SPDX-License-Identifier: MIT */
/*
 * Finds the orders of accesses for a page, in functions that JavaScript calls. JavaScript writes the columns of all rows that have an
 * address once. For each set of filters, it then writes the rows that pass, and reads their sums. Context: the page's one thread.
 */
#include "analyzer/accesses/access_order.h"
#include "analyzer/table/wasm/memory.h"

#include <stdlib.h>

#define SUM_NUMBERS 9 /* numbers of a key: struct access_sum, member by member */

/* JavaScript writes these columns by number. Addresses are doubles until page_accesses_ready() turns them into whole numbers. */
enum { COLUMN_ADDRESS, COLUMN_SHARE, COLUMN_SAMPLE, COLUMN_STREAM, COLUMN_PAGE, COLUMN_PHASE, COLUMN_REGION, COLUMN_PART, COLUMN_LIST,
       COLUMN_GRANULE, NR_COLUMNS };

struct page_accesses {
	void *column[NR_COLUMNS];
	struct access_columns c;
	struct access_orders o; /* orders of the rows of the last call of page_accesses_follow() */
	uint32_t nr;
};

/* Create the columns for nr rows. shared: some samples have several rows, so the columns of shares and samples are needed. Return NULL if
 * memory runs out. The page never frees it. */
EXPORT(accesses_create) struct page_accesses *page_accesses_create(uint32_t nr, uint32_t nr_streams, uint32_t nr_pages, bool shared)
{
	struct page_accesses *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	*p = (struct page_accesses){ .nr = nr, .c = { .nr_streams = nr_streams, .nr_pages = nr_pages } };
	for (uint32_t i = 0; i < NR_COLUMNS; i++) {
		const bool wide = i == COLUMN_ADDRESS || i == COLUMN_SHARE, left_out = !shared && (i == COLUMN_SHARE || i == COLUMN_SAMPLE);

		p->column[i] = left_out ? NULL : memory_take(i == COLUMN_GRANULE ? nr_streams : (size_t)nr * (wide ? 8 : 4));
		if (!left_out && !p->column[i])
			return NULL;
	}
	p->c = (struct access_columns){ p->column[COLUMN_ADDRESS], p->column[COLUMN_SAMPLE], p->column[COLUMN_STREAM],
					p->column[COLUMN_PAGE], p->column[COLUMN_PHASE], p->column[COLUMN_SHARE],
					p->column[COLUMN_GRANULE], nr_streams, nr_pages };
	return p;
}

EXPORT(accesses_column) void *page_accesses_column(struct page_accesses *p, uint32_t column)
{
	return column < NR_COLUMNS ? p->column[column] : NULL;
}

EXPORT(accesses_ready) void page_accesses_ready(struct page_accesses *p)
{
	const double *from = p->column[COLUMN_ADDRESS];
	uint64_t *to = p->column[COLUMN_ADDRESS];

	for (uint32_t i = 0; i < p->nr; i++) {
		const uint64_t address = (uint64_t)from[i];

		memcpy(&to[i], &address, sizeof(address));
	}
}

/* Find the orders of the first nr rows in COLUMN_LIST, whose numbers ascend. Return false if memory runs out, or if nr is more than there
 * are rows. */
EXPORT(accesses_follow) bool page_accesses_follow(struct page_accesses *p, uint32_t nr)
{
	return nr <= p->nr && access_orders_find(&p->o, &p->c, p->column[COLUMN_LIST], nr) == 0;
}

/* Return SUM_NUMBERS numbers for each key, over the rows of the last page_accesses_follow(). column is COLUMN_REGION or COLUMN_PART, which
 * has the keys. Return NULL if memory runs out. */
EXPORT(accesses_sums) const double *page_accesses_sums(struct page_accesses *p, uint32_t column, uint32_t nr_keys)
{
	struct access_sum *sum = calloc((size_t)nr_keys + 1, sizeof(*sum));
	double *out = calloc((size_t)nr_keys + 1, SUM_NUMBERS * sizeof(*out));

	if (!sum || !out || access_orders_sum(&p->o, &p->c, p->column[column], nr_keys, sum))
		return NULL;
	for (uint32_t k = 0; k < nr_keys; k++) {
		double *to = out + (size_t)k * SUM_NUMBERS;

		*to++ = sum[k].samples;
		for (int i = 0; i < NR_ACCESS_ORDERS; i++)
			*to++ = sum[k].order[i];
		*to++ = (double)sum[k].stride;
		*to++ = (double)sum[k].low;
		*to++ = (double)sum[k].high;
		*to = sum[k].pages;
	}
	return out;
}

/* Return the number of strides, and then stride and samples of each, over the rows of the last page_accesses_follow(). Return NULL if
 * memory runs out. */
EXPORT(accesses_strides) const double *page_accesses_strides(struct page_accesses *p)
{
	uint32_t nr;
	const struct access_stride *list = access_orders_strides(&p->o, &p->c, &nr);
	double *out = list ? calloc(2 * (size_t)nr + 1, sizeof(*out)) : NULL;

	if (!out)
		return NULL;
	out[0] = nr;
	for (uint32_t i = 0; i < nr; i++) {
		out[1 + 2 * i] = (double)list[i].stride;
		out[2 + 2 * i] = list[i].samples;
	}
	return out;
}
