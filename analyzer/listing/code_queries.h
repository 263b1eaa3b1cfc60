/* SPDX-License-Identifier: MIT */
/* Finds compilation and execution times in the host's marks. Context: thread. */
#ifndef TAILOR_CODE_QUERIES_H
#define TAILOR_CODE_QUERIES_H

#include "analyzer/view/view.h"

/* code_mark_ns() returns how long a mark took (ns), up to the last sample if it has no end. The others tell whether it is of a compilation,
 * or of an execution. They need a mark with a name. */
double code_mark_ns(const struct report *r, const struct mark *k);
bool code_mark_is_compiling(const struct mark *k);
bool code_mark_is_run(const struct report *r, const struct mark *k);
/* Show a table of queries by compilation time, with the executions that amortize it, or nothing if no mark has the text of a query. */
void code_show_queries(struct report *r, struct page *p);

#endif
