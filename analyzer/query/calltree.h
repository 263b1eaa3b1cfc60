/* SPDX-License-Identifier: MIT */
/*
 * Calls as a tree, from the sums of TABLE_STACK: of functions, or of components of a level.  A function that calls itself is one call.
 * One that is called again by way of others is a call of its own, below theirs: who sums up calls of one function leaves these out.  Of
 * components each stands once on a way from the root: a call of what is on the way already goes on there.  Context: thread.
 */
#ifndef TAILOR_CALLTREE_H
#define TAILOR_CALLTREE_H

#include "analyzer/query/report.h"

struct call {
	uint32_t parent; /* call; [0] is the root */
	uint32_t key;	 /* function or component; 0: none */
	uint32_t depth;
	uint16_t flags; /* enum stack_flags of one of its frames */
	bool again;	 /* there is a call of the same above it */
	bool pair_again; /* there is a call by the same caller above it */
	double own, total; /* measure; total: with all below */
	double own_samples, total_samples;
	uint32_t line;	 /* inverted, of functions: the one of most of its samples, as the attribution has lines; 0: none */
	uint32_t *child; /* sorted: the largest total first */
	uint32_t nr_children;
};

struct calltree {
	struct call *call; /* parents come before their children */
	uint32_t nr, capacity;
	uint32_t level; /* LEVELS_MAX: of functions */
	uint32_t *children;
};

/* From a group with the one key TABLE_STACK.  inverted: from each sample's own function outwards to its callers.  false
 * without memory; calltree_fini() in any case. */
bool calltree_make(const struct report *r, const struct report_group *g, uint32_t level, bool inverted, struct calltree *t);
void calltree_fini(struct calltree *t);
/* What a call is of; spare has room for 32. */
const char *calltree_name(const struct report *r, const struct calltree *t, uint32_t call, char *spare);

/*
 * Inclusive sums: of each function, line, image or component, the samples whose call stack contains it, however often, and those that are
 * its own where the stack does not show it (a tag decided).
 */
struct totals {
	struct group_sum *sum; /* by the column's value */
	uint32_t nr;
};

/* Of TABLE_FUNCTION, _LINE, _IMAGE, or of a level; before samples are read.  NULL: the trace has no call stacks. */
struct report_group *totals_ask(struct report *r, unsigned flags, enum table_column column);
/* g NULL: none.  false without memory; totals_fini() in any case. */
bool totals_make(const struct report *r, const struct report_group *g, struct totals *t);
void totals_fini(struct totals *t);
/* Of such a group, or NULL: the share of samples whose call stack was truncated, so that totals of outer callers lack it. */
double totals_truncated_share(const struct report *r, const struct report_group *g);

#endif
