/* SPDX-License-Identifier: MIT */
/*
 * Batch sums count samples that have the same answer (CACHES.md), so that no row is looked up for them.  A sample adds one to the count of
 * its event, process, instruction and mode, or of the value of its tag.  The counts belong to a moment: a stretch of time in which nothing
 * changes that these answers depend on.  They are used only if rows are sums that do not differ by processor.  Samples that are not known
 * here are left to fast_path_find_known(), from whose answers batch_sums_learn() learns.
 *
 * Context: thread.
 */
#ifndef TAILOR_BATCH_SUMS_H
#define TAILOR_BATCH_SUMS_H

#include "analyzer/attribute/fast_path.h"

struct batch_sums;

/* Makes the sums of one event.  Returns NULL if memory ran out.  by_place: rows.by_place.  by_thread: rows differ by thread. */
struct batch_sums *batch_sums_create(struct lookup_cache *r, bool by_place, bool by_thread);
void batch_sums_destroy(struct batch_sums *t);

/* Begins with g's block. g must stay valid until the block is done. If this returns false, the caller fetches all sums by
 * batch_sums_next_sum(), which ends the moment, and calls this again. */
bool batch_sums_begin(struct batch_sums *t, const struct fast_path *g);
/* Counts samples from i on, up to the first that is not known.  Returns its number, or the number of samples. */
uint32_t batch_sums_add_known(struct batch_sums *t, uint32_t i);
/* Learns the answer that fast_path_find_known() gave for sample i. location: its index in the locator. code_facts: those of its place,
 * or 0 if it is in the kernel. Returns true if the sample is counted, and samples like it are from now on. If this returns false, the
 * caller adds the sample to the rows. */
bool batch_sums_learn(struct batch_sums *t, uint32_t i, const struct row_facts *f, uint32_t location,
		      const struct lookup_cache_place *place, const struct lookup_cache_thread *who, unsigned code_facts);

/* Checks whether the moment is over: many samples were later than its end.  Then fetch all sums by batch_sums_next_sum(), so that the next
 * sample begins another moment. */
bool batch_sums_moment_over(const struct batch_sums *t);

/* This is the sum of samples that are alike, with the facts of one of them. facts.location may be invalid by now, so the caller sets it by
 * location. */
struct batch_sums_sum {
	struct row_facts facts;
	uint32_t location;
	bool is_place; /* the samples are at one instruction, so code_facts are theirs */
	/* the samples are of one row.  If tags decide, there are separate sums of places and of rows, and a sample is in one of each */
	bool is_row;
	unsigned code_facts;
	uint64_t samples, first_ns, last_ns;
	double weight, weight_squares;
};
/* Returns the next sum, first with *at = 0.  Returns false if there are no more, and the moment has then ended. */
bool batch_sums_next_sum(struct batch_sums *t, uint32_t *at, struct batch_sums_sum *out);

#endif
