/* SPDX-License-Identifier: MIT */
/* Makes plans into lines of a tree, with roots (consumers) first and producers below them.  The plans are those of a process, or those
 * that are common to all processes (JITREG_COMPONENT_COMMON).  Context: thread. */
#ifndef TAILOR_PLAN_TREE_H
#define TAILOR_PLAN_TREE_H

#include "analyzer/model/dictionary.h"

#define PLAN_DEPTH_MAX 64
#define PLAN_COMMON UINT32_MAX /* in place of a process's index */

struct plan_line {
	uint32_t component;
	uint32_t parent; /* 1 + index of the consumer's line; 0: none */
	int depth;
	bool is_query; /* component is a query that the parent calls, whose plan is another one */
	char prefix[PLAN_DEPTH_MAX * 4]; /* the branches of the tree that are shown before the name */
};

struct plan_tree {
	struct plan_line *line;
	uint32_t nr;
};

/* Makes a tree of the components of the level that the process announced. A component with several consumers is at its first place only.
 * One that is too deep (PLAN_DEPTH_MAX) begins another tree. If memory runs out, the tree is empty, and the result may be false.
 * plan_tree_fini() must follow in any case. */
bool plan_tree_make(const struct dictionary *d, uint32_t level, uint32_t process, bool utf8, struct plan_tree *t);
void plan_tree_fini(struct plan_tree *t);
/* Adds a line for a query that the component calls, below the component's line, before the other lines there; or as the last line of the
 * tree if the tree has no such line. t->line must have room for it. Returns its index. */
uint32_t plan_tree_add_query(struct plan_tree *t, uint32_t component, uint32_t query, bool utf8);

/* Lists the processes that announced components of the level, by index, and last PLAN_COMMON if there are common ones. The caller frees
 * *list. Returns how many there are, or 0 if memory runs out. */
uint32_t plan_tree_owners(const struct dictionary *d, uint32_t level, uint32_t nr_processes, uint32_t **list);

/* Returns the level of queries, which is the lowest one that common components of the level are linked to. Returns LEVELS_MAX if there is
 * none. */
uint32_t plan_query_level(const struct dictionary *d, uint32_t level);
/* Returns the first component of the level of queries that a component is linked to, or COMPONENT_NONE. */
uint32_t plan_query_of(const struct dictionary *d, uint32_t component, uint32_t query_level);

#endif
