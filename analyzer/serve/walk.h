/* SPDX-License-Identifier: MIT */
/*
 * Walks over all rows of a crossfilter by several threads, which end before the call returns.  Context: thread.
 */
#ifndef TAILOR_WALK_H
#define TAILOR_WALK_H

#include "analyzer/table/crossfilter.h"

#define WALK_THREADS_MAX 16u

/* The number of threads that pays for so many rows and sums, from 1 to WALK_THREADS_MAX, at most one per processor. */
unsigned walk_threads(uint32_t rows, uint64_t cells);
/* Does crossfilter_sum_groups(), with sums added up in another order.  Without memory or threads the caller walks alone. */
void walk_sums(unsigned threads, const struct crossfilter *c, uint32_t first, uint32_t end, uint16_t except,
	       const struct crossfilter_key *a, const struct crossfilter_key *b, struct crossfilter_sum *sum);
/* Do crossfilter_apply_sets() and crossfilter_apply_range(). */
void walk_sets(unsigned threads, uint16_t *fails, uint32_t nr, uint16_t bit, const struct crossfilter_set *sets, uint32_t nr_sets);
void walk_range(unsigned threads, uint16_t *fails, uint32_t nr, uint16_t bit, struct crossfilter_column column, uint64_t low,
		uint64_t high);

#endif
