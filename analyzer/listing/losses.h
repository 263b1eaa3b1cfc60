/* SPDX-License-Identifier: MIT */
/*
 * What the functions around some hits lost against the best cases of their blocks, and why: sums of stalls.h.  Context: thread.
 */
#ifndef TAILOR_LOSSES_H
#define TAILOR_LOSSES_H

#include "analyzer/listing/stalls.h"

struct loss {
	double cycles, floor; /* of the blocks that are known, and what these take without any stall */
	struct stall_bounds bounds;
	bool named; /* a block of it has causes worth a name */
};

struct losses {
	struct hot *hot; /* nr functions, the hottest first, without their bytes */
	struct loss *of; /* each */
	uint32_t nr; /* at most DISASSEMBLY_FUNCTIONS_MAX */
	struct loss sum;
};

/* hit: of hits_make_all() or hits_make_of_component().  total: of each event over the samples that the hits are of.  Nothing is known where
 * the report's event is no cycles, and without memory. */
void losses_analyze_functions(struct report *r, const struct group_sum total[VIEW_EVENTS_MAX], const struct hit *hit, uint32_t nr_hits,
			      struct losses *out);
void losses_fini(struct losses *l);
/* "data-cache miss 40-90 %, dependency 0-20 %": the two likeliest, as parts of its cycles; "": none is worth a name.  Returns text. */
const char *loss_causes(const struct loss *l, char *text, size_t bytes);

#endif
