/* SPDX-License-Identifier: MIT */
/*
 * Sums up over functions the cycles that their blocks lost against their best cases, and the causes (stalls.h). Context: thread.
 */
#ifndef TAILOR_LOSSES_H
#define TAILOR_LOSSES_H

#include "analyzer/listing/stalls.h"

struct loss {
	double cycles, floor; /* cycles: those of the blocks that could be analyzed; floor: those without any stall, of the same blocks */
	struct stall_bounds bounds;
	bool named; /* some block has causes that are worth naming */
};

struct losses {
	struct hot *hot; /* the functions, the hottest first, without their bytes */
	struct loss *of; /* by function */
	uint32_t nr; /* at most DISASSEMBLY_FUNCTIONS_MAX */
	struct loss sum;
};

/* Analyze the functions around hits of hits_make_all() or hits_make_of_component(). total: the sum of each event over the samples that the
 * hits are of. If memory runs out, or the report's event is not cycles, out has no functions. Call losses_fini() in any case. */
void losses_analyze_functions(struct report *r, const struct group_sum total[VIEW_EVENTS_MAX], const struct hit *hit, uint32_t nr_hits,
			      struct losses *out);
void losses_fini(struct losses *l);
/* Write the two likeliest causes as shares of the loss's cycles, "data-cache miss 40-90 %, dependency 0-20 %", or "" if no cause is worth
 * naming. Return text. */
const char *loss_causes(const struct loss *l, char *text, size_t bytes);

#endif
