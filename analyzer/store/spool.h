/* SPDX-License-Identifier: MIT */
/* The folder in which epochs' traces are until a store has them; the newest stay, to be looked at.  Context: thread. */
#ifndef TAILOR_STORE_SPOOL_H
#define TAILOR_STORE_SPOOL_H

#include "analyzer/store/store.h"
#include "analyzer/store/window.h"

/*
 * Of the traces in the folder of this file no more than SPOOL_MAX stay, or keep if that is more, whatever becomes of the store: it cannot
 * be opened, or who adds to it is killed.  *nr_dropped: how many went.  0, or -errno with a sentence.
 */
#define SPOOL_MAX 48
int spool_bound(const char *file, uint32_t keep, uint32_t *nr_dropped, struct diag *d);

/* Traces in that folder that the store has not are given to add(), but for the newest, which is being written.  All but the newest keep are
 * removed if the store has them then, or they are empty.  0, or -errno with a sentence. */
int spool_tidy(struct store *s, const char *file, uint32_t keep, void (*add)(void *context, const char *path), void *context,
	       struct diag *d);

/* The traces of one recording, in the order of time: malloc. */
struct spool_traces {
	char **path;
	uint32_t nr;
	uint32_t nr_others; /* of earlier recordings, in the same window */
	int64_t begin_ns, end_ns, newest_ns; /* UTC; newest: the end of the last one that is there, in the window or not; 0: none is */
};

/* Of the epochs in a store's folder (STORE.epochs) those that have something of the window, of the newest recording that has any.  0, or
 * -errno with a sentence: there is no such folder. */
int spool_find(const char *store, const struct window *w, struct spool_traces *out, struct diag *d);
void spool_traces_fini(struct spool_traces *t);

#endif
