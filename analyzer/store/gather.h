/* SPDX-License-Identifier: MIT */
/* Fills a store in memory with rows from elsewhere.  It answers questions like any other store.  Context: thread. */
#ifndef TAILOR_STORE_GATHER_H
#define TAILOR_STORE_GATHER_H

#include "analyzer/store/rows.h"

/* Opens the store.  name: its name in messages.  Returns 0, or -errno with a sentence. */
int gather_begin(const char *name, struct store **out, struct diag *d);
/* Add a series or a function.  Return its number, or 0 if the store has failed. */
int64_t gather_series(struct store *s, const struct rows_series *x);
int64_t gather_function(struct store *s, const struct rows_function *x);
/* Adds an epoch with rows of those numbers.  A row with function 0 has no function. */
void gather_epoch(struct store *s, const struct rows_epoch *e, const struct rows_row *row, uint32_t nr);
/* Call after the last epoch.  Returns 0, or -errno with a sentence, and the store is closed then. */
int gather_end(struct store *s, struct diag *d);

#endif
