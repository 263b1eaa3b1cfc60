/* SPDX-License-Identifier: MIT */
/* The traces of a store's window, which commands that read traces accept in place of one trace. Context: thread. */
#ifndef TAILOR_WINDOW_TRACE_H
#define TAILOR_WINDOW_TRACE_H

#include "analyzer/merge/merge.h"
#include "analyzer/store/spool.h"

/* Find the traces of STORE[@WINDOW] in STORE.epochs. w: the window. Return 0, or -errno with a sentence. -ENOENT: no trace of the window is
 * there. */
int window_find_traces(const char *text, const struct window *w, struct spool_traces *t, struct diag *d);
/* Merge these traces into one, in a folder of its own below $TMPDIR. window_trace_remove() removes both. *path: malloc. Return 0, or -errno
 * with a sentence. */
int window_trace_make(const char *text, const struct window *w, char **path, struct diag *d);
void window_trace_remove(char *path);

#endif
