/* SPDX-License-Identifier: MIT */
/* What the host's marks tell of generating code and of running it.  Context: thread. */
#ifndef TAILOR_CODE_QUERIES_H
#define TAILOR_CODE_QUERIES_H

#include "analyzer/view/view.h"

/* How long a mark took, and what for; its name is there. */
double code_mark_ns(const struct report *r, const struct mark *k);
bool code_is_compiling(const struct mark *k);
bool code_is_run(const struct report *r, const struct mark *k);
/* Per query: what compiling it cost, in executions of it. */
void code_show_queries(struct report *r, struct page *p);

#endif
