/* SPDX-License-Identifier: MIT */
/* The folder in which epochs' traces are until a store has them; the newest stay, to be looked at.  Context: thread. */
#ifndef TAILOR_STORE_SPOOL_H
#define TAILOR_STORE_SPOOL_H

#include "analyzer/store/store.h"

/*
 * Traces in the folder of this file that the store has not are given to add(), but for the newest, which is being written.  All but the
 * newest keep are removed if the store has them then; of those that it never takes no more than SPOOL_MAX stay.  *nr_dropped: how many
 * went so.  0, or -errno with a sentence.
 */
#define SPOOL_MAX 48
int spool_tidy(struct store *s, const char *file, uint32_t keep, void (*add)(void *context, const char *path), void *context,
	       uint32_t *nr_dropped, struct diag *d);

#endif
