/* SPDX-License-Identifier: MIT */
/* A process's plan as the lines of a tree: roots (consumers) first, producers below them.  Context: thread. */
#ifndef TAILOR_PLAN_TREE_H
#define TAILOR_PLAN_TREE_H

#include "analyzer/model/dictionary.h"

#define PLAN_DEPTH_MAX 64

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

#endif
