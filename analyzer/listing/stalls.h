/* SPDX-License-Identifier: MIT */
/*
 * What a function's blocks lost against their best cases, and why (culprits.h): of a report whose event is cycles, of blocks whose
 * executions are known.  Context: thread.
 */
#ifndef TAILOR_STALLS_H
#define TAILOR_STALLS_H

#include "analyzer/listing/blocks.h"
#include "analyzer/listing/culprits.h"

struct block_stalls {
	bool known; /* it has samples, and its executions are known */
	double cycles, best, floor, executions;
	bool simulated; /* best is llvm-mca's */
	struct stall_bounds bounds;
};

/* Does the report's event count cycles? */
bool stalls_are_measured(const struct report *r);
/* Of each block of f; malloc()ed, the caller's, or NULL without memory.  total: of each event over all samples. */
struct block_stalls *stalls_of_blocks(struct report *r, const struct group_sum total[VIEW_EVENTS_MAX], const struct hot *h,
				      const struct graph *f);
/* The causes that may explain a noteworthy part of a block. */
int stalls_rank(const struct block_stalls *b, enum culprit order[NR_CULPRITS]);
/* A table of the blocks that lost a noteworthy part. */
void stalls_show_blocks(const struct hot *h, const struct graph *f, const struct block_stalls *b, struct page *p);
/* Which best case that is; nothing where no block was asked for. */
void stalls_print_simulator(const struct report *r, struct page *p);
/* The event that bounds a cause, by its name; "code" where none does. */
const char *stalls_name_of_evidence(const struct report *r, const struct group_sum total[VIEW_EVENTS_MAX], enum culprit c);

#endif
