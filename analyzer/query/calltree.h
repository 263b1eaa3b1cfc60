/* SPDX-License-Identifier: MIT */
/*
 * Makes a call tree from the sums by TABLE_STACK. Its calls are of functions, or of components of a level. The second part makes inclusive
 * sums (struct totals) without a tree.
 *
 * A function that calls itself is one call. A function that is called again by way of others is a call of its own, below theirs. If calls
 * of a function are added up, such a call must be left out (call.again), because the sum above contains it. A component is on each way from
 * the root only once. If it is called again by way of others, that counts for its earlier call.
 *
 * Context: thread.
 */
#ifndef TAILOR_CALLTREE_H
#define TAILOR_CALLTREE_H

#include "analyzer/query/report.h"
#include "jitreg/base/grow.h"

struct call {
	uint32_t parent; /* index of the call above; [0] is the root */
	uint32_t key;	 /* function or component; 0: none */
	uint32_t depth;
	uint16_t flags; /* enum stack_flags of one of its frames */
	bool again;	 /* a call of the same function or component is above it */
	bool pair_again; /* a call of the same function or component by the same caller is above it */
	double own, total; /* sums of report_measure(), for the call itself, and with all calls below it */
	double own_samples, total_samples;
	/* in inverted trees of functions: the line with most of the call's samples, as an index in the attribution; 0: none */
	uint32_t line;
	uint32_t *child; /* sorted: the largest total first */
	uint32_t nr_children;
};

struct calltree {
	ARRAY_OF(struct call); /* parents come before their children */
	uint32_t level; /* LEVELS_MAX: the calls are of functions */
	uint32_t *children;
};

/* Makes the tree from a group whose only key is TABLE_STACK. level: LEVELS_MAX for functions. inverted: the tree leads from each sample's
 * own function outwards to its callers. Returns false if memory ran out. calltree_fini() must follow in any case. */
bool calltree_make(const struct report *r, const struct report_group *g, uint32_t level, bool inverted, struct calltree *t);
void calltree_fini(struct calltree *t);
/* Returns the name of a call's function or component, or "(all)" for the root.  spare: room for 32 bytes. */
const char *calltree_name(const struct report *r, const struct calltree *t, uint32_t call, char *spare);

/*
 * Makes inclusive sums.  The sum of a function, line, image or component has the samples whose call stack contains it, each once however
 * often that is.  It also has those that are of the component by a tag, although their stack does not contain it.
 */
struct totals {
	struct group_sum *sum; /* sums by the column's value (report_same_value()) */
	uint32_t nr;
};

/* Asks for the call stacks and sums that totals need, before samples are read. column: TABLE_FUNCTION, TABLE_LINE, TABLE_IMAGE or a level.
 * Returns NULL if the trace has no call stacks. */
struct report_group *totals_ask(struct report *r, unsigned flags, enum table_column column);
/* Makes the totals. g: from totals_ask(), or NULL, for which there are none. If the trace's budget is spent, they are incomplete. Returns
 * false if memory ran out. totals_fini() must follow in any case. */
bool totals_make(const struct report *r, const struct report_group *g, struct totals *t);
void totals_fini(struct totals *t);
/* Returns the share (0..1) of a group's samples whose call stack was truncated, so that the totals of their outer callers lack them. It is
 * too small if the trace's budget is spent. g: a group from totals_ask(), or NULL, for which 0 is returned. */
double totals_truncated_share(const struct report *r, const struct report_group *g);

#endif
