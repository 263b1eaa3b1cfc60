/* SPDX-License-Identifier: MIT */
/* Shows sums of a store as tables.  Context: thread. */
#ifndef TAILOR_STORE_TABLES_H
#define TAILOR_STORE_TABLES_H

#include "analyzer/output/page.h"
#include "analyzer/store/sums.h"

/* Describes the event, the epochs and the time that were summed up, as facts and as sentences of the page. */
void tables_describe(struct page *p, const struct sums *s);
/* Shows all lines with their shares of the weight.  Returns 0, or -errno with the reason in d. */
int tables_lines(struct page *p, struct store *store, enum sums_by by, const struct sums *s, struct diag *d);
/* Shows the shares of the first p->top lines (0: all lines) in each epoch.  Returns 0, or -errno with the reason in d. */
int tables_timeline(struct page *p, struct store *store, enum sums_by by, const struct sums *s, struct diag *d);
void tables_epochs(struct page *p, const struct sums *s);
/* Shows the reasons for samples without a component, and counts of what was lost.  Returns 0, or -errno with the reason in d. */
int tables_reasons(struct page *p, struct store *store, const struct sums *s, struct diag *d);

#endif
