/* SPDX-License-Identifier: MIT */
/* The traces that are kept of a store's window, which commands that read traces take in place of one.  Context: thread. */
#ifndef TAILOR_WINDOW_TRACE_H
#define TAILOR_WINDOW_TRACE_H

#include "analyzer/merge/merge.h"
#include "analyzer/store/spool.h"

/* Those of STORE[@WINDOW] in STORE.epochs; w: the window.  0, or -errno with a sentence: -ENOENT: none of it is kept. */
int window_find_traces(const char *text, const struct window *w, struct spool_traces *t, struct diag *d);
/* They as one trace, in a folder of its own below $TMPDIR; window_trace_remove() removes both.  *path: malloc.  0, or -errno with a
 * sentence. */
int window_trace_make(const char *text, const struct window *w, char **path, struct diag *d);
void window_trace_remove(char *path);

#endif
