/* SPDX-License-Identifier: MIT */
/* Counts the epochs that a store has removed to keep its cap, as sums in its table meta (in epochs.c).  Context: thread. */
#ifndef TAILOR_STORE_WENT_H
#define TAILOR_STORE_WENT_H

#include "analyzer/store/store.h"

struct went {
	int64_t epochs; /* number of epochs as recorded; 0: none, and the other members have no meaning */
	double samples;
	int64_t begin_ns, end_ns; /* beginning of the first one and end of the last one, UTC */
};

/* Adds epochs that are removed to the sums.  Call inside a transaction. */
void went_add(struct store *s, const struct went *w);
/* Sets *w to the sums, or to zeros if the store has removed none or has failed. */
void went_read(struct store *s, struct went *w);

#endif
