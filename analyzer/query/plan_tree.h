/* SPDX-License-Identifier: MIT */
/* Plans as the lines of a tree: roots (consumers) first, producers below them; those of a process, or those that are common to all
 * processes (JITREG_COMPONENT_COMMON).  Context: thread. */
#ifndef TAILOR_PLAN_TREE_H
#define TAILOR_PLAN_TREE_H

#include "analyzer/model/dictionary.h"

#define PLAN_DEPTH_MAX 64
#define PLAN_COMMON UINT32_MAX /* in place of a process's index */

struct plan_line {
	uint32_t component;
	uint32_t parent; /* 1 + line of its consumer; 0: none */
	int depth;
	char prefix[PLAN_DEPTH_MAX * 4]; /* its branches */
};

struct plan_tree {
	struct plan_line *line;
	uint32_t nr;
};

/* Components of the level that the process declared; a plan may be a graph, then the first place counts.  false without
 * memory. */
bool plan_tree_make(const struct dictionary *d, uint32_t level, uint32_t process, bool utf8, struct plan_tree *t);
void plan_tree_fini(struct plan_tree *t);

/* The processes that declared components of the level, and PLAN_COMMON where there are such: indexes, in order.  *list is the caller's to
 * free.  Returns how many. */
uint32_t plan_tree_owners(const struct dictionary *d, uint32_t level, uint32_t nr_processes, uint32_t **list);

/* The level right above that of common plans: of queries.  LEVELS_MAX: there is none. */
uint32_t plan_query_level(const struct dictionary *d, uint32_t level);
/* The component of that level that one of a plan is of, or COMPONENT_NONE. */
uint32_t plan_query_of(const struct dictionary *d, uint32_t component, uint32_t query_level);

#endif
