/* SPDX-License-Identifier: MIT */
/*
 * What a function's blocks lost against their best cases, and why (culprits.h): of a report whose event is cycles, of blocks whose
 * executions are known.  Context: thread.
 */
#ifndef TAILOR_STALLS_H
#define TAILOR_STALLS_H

#include "analyzer/listing/blocks.h"
#include "analyzer/listing/culprits.h"

/* Does the report's event count cycles? */
bool stalls_are_measured(const struct report *r);
/* Of each block of f; malloc()ed, the caller's, or NULL without memory.  total: of each event over all samples. */
struct block_stalls *stalls_of_blocks(struct report *r, const struct group_sum total[VIEW_EVENTS_MAX], const struct hot *h,
				      const struct graph *f);
/* What the code of each block says; malloc()ed, the caller's, or NULL without memory.  Best cases are of blocks with samples: of the
 * report's event, or of any. */
struct block_code *stalls_read_code(struct report *r, const struct hot *h, const struct graph *f, bool any_event);
/* What stalls are known by: the simulator, and how it was asked; NULL: nothing was simulated.  *known: best cases are its. */
const char *stalls_about_simulator(const struct report *r, bool *known);
/* A table of the blocks that lost a noteworthy part. */
void stalls_show_blocks(const struct hot *h, const struct graph *f, const struct block_stalls *b, struct page *p);
/* Which best case that is; nothing where no block was asked for. */
void stalls_print_simulator(const struct report *r, struct page *p);
/* The event that bounds a cause, by its name; "code" where none does. */
const char *stalls_name_of_evidence(const struct report *r, const struct group_sum total[VIEW_EVENTS_MAX], enum culprit c);

#endif
