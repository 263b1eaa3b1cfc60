/* SPDX-License-Identifier: MIT */
/* Adds a trace's sums to a store, as an epoch.  Context: thread. */
#ifndef TAILOR_STORE_FOLD_H
#define TAILOR_STORE_FOLD_H

#include "analyzer/query/report.h"
#include "analyzer/store/store.h"

/* The event whose samples are code objects that were generated, by their names. */
#define FOLD_LOADS "code loads"

struct fold {
	uint32_t level; /* LEVELS_MAX: the trace has no plan */
	struct report_group *places, *reasons;
};

/* Request the sums, before the samples are read. */
void fold_ask(struct fold *f, struct report *r);
/* Adds the epoch in one transaction.  Returns 0, 1 if the store has this epoch already, or -errno with a sentence, and the epoch is not
 * added. */
int fold_add(const struct fold *f, struct report *r, struct store *s, struct diag *d);

#endif
