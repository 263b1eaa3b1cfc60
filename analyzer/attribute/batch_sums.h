/* SPDX-License-Identifier: MIT */
/*
 * Batch sums count samples that have the same answer (CACHES.md).  While nothing changes that it depends on, a sample of an event,
 * process, instruction and mode, or of a tag's value, adds one to a count, and no row is looked up.  They are used only for rows that are
 * sums not split by processor.  Samples that are not known here are left to fast_path_find_known(), whose answers are learnt.
 * Context: thread.
 */
#ifndef TAILOR_BATCH_SUMS_H
#define TAILOR_BATCH_SUMS_H

#include "analyzer/attribute/fast_path.h"

struct batch_sums;

/* Makes the sums of one event.  NULL: out of memory.  by_place: rows.by_place.  by_thread: rows differ by thread. */
struct batch_sums *batch_sums_create(struct lookup_cache *r, bool by_place, bool by_thread);
void batch_sums_destroy(struct batch_sums *t);

/* Begins with g's block.  false: call batch_sums_next_sum() to the end first. */
bool batch_sums_begin(struct batch_sums *t, const struct fast_path *g);
/* Counts samples from i on.  Returns the first that is not known, or the number of samples. */
uint32_t batch_sums_add_known(struct batch_sums *t, uint32_t i);
/* Learns the answer that fast_path_find_known() gave for sample i.  location: its index in the locator.  code_facts: those of its place, 0
 * without a place.  Returns true if the sample is counted, and samples like it are from now on. */
bool batch_sums_learn(struct batch_sums *t, uint32_t i, const struct row_facts *f, uint32_t location,
		      const struct lookup_cache_place *place, const struct lookup_cache_thread *who, unsigned code_facts);

/* Returns true if the moment is over, so that the sums must be handed over. */
bool batch_sums_moment_over(const struct batch_sums *t);

/* The sum of samples that are alike, with the facts of one of them.  The caller sets facts.location. */
struct batch_sums_sum {
	struct row_facts facts;
	uint32_t location;
	bool is_place; /* the samples are at one place: code_facts hold for them */
	bool is_row;   /* the samples are of one row.  If tags decide, places and rows are not the same */
	unsigned code_facts;
	uint64_t samples, first_ns, last_ns;
	double weight, weight_squares;
};
/* Returns the next sum.  Begin with *at = 0, and go on until false: then none is left. */
bool batch_sums_next_sum(struct batch_sums *t, uint32_t *at, struct batch_sums_sum *out);

#endif
