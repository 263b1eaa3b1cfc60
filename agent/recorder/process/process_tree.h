/* SPDX-License-Identifier: MIT */
/* This module lists the machine's processes, each with its parent, by which descendants are found when running processes are attached to.
 * Context: thread. */
#ifndef TAILOR_PROCESS_TREE_H
#define TAILOR_PROCESS_TREE_H

#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum process_wanted { PROCESS_UNWANTED, PROCESS_ALONE, PROCESS_WITH_DESCENDANTS };

struct process_node {
	pid_t pid, parent;
	uint64_t start_ticks; /* clock ticks since boot, sysconf(_SC_CLK_TCK) a second */
	enum process_wanted wanted; /* set by the tree's user, as is `done` */
	bool done;
};

/* A tree of all zeros is empty. */
struct process_tree {
	ARRAY_OF(struct process_node);
	struct hash_map by_pid; /* PID -> 1 + index of its node */
};

/* Adds the processes of /proc that are not in the tree yet.  Pointers to nodes are invalid afterwards.  Returns 0, or -errno, and then some
 * may be added. */
int process_tree_update(struct process_tree *t);
/* Adds this process alone unless it is in the tree, and returns its node, or NULL if it is gone or memory runs out.  Other pointers to
 * nodes are invalid afterwards. */
struct process_node *process_tree_add(struct process_tree *t, pid_t pid);
void process_tree_fini(struct process_tree *t);

/* Returns the node of the process, or NULL if it is not in the tree. */
struct process_node *process_tree_find(const struct process_tree *t, pid_t pid);
/* Is the process wanted, or is one of its nearest 63 ancestors PROCESS_WITH_DESCENDANTS? */
bool process_tree_is_wanted(const struct process_tree *t, const struct process_node *n);

/*
 * Do the descendants of a process do its work?  They do if together they have used at least as much processor time as the process, or if it
 * uses less than a tenth of the next 10 ms, for which this function waits.  Returns the number of descendants that are not wanted yet, or 0
 * if there are none or the process works itself.
 */
uint32_t process_tree_works_below(const struct process_tree *t, pid_t pid);

#endif
