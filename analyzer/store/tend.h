/* SPDX-License-Identifier: MIT */
/* Maintains, checks, copies and queries a store.  Context: thread. */
#ifndef TAILOR_STORE_TEND_H
#define TAILOR_STORE_TEND_H

#include "analyzer/output/page.h"
#include "analyzer/store/cap.h"
#include "analyzer/store/store.h"

#include <stdio.h>

/* Adds up epochs older than two days by the hour, and those older than four weeks by the day, then keeps the cap (cap.h). work: may be
 * NULL.  Returns 0, or -errno with the reason in d. */
int tend_store(struct store *s, int64_t now_ns, struct cap_work *work, struct diag *d);
struct tend_foreseen {
	uint32_t nr_folded; /* epochs that become parts of hours, plus epochs and hours that become parts of days */
	struct cap_work work;
};
/* Estimates what tend_store() would do with this cap (0: the store's), without changing the store. f->work is that for the epochs as they
 * are, since nothing is added up. Returns 0, or -errno with the reason in d. */
int tend_foresee(struct store *s, int64_t now_ns, uint64_t cap, struct tend_foreseen *f, struct diag *d);
/* Writes a line for each damage, at most 1000 for each test of a table and for each block, or that nothing is damaged if *nr stays 0. Adds
 * the number of these damages to *nr. Returns 0, or -errno with the reason in d if the store cannot be checked. */
int tend_check(struct store *s, FILE *to, uint32_t *nr, struct diag *d);
/* Copies the store as it is at one moment to path, also while another process writes to it.  Returns 0, or -errno with the reason in d. */
int tend_copy(struct store *s, const char *path, struct diag *d);
/* Runs one SQL query, and shows its rows as a table of texts.  Returns 0, or -errno with the reason in d. */
int tend_sql(struct store *s, const char *query, struct page *p, struct diag *d);

#endif
