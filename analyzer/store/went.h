/* SPDX-License-Identifier: MIT */
/* Epochs that a store gave up to keep its cap, as sums in its table meta (epochs.c).  Context: thread. */
#ifndef TAILOR_STORE_WENT_H
#define TAILOR_STORE_WENT_H

#include "analyzer/store/store.h"

struct went {
	int64_t epochs; /* as they were recorded; 0: none, and the rest has no meaning */
	double samples;
	int64_t begin_ns, end_ns; /* of the first and the last of them, UTC */
};

/* Inside a transaction. */
void went_add(struct store *s, const struct went *w);
void went_read(struct store *s, struct went *w);

#endif
