/* SPDX-License-Identifier: MIT */
/*
 * Rows under filters that change one at a time, for views that stand side by side.  Each row has a bit per filter that it fails.
 * A change of one filter is one walk over the column of the filter.  Sums under all filters, or under all but a view's own, are one walk
 * over the summed columns.  (After Crossfilter, M. Bostock and J. Davies, Square, 2012.)
 *
 * Columns are arrays of small dense numbers of 1, 2 or 4 bytes each.  Maps translate the numbers to keys (of components, of functions), so
 * that many columns of a table can be one here.  The caller provides all memory, and no libc is used.  Context: any.
 */
#ifndef TAILOR_CROSSFILTER_H
#define TAILOR_CROSSFILTER_H

#include <stdbool.h>
#include <stdint.h>

#define CROSSFILTER_NO_KEY UINT32_MAX /* entry of a map: rows with this number are in no sum */

struct crossfilter_column {
	const void *data;
	uint32_t width; /* bytes per number: 1, 2 or 4; 8 for ranges and bins alone */
};

/* A row passes if its number is one of those allowed. */
struct crossfilter_set {
	struct crossfilter_column column;
	const unsigned char *allowed; /* indexed by number */
	uint32_t nr_allowed;
};

/* Set bit in fails[] of the rows that pass none of the sets, and clear it in the others. */
void crossfilter_apply_sets(uint16_t *fails, uint32_t nr, uint16_t bit, const struct crossfilter_set *sets, uint32_t nr_sets);
/* Set bit in fails[] of the rows outside of [low, high), and clear it in the others. */
void crossfilter_apply_range(uint16_t *fails, uint32_t nr, uint16_t bit, struct crossfilter_column column, uint64_t low, uint64_t high);
/* Clear bit in fails[] of all rows. */
void crossfilter_clear(uint16_t *fails, uint32_t nr, uint16_t bit);

/* The key that rows are grouped by: the numbers of a column, their translation by a map, or bins of the column. */
struct crossfilter_key {
	struct crossfilter_column column; /* data NULL: all rows have key 0 */
	const uint32_t *map;		  /* key of each number; NULL: numbers are keys */
	uint32_t nr_map;
	uint32_t nr;	 /* number of keys; rows with other keys are in no sum */
	uint64_t origin; /* start of bin 0 */
	double per_bin;	 /* 1 / width of a bin; 0: no bins */
	bool grows;	 /* the column's numbers never get smaller from row to row */
	const struct crossfilter_key *inner; /* NULL: none; else a key is own * inner->nr + inner's, and nr counts pairs */
};

struct crossfilter_sum {
	double samples, weight, weight_squares;
};

struct crossfilter {
	uint32_t nr;
	const uint16_t *fails;
	/* share[way] is the share of its sample that a row has.  share NULL: each row is a whole sample. */
	struct crossfilter_column way;
	const double *share;
	/* The weight of a sample is weight_of[number], or the number if weight_of is NULL.  Without weight.data, all weigh weight_of[0]. */
	struct crossfilter_column weight;
	const double *weight_of;
};

/* Add the rows from first to end - 1 that fail no filter (the bits of except are ignored) to sum[a * b.nr + b], which is zeroed before. */
void crossfilter_sum_groups(const struct crossfilter *c, uint32_t first, uint32_t end, uint16_t except, const struct crossfilter_key *a,
			    const struct crossfilter_key *b, struct crossfilter_sum *sum);
/* The first row whose number is not below the value.  The numbers of the column never get smaller from row to row. */
uint32_t crossfilter_find(struct crossfilter_column column, uint32_t nr, uint64_t value);

#endif
