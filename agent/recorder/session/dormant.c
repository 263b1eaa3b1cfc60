/* SPDX-License-Identifier: MIT */
/*
 * A dormant session keeps the live registrations of its guests; when a recording is requested, every process
 * of the tree is counted from outside and the trace is told what has been kept, as if it had listened from the start.
 */
#include "agent/recorder/session/internal.h"

#include "agent/recorder/process/attach_target.h"
#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"
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

static bool read_relation(pid_t pid, struct relation *r)
{
	struct proc_stat s;

	if (!proc_stat(pid, 0, &s))
		return false;
	*r = (struct relation){ .pid = pid, .ppid = s.parent, .start_ticks = s.start_ticks };
	return true;
}

static struct relation *find_relation(struct tree *t, pid_t pid)
{
	for (size_t i = 0; i < t->nr; i++)
		if (t->of[i].pid == pid)
			return &t->of[i];
	return NULL;
}

static int add_relation(struct tree *t, const struct relation *r)
{
	if (!GROW(t->of, t->nr, t->capacity))
		return -ENOMEM;
	t->of[t->nr++] = *r;
	return 0;
}

static int take_process(void *context, pid_t pid)
{
	struct tree *t = context;
	struct relation r;

	return !find_relation(t, pid) && read_relation(pid, &r) ? add_relation(t, &r) : 0;
}

/* All processes that there are; those done before stay done. */
static int list_processes(struct tree *t)
{
	return proc_each_number("/proc", take_process, t);
}

static bool is_guest(const struct session *s, pid_t pid)
{
	for (size_t i = 0; i < s->guests.nr; i++)
		if (s->guests.guest[i].log.head && s->guests.guest[i].pid == (uint32_t)pid)
			return true;
	return false;
}

static bool descends(struct tree *t, pid_t pid, pid_t root)
{
	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++) {
		struct relation *r;

		if (pid == root)
			return true;
		r = find_relation(t, pid);
		pid = r ? r->ppid : 0;
	}
	return false;
}

/* When it was forked, on our clock.  Rounded up by a tick: what its parent had by then is its own as well. */
static uint64_t started_ns(const struct relation *r)
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
static bool is_copy(const struct session *s, const struct relation *r)
{
	char path[64], own[4096], parents[4096];
	ssize_t n, m;

	for (size_t i = 0; i < s->guests.nr; i++)
		if (s->guests.guest[i].log.head && s->guests.guest[i].pid == (uint32_t)r->pid)
			return s->guests.guest[i].is_child;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)r->pid);
	n = readlink(path, own, sizeof(own));
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)r->ppid);
	m = readlink(path, parents, sizeof(parents));
	return n > 0 && n == m && memcmp(own, parents, (size_t)n) == 0;
}

static void write_relation(struct session *s, struct tree *t, const struct relation *r)
{
	const struct relation *parent = find_relation(t, r->ppid);

	if (parent && parent->done && is_copy(s, r)) {
		TRACE_PUT(s->writer, fork, started_ns(r), (uint32_t)r->pid, (uint32_t)r->pid, .ppid = (uint32_t)r->ppid,
			  .ptid = (uint32_t)r->ppid);
	} else {
		session_write_process(s, r->pid, false);
	}
	s->nr_processes++;
}

static int wake_process(struct session *s, struct tree *t, struct relation *r)
{
	uint64_t begin_ns = session_now_ns();
	bool known = session_attach_knows(s, r->pid); /* its parent was complete when it was forked */
	int ret = session_attach_process(s, r->pid);

	if (ret == -ESRCH)
		return 0; /* it has ended */
	if (ret || known)
		return ret;
	write_relation(s, t, r);
	if (!is_guest(s, r->pid))
		engines_add(s->engines, r->pid);
	session_write_maps(s, r->pid, begin_ns);
	session_write_threads(s, r->pid, begin_ns);
	return 0;
}

/* Parents before their children. */
static int wake_tree(struct session *s, pid_t root)
{
	struct tree t = { 0 };
	bool more = true;
	int ret = 0;

	for (int round = 0; more && round < ROUNDS_MAX && ret == 0; round++) {
		more = false;
		ret = list_processes(&t);
		for (bool found = true; found && ret == 0;) {
			found = false;
			for (size_t i = 0; i < t.nr && ret == 0; i++) {
				struct relation *r = &t.of[i], *parent = find_relation(&t, r->ppid);

				if (r->done || (!descends(&t, r->pid, root) && !is_guest(s, r->pid)) ||
				    (parent && !parent->done && descends(&t, parent->pid, root)))
					continue;
				ret = wake_process(s, &t, r);
				r->done = found = more = true;
			}
		}
	}
	free(t.of);
	return ret;
}

int session_attach_tree(struct session *s, pid_t root)
{
	int ret = session_attach_begin(s);

	if (ret == 0)
		ret = wake_tree(s, root);
	session_attach_end(s);
	return ret == 0 && s->rings.nr == 0 ? -ESRCH : ret;
}

int session_start_dormant(struct session *s, struct diag *d)
{
	int ret;

	s->options.command = attach_target_command(s->root);
	ret = session_begin_recording(s, d);
	if (ret)
		return ret;
	ret = session_attach_tree(s, s->root);
	if (ret) {
		session_drop_recording(s);
		return diag_fail(d, -ret, "cannot count %s: %s", s->events.event[0].name, strerror(-ret));
	}
	session_replay_guests(s);
	return 0;
}
