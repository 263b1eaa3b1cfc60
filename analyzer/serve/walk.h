/* SPDX-License-Identifier: MIT */
/* Walks over rows of a crossfilter with several threads, which end before the call returns.  Context: thread. */
#ifndef TAILOR_WALK_H
#define TAILOR_WALK_H

#include "analyzer/table/crossfilter.h"

#define WALK_THREADS_MAX 16u

/* Returns the number of threads for which so many rows and sums are work enough, from 1 to WALK_THREADS_MAX, and at most the number of
 * processors that this process may use. */
unsigned walk_threads(uint32_t rows, uint64_t cells);
/* Does the same as crossfilter_sum_groups(). Sums are added up in another order, so their last digits may differ. If memory runs out, the
 * caller's thread walks alone. It also walks the parts for which no thread could start. */
void walk_sums(unsigned threads, const struct crossfilter *c, uint32_t first, uint32_t end, uint16_t except,
	       const struct crossfilter_key *a, const struct crossfilter_key *b, struct crossfilter_sum *sum);
/* Do the same as crossfilter_apply_sets() and crossfilter_apply_range(). */
void walk_sets(unsigned threads, uint16_t *fails, uint32_t nr, uint16_t bit, const struct crossfilter_set *sets, uint32_t nr_sets);
void walk_range(unsigned threads, uint16_t *fails, uint32_t nr, uint16_t bit, struct crossfilter_column column, uint64_t low,
		uint64_t high);

#endif
