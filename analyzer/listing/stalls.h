/* SPDX-License-Identifier: MIT */
/*
 * Finds the cycles that a function's blocks lost against their best cases, and the causes (culprits.h). The report's event must be cycles.
 * Only blocks whose executions are known are analyzed. Context: thread.
 */
#ifndef TAILOR_STALLS_H
#define TAILOR_STALLS_H

#include "analyzer/listing/blocks.h"
#include "analyzer/listing/culprits.h"

/* Return whether the report's event counts cycles. */
bool stalls_are_measured(const struct report *r);
/* Return the stalls of each block of f. total: the sum of each event over the samples that are analyzed, by which the period of an event
 * without a fixed one is estimated. The caller frees them. If memory runs out, return NULL, or stalls that are not known. */
struct block_stalls *stalls_of_blocks(struct report *r, const struct group_sum total[VIEW_EVENTS_MAX], const struct hot *h,
				      const struct graph *f);
/* Return what the code of each block tells about one execution. Best cases are simulated for blocks with samples of the report's event, or
 * (any_event) with samples of any event. The caller frees the result. Return NULL if memory runs out. */
struct block_code *stalls_read_code(struct report *r, const struct hot *h, const struct graph *f, bool any_event);
/* Return the simulator of the best cases and its processor, or why there is none, or NULL if nothing was simulated. *known: the simulator
 * computed best cases. */
const char *stalls_about_simulator(const struct report *r, bool *known);
/* Show a table of the blocks that took at least 1 % of the function's cycles and lost a noteworthy part of them, or nothing if there are
 * none. */
void stalls_show_blocks(const struct hot *h, const struct graph *f, const struct block_stalls *b, struct page *p);
/* Print a sentence about the simulator of the best cases. Print nothing if no block was simulated. */
void stalls_print_simulator(const struct report *r, struct page *p);
/* Return the name of a recorded event that bounds a cause. If there is none, return "code", or "samples" for the kernel. */
const char *stalls_name_of_evidence(const struct report *r, const struct group_sum total[VIEW_EVENTS_MAX], enum culprit c);

#endif
