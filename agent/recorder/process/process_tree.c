/* SPDX-License-Identifier: MIT */
#include "agent/recorder/process/process_tree.h"

#include "agent/recorder/process/proc_file.h"
#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define ANCESTORS_MAX 64
#define LOOK_NS 10000000 /* time for which process_tree_works_below() watches a process */
#define WORKS_PART 10	 /* the process works itself if it uses at least 1/10 of that time */

struct process_node *process_tree_find(const struct process_tree *t, pid_t pid)
{
	uint32_t i = t->nr ? hash_map_find(&t->by_pid, (uint64_t)pid, 0) : 0;

	return i ? &t->at[i - 1] : NULL;
}

static int add_process_if_new(void *context, pid_t pid)
{
	struct process_tree *t = context;
	struct proc_stat s;

	if (process_tree_find(t, pid) || !proc_stat(pid, 0, &s))
		return 0;
	if (!ARRAY_GROW(*t) || !hash_map_set(&t->by_pid, (uint64_t)pid, 0, t->nr + 1))
		return -ENOMEM;
	t->at[t->nr++] = (struct process_node){ .pid = pid, .parent = s.parent, .start_ticks = s.start_ticks };
	return 0;
}

struct process_node *process_tree_add(struct process_tree *t, pid_t pid)
{
	return add_process_if_new(t, pid) ? NULL : process_tree_find(t, pid);
}

int process_tree_update(struct process_tree *t)
{
	return proc_each_numbered_entry("/proc", add_process_if_new, t);
}

void process_tree_fini(struct process_tree *t)
{
	hash_map_fini(&t->by_pid);
	free(t->at);
	*t = (struct process_tree){ 0 };
}

bool process_tree_is_wanted(const struct process_tree *t, const struct process_node *n)
{
	if (n->wanted)
		return true;
	for (int i = 0; i < ANCESTORS_MAX && n; i++, n = process_tree_find(t, n->parent))
		if (n->wanted == PROCESS_WITH_DESCENDANTS)
			return true;
	return false;
}

static bool descends_from(const struct process_tree *t, const struct process_node *n, pid_t ancestor)
{
	for (int i = 0; i < ANCESTORS_MAX && n; i++, n = process_tree_find(t, n->parent))
		if (n->parent == ancestor)
			return true;
	return false;
}

/* Returns the processor time that all threads of a process have used, including ended ones, or 0 if it is gone. */
static uint64_t processor_time_ns(pid_t pid)
{
	struct timespec t = { 0 };
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint32_t process_tree_works_below(const struct process_tree *t, pid_t pid)
{
	const struct timespec look = { 0, LOOK_NS };
	uint64_t own_ns = processor_time_ns(pid), below_ns = 0;
	uint32_t nr = 0;

	for (uint32_t i = 0; i < t->nr; i++)
		if (descends_from(t, &t->at[i], pid)) {
			below_ns += processor_time_ns(t->at[i].pid);
			nr += !t->at[i].wanted;
		}
	if (nr == 0 || below_ns >= own_ns)
		return nr;
	nanosleep(&look, NULL);
	return processor_time_ns(pid) - own_ns < LOOK_NS / WORKS_PART ? nr : 0;
}
