/* SPDX-License-Identifier: MIT */
/* The folder in which traces of epochs wait until a store has them.  The newest ones stay, so that users can read them.  Context:
 * thread. */
#ifndef TAILOR_STORE_SPOOL_H
#define TAILOR_STORE_SPOOL_H

#include "analyzer/store/store.h"
#include "analyzer/store/window.h"

/*
 * Removes the oldest traces in the folder of this file, until SPOOL_MAX or `keep` are left, whichever is more.  This bounds the folder also
 * if the store cannot be opened, or the process that adds to it is killed.  *nr_dropped: how many were removed.  Returns 0, or -errno with
 * a sentence.
 */
#define SPOOL_MAX 48
int spool_bound(const char *file, uint32_t keep, uint32_t *nr_dropped, struct diag *d);

/* Calls add() for each trace in that folder that the store lacks, except the newest one, which is being written.  Then removes traces that
 * the store has or that are empty, except the newest `keep` ones.  Returns 0, or -errno with a sentence. */
int spool_tidy(struct store *s, const char *file, uint32_t keep, void (*add)(void *context, const char *path), void *context,
	       struct diag *d);

/* The traces of one recording, sorted by time.  Free with spool_traces_fini(). */
struct spool_traces {
	char **path;
	uint32_t nr;
	uint32_t nr_others; /* traces of earlier recordings in the same window */
	int64_t begin_ns, end_ns, newest_ns; /* UTC; newest: latest end of all traces, also outside of the window; 0: no traces */
};

/* Finds the traces in a store's folder (STORE.epochs) that overlap the window, of the newest recording that has any.  Returns 0, or -errno
 * with a sentence if the folder cannot be used. */
int spool_find(const char *store, const struct window *w, struct spool_traces *out, struct diag *d);
void spool_traces_fini(struct spool_traces *t);

#endif
