/* SPDX-License-Identifier: MIT */
/* What keeps a store in order.  Context: thread. */
#ifndef TAILOR_STORE_TEND_H
#define TAILOR_STORE_TEND_H

#include "analyzer/output/page.h"
#include "analyzer/store/cap.h"
#include "analyzer/store/store.h"

#include <stdio.h>

/* Epochs of more than two days ago become hours, those of more than four weeks ago days; then the cap is kept (cap.h).  work: may be
 * NULL.  0, or -errno with a sentence. */
int tend_store(struct store *s, int64_t now_ns, struct cap_work *work, struct diag *d);
/* Estimates what tending would drop with this cap (0: the store's).  Nothing is changed. */
struct tend_foreseen {
	uint32_t nr_folded; /* epochs that become parts of hours or days */
	struct cap_work work;
};
int tend_foresee(struct store *s, int64_t now_ns, uint64_t cap, struct tend_foreseen *f, struct diag *d);
/* Writes a line for each thing that is damaged; *nr: how many.  0, or -errno with a sentence where it cannot be looked at. */
int tend_check(struct store *s, FILE *to, uint32_t *nr, struct diag *d);
/* A copy as of one moment. */
int tend_copy(struct store *s, const char *path, struct diag *d);
/* The answer as a table. */
int tend_sql(struct store *s, const char *query, struct page *p, struct diag *d);

#endif
