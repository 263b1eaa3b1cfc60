/* SPDX-License-Identifier: MIT */
/*
 * Shows modules, their functions and the lines of these, with the sum of each, for traces whose host declared no plan (host_levels.h).
 * Context: thread.
 */
#ifndef TAILOR_LEVEL_TREE_H
#define TAILOR_LEVEL_TREE_H

#include "analyzer/view/view.h"

/* Asks for the sums that the tree needs, as report_add_group() does. Returns NULL if the trace lacks one of these levels. */
struct report_group *level_tree_ask(struct report *r);
/* Shows the tree. by: the sums that level_tree_ask() returned, not NULL. */
void level_tree_show(struct report *r, const struct report_group *by, struct page *p);

#endif
