/* SPDX-License-Identifier: MIT */
/*
 * Counts of samples that have one answer (CACHES.md): while nothing changes that it depends on, a sample of an event, process, instruction
 * and mode, or of a tag's value, is one more, and no row is looked for.  Only where rows are sums not split by processor.
 * What is not known here is asked of fast_path_find_known(), whose answers are learnt.
 * Context: thread.
 */
#ifndef TAILOR_BATCH_SUMS_H
#define TAILOR_BATCH_SUMS_H

#include "analyzer/attribute/fast_path.h"

struct batch_sums;

/* NULL without memory.  One is for one event.  by_place: rows.by_place.  by_thread: rows differ by thread. */
struct batch_sums *batch_sums_create(struct lookup_cache *r, bool by_place, bool by_thread);
void batch_sums_destroy(struct batch_sums *t);

/* g's block is the next; false: first hand over what there is (batch_sums_next_sum()). */
bool batch_sums_begin(struct batch_sums *t, const struct fast_path *g);
/* Count samples from i on; returns the first that is not known, or the number of samples. */
uint32_t batch_sums_add_known(struct batch_sums *t, uint32_t i);
/* That sample, i, after fast_path_find_known() knew it, and the location's index in the locator.  code_facts: of its place, 0 without one.
 * true: it is counted, and so are those like it from now on. */
bool batch_sums_learn(struct batch_sums *t, uint32_t i, const struct row_facts *f, uint32_t location,
		      const struct lookup_cache_place *place, const struct lookup_cache_thread *who, unsigned code_facts);

/* The moment is over: hand over what there is. */
bool batch_sums_moment_over(const struct batch_sums *t);

/* Everything that is alike, once: with facts of one sample whose location is to be set. */
struct batch_sums_sum {
	struct row_facts facts;
	uint32_t location;
	bool is_place; /* samples at a place, of which `code_facts` holds; */
	bool is_row;   /* samples of one row.  Where tags decide, places and rows are not the same */
	unsigned code_facts;
	uint64_t samples, first_ns, last_ns;
	double weight, weight_squares;
};
/* The next; false: that was all, and nothing is left.  Begin with *at = 0, and go on to the end. */
bool batch_sums_next_sum(struct batch_sums *t, uint32_t *at, struct batch_sums_sum *out);

#endif
