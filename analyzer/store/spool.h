/* SPDX-License-Identifier: MIT */
/* Keeps the folder in which traces of epochs wait until a store has them.  The newest traces stay longer, so that users can read them.
 * Context: thread. */
#ifndef TAILOR_STORE_SPOOL_H
#define TAILOR_STORE_SPOOL_H

#include "analyzer/store/store.h"
#include "analyzer/store/window.h"

#define SPOOL_MAX 48
/*
 * Removes the oldest traces in the folder of `file`, until SPOOL_MAX or `keep` of them are left, whichever is more.  This bounds the folder
 * also if the store cannot be opened, or if the process that adds to it is killed. *nr_dropped: how many were removed.  Returns 0, or
 * -errno with the reason in d if the folder cannot be listed.
 */
int spool_bound(const char *file, uint32_t keep, uint32_t *nr_dropped, struct diag *d);

/*
 * Goes through the traces in the folder of `file`, except the newest one, which may still be written.  Calls add() for a trace that the
 * store lacks and that is not empty.  Removes a trace that the store has by then or that is empty, unless it is one of the newest `keep`
 * ones.  Returns 0, or -errno with the reason in d if the folder cannot be listed.
 */
int spool_tidy(struct store *s, const char *file, uint32_t keep, void (*add)(void *context, const char *path), void *context,
	       struct diag *d);

/* The traces are those of one recording, in the order of their numbers.  Free with spool_traces_fini(). */
struct spool_traces {
	char **path;
	uint32_t nr;
	uint32_t nr_others; /* number of traces of other recordings in the same window */
	/* UTC; newest: latest end of all traces in the folder, also outside of the window; 0: no traces */
	int64_t begin_ns, end_ns, newest_ns;
};

/* Finds the traces in a store's folder (STORE.epochs) that overlap the window.  If they are of several recordings, only those of the
 * newest one are returned.  Returns 0, or -errno with the reason in d if the folder cannot be used or memory ran out. */
int spool_find(const char *store, const struct window *w, struct spool_traces *out, struct diag *d);
void spool_traces_fini(struct spool_traces *t);

#endif
