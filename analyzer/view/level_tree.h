/* SPDX-License-Identifier: MIT */
/* What stands for a plan where the host announced none (host_levels.h): modules, their functions, and the lines of these, each
 * with the sum of what is below it.  Context: thread. */
#ifndef TAILOR_LEVEL_TREE_H
#define TAILOR_LEVEL_TREE_H

#include "analyzer/view/view.h"

/* The sums that it needs; NULL where the trace has no such levels. */
struct report_group *level_tree_ask(struct report *r);
void level_tree_show(struct report *r, const struct report_group *by, struct page *p);

#endif
