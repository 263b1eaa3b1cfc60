/* SPDX-License-Identifier: MIT */
/* A store in memory, of rows that come from elsewhere: what is asked of it is asked as of any other.  Context: thread. */
#ifndef TAILOR_STORE_GATHER_H
#define TAILOR_STORE_GATHER_H

#include "analyzer/store/rows.h"

/* name: what messages call it.  0, or -errno with a sentence. */
int gather_begin(const char *name, struct store **out, struct diag *d);
/* Their numbers; 0: the store has failed. */
int64_t gather_series(struct store *s, const struct rows_series *x);
int64_t gather_function(struct store *s, const struct rows_function *x);
/* Rows by those numbers; function: 0: of no function. */
void gather_epoch(struct store *s, const struct rows_epoch *e, const struct rows_row *row, uint32_t nr);
/* 0; or -errno with a sentence, and the store is closed. */
int gather_end(struct store *s, struct diag *d);

#endif
