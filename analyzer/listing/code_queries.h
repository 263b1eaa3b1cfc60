/* SPDX-License-Identifier: MIT */
/* Compilation and execution times from the host's marks. Context: thread. */
#ifndef TAILOR_CODE_QUERIES_H
#define TAILOR_CODE_QUERIES_H

#include "analyzer/view/view.h"

/* How long did a mark take (ns)? Is it a compilation? Is it an execution? The last two are asked of marks with a name only. */
double code_mark_ns(const struct report *r, const struct mark *k);
bool code_mark_is_compiling(const struct mark *k);
bool code_mark_is_run(const struct report *r, const struct mark *k);
/* Show compilation time per query, and the executions needed to amortize it. */
void code_show_queries(struct report *r, struct page *p);

#endif
