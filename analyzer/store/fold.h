/* SPDX-License-Identifier: MIT */
/* A trace's sums, as an epoch of a store.  Context: thread. */
#ifndef TAILOR_STORE_FOLD_H
#define TAILOR_STORE_FOLD_H

#include "analyzer/query/report.h"
#include "analyzer/store/store.h"

/* An event of its own: code objects that were generated, by what they are called. */
#define FOLD_LOADS "code loads"

struct fold {
	uint32_t level; /* LEVELS_MAX: the trace has no plan */
	struct report_group *places, *reasons;
};

/* Request the sums, before the samples are read. */
void fold_ask(struct fold *f, struct report *r);
/* One transaction.  0; 1: the store has this epoch already; or -errno with a sentence, and the store is as it was. */
int fold_add(const struct fold *f, struct report *r, struct store *s, struct diag *d);

#endif
