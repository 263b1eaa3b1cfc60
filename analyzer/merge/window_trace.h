/* SPDX-License-Identifier: MIT */
/* Finds and merges the traces of a store's window, which commands that read traces accept in place of one trace. Context: thread. */
#ifndef TAILOR_WINDOW_TRACE_H
#define TAILOR_WINDOW_TRACE_H

#include "analyzer/merge/merge.h"
#include "analyzer/store/spool.h"

/* Find the traces of STORE[@WINDOW] in the folder STORE.epochs. w is the window, and that in the text is ignored. Return 0, or -errno with
 * the reason in d. Return -ENOENT if no trace of the window is there. The caller frees t by spool_traces_fini() in any case. */
int window_find_traces(const char *text, const struct window *w, struct spool_traces *t, struct diag *d);
/* Merge these traces into one, in a new folder in $TMPDIR (/tmp). Return 0 and its path, which window_trace_remove() frees after removing
 * the trace and the folder. Return -errno with the reason in d, and *path is NULL then. */
int window_trace_make(const char *text, const struct window *w, char **path, struct diag *d);
void window_trace_remove(char *path);

#endif
