/* SPDX-License-Identifier: MIT */
/* All processes, each with its parent, for finding descendants when running processes are attached to.  Context: thread. */
#ifndef TAILOR_PROCESS_TREE_H
#define TAILOR_PROCESS_TREE_H

#include "jitreg/base/hash_map.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum process_wanted { PROCESS_UNWANTED, PROCESS_ALONE, PROCESS_WITH_DESCENDANTS };

struct process_node {
	pid_t pid, parent;
	uint64_t start_ticks; /* since boot, in units of sysconf(_SC_CLK_TCK) */
	enum process_wanted wanted; /* set by the tree's user, as is `done` */
	bool done;
};

/* Zeros: empty. */
struct process_tree {
	struct process_node *node;
	uint32_t nr, capacity;
	struct hash_map by_pid; /* index and one */
};

/* Adds the processes of /proc that are not known yet; nodes move.  0 or -errno. */
int process_tree_update(struct process_tree *t);
/* Adds this process alone.  NULL: it has ended, or there is no memory. */
struct process_node *process_tree_add(struct process_tree *t, pid_t pid);
void process_tree_fini(struct process_tree *t);

/* Returns NULL for an unknown process. */
struct process_node *process_tree_find(const struct process_tree *t, pid_t pid);
/* Is the process wanted, or an ancestor of it with all descendants? */
bool process_tree_is_wanted(const struct process_tree *t, const struct process_node *n);

/*
 * Returns how many descendants of a process are not wanted anyway, if they do its work: they have used as much processor time as the
 * process, or it uses less than a tenth of the next 10 ms, for which this function waits.  0: there are none, or the process works itself.
 */
uint32_t process_tree_works_below(const struct process_tree *t, pid_t pid);

#endif
