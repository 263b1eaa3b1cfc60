/* SPDX-License-Identifier: MIT */
/*
 * A call tree is made of the sums of TABLE_STACK, and has calls of functions, or of components of a level.  A function that calls itself
 * is one call.  A function that is called again by way of others is a call of its own, below theirs, which sums of the function's calls
 * must leave out.  A component is on each way from the root only once: a call of one that is on the way already continues there.
 * Context: thread.
 */
#ifndef TAILOR_CALLTREE_H
#define TAILOR_CALLTREE_H

#include "analyzer/query/report.h"

struct call {
	uint32_t parent; /* index of the call above; [0] is the root */
	uint32_t key;	 /* function or component; 0: none */
	uint32_t depth;
	uint16_t flags; /* enum stack_flags of one of its frames */
	bool again;	 /* a call of the same function or component is above it */
	bool pair_again; /* a call of it by the same caller is above it */
	double own, total; /* measures: of the call itself; with all calls below */
	double own_samples, total_samples;
	uint32_t line;	 /* inverted, of functions: the line with most of its samples, as index in the attribution; 0: none */
	uint32_t *child; /* sorted: the largest total first */
	uint32_t nr_children;
};

struct calltree {
	struct call *call; /* parents come before their children */
	uint32_t nr, capacity;
	uint32_t level; /* LEVELS_MAX: the calls are of functions */
	uint32_t *children;
};

/* Makes the tree from a group whose only key is TABLE_STACK.  inverted: the tree leads from each sample's own function outwards to its
 * callers.  false: out of memory.  calltree_fini() must follow in any case. */
bool calltree_make(const struct report *r, const struct report_group *g, uint32_t level, bool inverted, struct calltree *t);
void calltree_fini(struct calltree *t);
/* Returns the name of a call's function or component.  spare: room for 32 bytes. */
const char *calltree_name(const struct report *r, const struct calltree *t, uint32_t call, char *spare);

/*
 * Inclusive sums: for each function, line, image or component, the samples whose call stack contains it, however often, and its own
 * samples if their stack does not show it because a tag decided.
 */
struct totals {
	struct group_sum *sum; /* sums by the column's value */
	uint32_t nr;
};

/* Asks for the sums that totals need, before samples are read.  column: TABLE_FUNCTION, TABLE_LINE, TABLE_IMAGE or a level.  NULL: the
 * trace has no call stacks. */
struct report_group *totals_ask(struct report *r, unsigned flags, enum table_column column);
/* Makes the totals.  g NULL: there are none.  false: out of memory.  totals_fini() must follow in any case. */
bool totals_make(const struct report *r, const struct report_group *g, struct totals *t);
void totals_fini(struct totals *t);
/* Returns the share of a group's samples whose call stack was truncated, so that totals of outer callers lack it.  g: a group from
 * totals_ask(), or NULL. */
double totals_truncated_share(const struct report *r, const struct report_group *g);

#endif
