/* SPDX-License-Identifier: MIT */
/* In place of a plan where the host declared none (host_levels.h): modules, their functions, and the lines of these, each with its
 * total.  Context: thread. */
#ifndef TAILOR_LEVEL_TREE_H
#define TAILOR_LEVEL_TREE_H

#include "analyzer/view/view.h"

/* The sums that it needs; NULL where the trace has no such levels. */
struct report_group *level_tree_ask(struct report *r);
void level_tree_show(struct report *r, const struct report_group *by, struct page *p);

#endif
