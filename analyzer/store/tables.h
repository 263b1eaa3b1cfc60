/* SPDX-License-Identifier: MIT */
/* Sums of a store as tables.  Context: thread. */
#ifndef TAILOR_STORE_TABLES_H
#define TAILOR_STORE_TABLES_H

#include "analyzer/output/page.h"
#include "analyzer/store/sums.h"

/* What the sums are of: facts of the page, and in text a sentence. */
void tables_describe(struct page *p, const struct sums *s);
/* Lines with their shares.  0, or -errno with a sentence. */
int tables_lines(struct page *p, struct store *store, enum sums_by by, const struct sums *s, struct diag *d);
/* Lines over time: the first ones of p->top, and what the others leave. */
int tables_timeline(struct page *p, struct store *store, enum sums_by by, const struct sums *s, struct diag *d);
void tables_epochs(struct page *p, const struct sums *s);
/* Why samples have no component, and what was lost. */
int tables_reasons(struct page *p, struct store *store, const struct sums *s, struct diag *d);

#endif
