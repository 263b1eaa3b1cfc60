/* SPDX-License-Identifier: MIT */
/* Fills a store in memory with rows that come from a server (analyzer/fleet/read_clickhouse.c).  It answers questions like any other
 * store.  Context: thread. */
#ifndef TAILOR_STORE_GATHER_H
#define TAILOR_STORE_GATHER_H

#include "analyzer/store/rows.h"

/* Opens an empty store in memory. name: its name in messages.  Returns 0, or -errno with the reason in d. */
int gather_begin(const char *name, struct store **out, struct diag *d);
/* Add a series or a function.  Return its number, or 0 if the store has failed. */
int64_t gather_series(struct store *s, const struct rows_series *x);
int64_t gather_function(struct store *s, const struct rows_function *x);
/* Adds an epoch, whose rows have the numbers that gather_series() and gather_function() returned. function 0: the row has no function. */
void gather_epoch(struct store *s, const struct rows_epoch *e, const struct rows_row *row, uint32_t nr);
/* Commits the epochs. Call after the last one. Returns 0, or -errno with the reason in d. If it fails, it closes the store. */
int gather_end(struct store *s, struct diag *d);

#endif
