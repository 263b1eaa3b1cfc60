/* SPDX-License-Identifier: MIT */
/*
 * Counts a whole tree of processes that run already: of a dormant session, when a recording is requested, or of a server, all of whose
 * processes are meant.
 */
#include "agent/recorder/session/internal.h"

#include "agent/recorder/process/proc_file.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_MAX 20 /* over the processes of a tree that grows */
#define ANCESTORS_MAX 64

struct relation {
	pid_t pid, ppid;
	uint64_t start_ticks; /* since boot */
	bool in_tree, done;
};

struct tree {
	struct relation *of;
	uint32_t nr, capacity;
};

static bool read_process_relation(pid_t pid, struct relation *r)
{
	struct proc_stat s;

	if (!proc_stat(pid, 0, &s))
		return false;
	*r = (struct relation){ .pid = pid, .ppid = s.parent, .start_ticks = s.start_ticks };
	return true;
}

static struct relation *find_process_relation(struct tree *t, pid_t pid)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->of[i].pid == pid)
			return &t->of[i];
	return NULL;
}

static int add_process_relation(struct tree *t, const struct relation *r)
{
	if (!GROW(t->of, t->nr, t->capacity))
		return -ENOMEM;
	t->of[t->nr++] = *r;
	return 0;
}

static int add_process_if_new(void *context, pid_t pid)
{
	struct tree *t = context;
	struct relation r;

	return !find_process_relation(t, pid) && read_process_relation(pid, &r) ? add_process_relation(t, &r) : 0;
}

/* All processes that there are; those done before stay done. */
static int list_all_processes(struct tree *t)
{
	return proc_each_numbered_entry("/proc", add_process_if_new, t);
}

static bool descends_from_root(struct tree *t, pid_t pid, pid_t root)
{
	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		struct relation *r;

		if (pid == root)
			return true;
		r = find_process_relation(t, pid);
		pid = r ? r->ppid : 0;
	}
	return false;
}

/* When it was forked, on our clock.  Rounded up by a tick: what its parent had by then is its own as well. */
static uint64_t process_start_ns(const struct relation *r)
{
	uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	struct timespec boot, mono;
	int64_t suspended_ns, ns;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	suspended_ns = (int64_t)(boot.tv_sec - mono.tv_sec) * 1000000000 + boot.tv_nsec - mono.tv_nsec;
	ns = (int64_t)((r->start_ticks + 1) * tick_ns) - suspended_ns;
	return ns > 0 ? (uint64_t)ns : 1;
}

/* Is it a copy of its parent, or has it run another program since?  Its agent knows; without one, the program tells. */
static bool is_copy_of_parent(const struct session *s, const struct relation *r)
{
	const struct guest *guest = session_find_guest(s, r->pid);
	char path[64], own[4096], parents[4096];
	ssize_t n, m;

	if (guest)
		return guest->is_child;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)r->pid);
	n = readlink(path, own, sizeof(own));
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)r->ppid);
	m = readlink(path, parents, sizeof(parents));
	return n > 0 && n == m && memcmp(own, parents, (size_t)n) == 0;
}

static void write_process_or_fork(struct session *s, struct tree *t, const struct relation *r)
{
	const struct relation *parent = find_process_relation(t, r->ppid);

	if (parent && parent->done && is_copy_of_parent(s, r))
		recording_add_fork(s->recording, r->pid, r->ppid, process_start_ns(r));
	else
		recording_add_process(s->recording, r->pid);
}

static int attach_tree_process(struct session *s, struct tree *t, struct relation *r)
{
	uint64_t begin_ns = clock_now_ns();
	bool known = counting_attach_has_process(s->counting, r->pid); /* its parent was complete when it was forked */
	int ret = counting_attach_process(s->counting, r->pid);

	if (ret == -ESRCH)
		return 0; /* it has ended */
	if (ret || known)
		return ret;
	write_process_or_fork(s, t, r);
	if (!session_find_guest(s, r->pid))
		recording_add_engine_process(s->recording, r->pid);
	recording_write_maps(s->recording, r->pid, begin_ns);
	recording_write_threads(s->recording, r->pid, begin_ns);
	return 0;
}

/* Parents before their children. */
static int attach_tree_processes(struct session *s, pid_t root)
{
	struct tree t = { 0 };
	bool more = true;
	int ret = 0;

	for (int round = 0; more && round < ROUNDS_MAX && ret == 0; round++) {
		more = false;
		ret = list_all_processes(&t);
		for (bool found = true; found && ret == 0;) {
			found = false;
			for (size_t i = 0; i < t.nr && ret == 0; i++) {
				struct relation *r = &t.of[i], *parent = find_process_relation(&t, r->ppid);

				if (r->done || (!descends_from_root(&t, r->pid, root) && !session_find_guest(s, r->pid)) ||
				    (parent && !parent->done && descends_from_root(&t, parent->pid, root)))
					continue;
				ret = attach_tree_process(s, &t, r);
				r->done = found = more = true;
			}
		}
	}
	free(t.of);
	return ret;
}

int session_attach_tree(struct session *s, pid_t root)
{
	int ret = counting_attach_begin(s->counting);

	if (ret == 0)
		ret = attach_tree_processes(s, root);
	counting_attach_end(s->counting);
	return ret == 0 && counting_nr_rings(s->counting) == 0 ? -ESRCH : ret;
}
