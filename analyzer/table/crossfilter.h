/* SPDX-License-Identifier: MIT */
/*
 * Filters and sums rows for an interactive page, whose views stand side by side and filter each other. fails[] has a bit per filter for
 * each row, which is set if the row does not pass the filter. When a filter changes, only the columns of this filter are read. The sums of
 * a view over the rows that pass all filters but its own are computed in one pass over the columns that it needs. (After Crossfilter, M.
 * Bostock and J. Davies, Square, 2012.)
 *
 * Columns are arrays of numbers of 1, 2, 4 or 8 bytes each (struct crossfilter_column). Sets and maps are indexed by the numbers of
 * columns of up to 4 bytes, which are small numbers from 0 on. Maps translate the numbers to keys, for instance a number of a place in the
 * code to its component or its function, so one column here can be several of a table. The caller provides all memory, and no libc is used
 * beyond memset(). Context: any.
 */
#ifndef TAILOR_CROSSFILTER_H
#define TAILOR_CROSSFILTER_H

#include <stdbool.h>
#include <stdint.h>

#define CROSSFILTER_NO_KEY UINT32_MAX /* the key of rows that are in no sum */

struct crossfilter_column {
	const void *data;
	uint32_t width; /* bytes per number: 1, 2 or 4; 8 only for ranges, bins, weights and crossfilter_find() */
};

/* A row passes if its number is below nr_allowed and allowed[number] is set. */
struct crossfilter_set {
	struct crossfilter_column column;
	const unsigned char *allowed; /* indexed by number */
	uint32_t nr_allowed;
};

/* Set bit in fails[] of those of the nr rows that pass none of the sets, and clear it in the others. */
void crossfilter_apply_sets(uint16_t *fails, uint32_t nr, uint16_t bit, const struct crossfilter_set *sets, uint32_t nr_sets);
/* Set bit in fails[] of the rows whose number is outside of [low, high), and clear it in the others. */
void crossfilter_apply_range(uint16_t *fails, uint32_t nr, uint16_t bit, struct crossfilter_column column, uint64_t low, uint64_t high);
/* Clear bit in fails[] of all rows. */
void crossfilter_clear(uint16_t *fails, uint32_t nr, uint16_t bit);

/* Rows are grouped by a key, which is a number of a column, its translation by a map, or a bin of the column. */
struct crossfilter_key {
	struct crossfilter_column column; /* data NULL, which bins cannot have: all rows have number 0 */
	const uint32_t *map;		  /* key of each number below nr_map, others have none; NULL: the numbers are the keys */
	uint32_t nr_map;
	uint32_t nr;	 /* number of keys; rows whose key is not below it are in no sum */
	uint64_t origin; /* number at which bin 0 starts */
	double per_bin;	 /* 1 / width of a bin; 0: keys are no bins */
	bool grows;	 /* the column's numbers never get smaller from row to row, so many rows at a time can be in one bin */
	/* if not NULL, this is a pair of keys: own key * inner->nr + key of inner, and nr is the number of pairs */
	const struct crossfilter_key *inner;
};

struct crossfilter_sum {
	double samples, weight, weight_squares;
};

struct crossfilter {
	uint32_t nr;
	const uint16_t *fails;
	/* The share of its sample that a row has is share[number in column way].  share NULL: each row is a whole sample. */
	struct crossfilter_column way;
	const double *share;
	/* The weight of a row's sample is weight_of[number in column weight], or that number itself if weight_of is NULL.  With weight.data
	 * NULL, it is weight_of[0] for all rows. */
	struct crossfilter_column weight;
	const double *weight_of;
};

/* Set sum[key a * b->nr + key b], for all pairs of keys, to the sum of the rows from first to end - 1 with these keys that pass all filters
 * but those whose bits are in except. */
void crossfilter_sum_groups(const struct crossfilter *c, uint32_t first, uint32_t end, uint16_t except, const struct crossfilter_key *a,
			    const struct crossfilter_key *b, struct crossfilter_sum *sum);
/* Returns the first row whose number is not below the value, or nr if there is none.  The numbers of the column must never get smaller from
 * row to row. */
uint32_t crossfilter_find(struct crossfilter_column column, uint32_t nr, uint64_t value);

#endif
