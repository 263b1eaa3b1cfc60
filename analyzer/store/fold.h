/* SPDX-License-Identifier: MIT */
/* Adds a trace's sums to a store, as an epoch.  Context: thread. */
#ifndef TAILOR_STORE_FOLD_H
#define TAILOR_STORE_FOLD_H

#include "analyzer/query/report.h"
#include "analyzer/store/store.h"

/* A store counts generated code under this event. A code object is one sample, and its function is the object's name with # in place of
 * numbers, except those of lines. Objects beyond the first few thousand names of an epoch have one name together. */
#define FOLD_LOADS "code loads"

struct fold {
	/* levels of the components that are stored: nodes of plans, queries, and functions of languages whose hosts declare no levels
	 * (host_levels.h); LEVELS_MAX: the trace has none */
	uint32_t node, query, called;
	struct report_group *places, *reasons;
	struct report_group *stacks; /* NULL: no function of a language can have a total */
};

/* Makes the report add up the groups that fold_add() needs, which need no lines of code.  Call before the samples are read. */
void fold_ask(struct fold *f, struct report *r);
/* Adds the epoch. First it makes room under the cap, which may remove older epochs, and adds names. The epoch itself is added in one
 * transaction. Returns 0, or 1 if the store had this epoch already, or -errno with the reason in d. Unless it returns 0, the epoch is not
 * added. */
int fold_add(const struct fold *f, struct report *r, struct store *s, struct diag *d);

#endif
