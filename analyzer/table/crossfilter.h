/* SPDX-License-Identifier: MIT */
/*
 * Rows under filters that change one at a time, for views that stand side by side: each row has a bit per filter that it fails.
 * A change of one filter is one walk over its column; sums under all filters, or under all but a view's own, are one walk over
 * what they sum up.
 * (After Crossfilter, M. Bostock and J. Davies, Square, 2012.)
 *
 * Columns are arrays of small dense numbers of 1, 2 or 4 bytes each; what they stand for (a component, a function) is said by maps, so that
 * many columns of a table can be one here.  Memory is the caller's; no libc.  Context: any.
 */
#ifndef TAILOR_CROSSFILTER_H
#define TAILOR_CROSSFILTER_H

#include <stdbool.h>
#include <stdint.h>

#define CROSSFILTER_NO_KEY UINT32_MAX /* of a map: rows that are in no sum */

struct crossfilter_column {
	const void *data;
	uint32_t width; /* of a number: 1, 2 or 4 bytes; 8: whole numbers, for ranges and bins alone */
};

/* A row passes if its number is one of those allowed. */
struct crossfilter_set {
	struct crossfilter_column column;
	const unsigned char *allowed; /* per number */
	uint32_t nr_allowed;
};

/* Set bit in fails[] of the rows that pass none of the sets, and clear it in the others. */
void crossfilter_apply_sets(uint16_t *fails, uint32_t nr, uint16_t bit, const struct crossfilter_set *sets, uint32_t nr_sets);
/* Set bit of the rows outside of [low, high), and clear it in the others. */
void crossfilter_apply_range(uint16_t *fails, uint32_t nr, uint16_t bit, struct crossfilter_column column, uint64_t low, uint64_t high);
/* Clear bit in all rows. */
void crossfilter_clear(uint16_t *fails, uint32_t nr, uint16_t bit);

/* What rows are summed up by: numbers of a column, what a map makes of them, or bins of it. */
struct crossfilter_key {
	struct crossfilter_column column; /* data NULL: all rows have key 0 */
	const uint32_t *map;		  /* NULL: numbers are keys */
	uint32_t nr_map;
	uint32_t nr;	 /* keys; rows with others are in no sum */
	uint64_t origin; /* of bins */
	double per_bin;	 /* 1 / width of a bin; 0: no bins */
	bool grows;	 /* the column's numbers never get smaller from row to row */
	const struct crossfilter_key *inner; /* the key is this one's * inner->nr + inner's; nr: of both; NULL: there is none */
};

struct crossfilter_sum {
	double samples, weight, weight_squares;
};

struct crossfilter {
	uint32_t nr;
	const uint16_t *fails;
	/* a row's share of its sample: share[way]; NULL: all of it */
	struct crossfilter_column way;
	const double *share;
	/* a sample's weight: of[number], or where there is no such table the number; data NULL: of[0] for all */
	struct crossfilter_column weight;
	const double *weight_of;
};

/* Sums of the rows from first to end - 1 that fail no filter, bits of except aside, into sum[a * b.nr + b], which is zeroed before. */
void crossfilter_sum_groups(const struct crossfilter *c, uint32_t first, uint32_t end, uint16_t except, const struct crossfilter_key *a,
			    const struct crossfilter_key *b, struct crossfilter_sum *sum);
/* The first row whose number is not below the value, of a column that only grows. */
uint32_t crossfilter_find(struct crossfilter_column column, uint32_t nr, uint64_t value);

#endif
