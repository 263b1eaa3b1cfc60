/* SPDX-License-Identifier: MIT */
/*
 * The cycles that the functions around some hits lost against the best cases of their blocks, and the causes: sums of stalls.h. Context:
 * thread.
 */
#ifndef TAILOR_LOSSES_H
#define TAILOR_LOSSES_H

#include "analyzer/listing/stalls.h"

struct loss {
	double cycles, floor; /* cycles of the blocks that are known, and their cycles without any stall */
	struct stall_bounds bounds;
	bool named; /* a block has causes that are worth a name */
};

struct losses {
	struct hot *hot; /* nr functions, the hottest first, without their bytes */
	struct loss *of; /* the loss of each function */
	uint32_t nr; /* at most DISASSEMBLY_FUNCTIONS_MAX */
	struct loss sum;
};

/* Analyze the functions around hits of hits_make_all() or hits_make_of_component(). total: the sum of each event over the samples that the
 * hits are of. Without memory, and if the report's event is not cycles, nothing is known. */
void losses_analyze_functions(struct report *r, const struct group_sum total[VIEW_EVENTS_MAX], const struct hit *hit, uint32_t nr_hits,
			      struct losses *out);
void losses_fini(struct losses *l);
/* Write the two likeliest causes as parts of the loss's cycles: "data-cache miss 40-90 %, dependency 0-20 %". "": no cause is worth a name.
 * Return text. */
const char *loss_causes(const struct loss *l, char *text, size_t bytes);

#endif
