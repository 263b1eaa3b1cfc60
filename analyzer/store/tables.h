/* SPDX-License-Identifier: MIT */
/* Shows sums of a store as tables.  Context: thread. */
#ifndef TAILOR_STORE_TABLES_H
#define TAILOR_STORE_TABLES_H

#include "analyzer/output/page.h"
#include "analyzer/store/sums.h"

/* Describes what was summed up, as facts of the page, and as sentences in text. */
void tables_describe(struct page *p, const struct sums *s);
/* Shows lines with their shares.  Returns 0, or -errno with a sentence. */
int tables_lines(struct page *p, struct store *store, enum sums_by by, const struct sums *s, struct diag *d);
/* Shows the first p->top lines over time (0: all lines).  Returns 0, or -errno with a sentence. */
int tables_timeline(struct page *p, struct store *store, enum sums_by by, const struct sums *s, struct diag *d);
void tables_epochs(struct page *p, const struct sums *s);
/* Shows why samples have no component, and what was lost.  Returns 0, or -errno with a sentence. */
int tables_reasons(struct page *p, struct store *store, const struct sums *s, struct diag *d);

#endif
