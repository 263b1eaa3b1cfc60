/* SPDX-License-Identifier: MIT */
/*
 * This file counts processes that run already, alone or with their descendants. These are the processes that `tailor attach` names or all
 * of the machine, newcomers, the tree of a dormant session when a recording is requested, and the processes of a database server.
 */
#include "agent/recorder/session/internal.h"

#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"
#include "agent/recorder/process/process_tree.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/regular_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_MAX 20 /* maximum number of listings of all processes, while these find new processes that are to be counted */

const char *session_counting_error(int error)
{
	static char text[256]; /* only one thread calls this */
	struct rlimit files = { 0 };

	getrlimit(RLIMIT_NOFILE, &files);
	snprintf(text, sizeof(text), "%s", strerror(error));
	if (error == EMFILE)
		snprintf(text, sizeof(text), "%s (limit: %llu, ulimit -n; each thread needs one for each processor and event)",
			 strerror(error), (unsigned long long)files.rlim_cur);
	else if (error == EPERM)
		snprintf(text, sizeof(text), "%s (limit of locked memory: ulimit -l, kernel.perf_event_mlock_kb)", strerror(error));
	return text;
}

int session_explain_counting(const struct session *s, pid_t pid, int ret, struct diag *d)
{
	return diag_fail(d, -ret, "cannot count %s for process %d: %s", counting_events(s->counting)->event[0].name, (int)pid,
			 session_counting_error(-ret));
}

int session_add_root(struct session *s, pid_t pid)
{
	struct root *root = &s->root;

	if (!ARRAY_PUSH(root->named, pid))
		return -ENOMEM;
	root->pid = root->named.at[0];
	return 0;
}

/* Returns the time of the process's fork on CLOCK_MONOTONIC, one tick later than /proc has it.  In the trace, the child has the mappings
 * and code that its parent had by then, and with an earlier time it would lack the last of them. */
static uint64_t process_start_ns(const struct process_node *r)
{
	uint64_t tick_ns = 1000000000u / (uint64_t)sysconf(_SC_CLK_TCK);
	struct timespec boot, mono;
	int64_t suspended_ns, ns;

	clock_gettime(CLOCK_BOOTTIME, &boot);
	clock_gettime(CLOCK_MONOTONIC, &mono);
	suspended_ns = (int64_t)(boot.tv_sec - mono.tv_sec) * 1000000000 + boot.tv_nsec - mono.tv_nsec;
	ns = (int64_t)((r->start_ticks + 1) * tick_ns) - suspended_ns - clock_ahead_ns();
	return ns > 0 ? (uint64_t)ns : 1;
}

/* Is the process a forked copy of its parent, which has executed no other program since?  An agent in it has said so when it connected.
 * Without an agent, it is taken for a copy if both have the same executable. */
static bool is_copy_of_parent(const struct session *s, const struct process_node *r)
{
	const struct guest *guest = session_find_guest(s, r->pid);
	char path[64], own[4096], parents[4096];
	ssize_t n, m;

	if (guest)
		return guest->is_child;
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)r->pid);
	n = readlink(path, own, sizeof(own));
	snprintf(path, sizeof(path), "/proc/%d/exe", (int)r->parent);
	m = readlink(path, parents, sizeof(parents));
	return n > 0 && n == m && memcmp(own, parents, (size_t)n) == 0;
}

static void write_process_or_fork(struct session *s, struct process_tree *t, const struct process_node *r, const char *known)
{
	const struct process_node *parent = process_tree_find(t, r->parent);

	if (parent && parent->done && is_copy_of_parent(s, r))
		recording_add_fork(s->recording, r->pid, r->parent, process_start_ns(r));
	else
		recording_add_process(s->recording, r->pid, known);
}

static int keep_attached(struct session *s, pid_t pid)
{
	struct root *root = &s->root;

	if (!ARRAY_PUSH(root->attached, pid))
		return -ENOMEM;
	return 0;
}

/* Notes a descendant whose counters cannot be opened as a loss, writes a notice for the first one, and returns 0, so that the others are
 * still counted. */
static int report_uncounted_descendant(struct session *s, pid_t pid, int error)
{
	session_count_loss(s, LOSS_UNCOUNTED, (uint32_t)pid, 0, 1);
	if (!s->notices.uncounted)
		session_notice(s, NOTICE_REFUSED, "cannot count process %d, which process %d or one below it has started: %s; further ones "
			       "with an error are not reported", (int)pid, (int)s->root.pid, session_counting_error(error));
	s->notices.uncounted = true;
	return 0;
}

/* Writes the records of the process that the kernel's events would have led to, if it had been counted from its beginning. These are of
 * itself or its fork, its mappings and its threads.  known: name that it has if it has ended since; may be "". */
static void describe_process(struct session *s, struct process_tree *t, const struct process_node *r, const char *known, uint64_t begin_ns)
{
	write_process_or_fork(s, t, r, known);
	if (!session_find_guest(s, r->pid))
		recording_add_engine_process(s->recording, r->pid);
	recording_write_maps(s->recording, r->pid, begin_ns, JITREG_TIME_BEFORE);
	recording_write_threads(s->recording, r->pid, begin_ns);
	session_epochs_note_process(s, (uint32_t)r->pid);
}

static int attach_tree_process(struct session *s, struct process_tree *t, struct process_node *r)
{
	uint64_t begin_ns = clock_now_ns();
	bool known = counting_attach_has_process(s->counting, r->pid); /* it has inherited counters, so the kernel has reported its fork */
	int ret = counting_attach_process(s->counting, r->pid);

	if (ret == -ESRCH)
		return 0; /* the process has ended */
	if (ret && !r->wanted)
		ret = report_uncounted_descendant(s, r->pid, -ret);
	if (ret || known)
		return ret;
	describe_process(s, t, r, "", begin_ns);
	return keep_attached(s, r->pid);
}

static bool is_to_be_attached(const struct session *s, const struct process_tree *t, const struct process_node *r)
{
	const struct process_node *parent = process_tree_find(t, r->parent);

	if (r->done || !(process_tree_is_wanted(t, r) || session_find_guest(s, r->pid)))
		return false;
	return !parent || parent->done || !process_tree_is_wanted(t, parent); /* a wanted parent is attached to before its children */
}

/* Attaches to wanted processes, parents first, until a listing of all processes finds no more of them, or after ROUNDS_MAX listings. */
static int attach_wanted_processes(struct session *s, struct process_tree *t)
{
	bool more = true;
	int ret = 0;

	for (int round = 0; more && round < ROUNDS_MAX && ret == 0; round++) {
		more = false;
		ret = process_tree_update(t);
		for (bool found = true; found && ret == 0;) {
			found = false;
			for (size_t i = 0; i < t->nr && ret == 0; i++)
				if (is_to_be_attached(s, t, &t->at[i])) {
					ret = attach_tree_process(s, t, &t->at[i]);
					t->at[i].done = found = more = true;
				}
		}
	}
	return ret;
}

int session_attach_wanted(struct session *s, struct process_tree *t)
{
	int ret = counting_attach_begin(s->counting);

	if (ret == 0)
		ret = attach_wanted_processes(s, t);
	counting_attach_end(s->counting);
	return ret == 0 && counting_nr_rings(s->counting) == 0 ? -ESRCH : ret;
}

/* Returns the processor time of all threads of the process, or 0 if it has ended. */
static uint64_t read_processor_time_ns(pid_t pid)
{
	struct timespec t = { 0 };
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
		return 0;
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Has the first thread of the process children?  true also if the list of these cannot be opened (no CONFIG_PROC_CHILDREN). */
static bool may_have_children(pid_t pid)
{
	char path[64], first;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	fd = regular_file_open(path);
	n = fd < 0 ? 1 : read(fd, &first, 1);
	if (fd >= 0)
		close(fd);
	return n > 0;
}

/* Counts the newcomer. All processes are listed, for its descendants, only if it may have started some before it was counted, since the
 * list takes milliseconds. */
static int attach_newcomer_and_descendants(struct session *s, struct process_tree *t, struct process_node *n, const char *comm)
{
	uint64_t begin_ns = clock_now_ns();
	int ret = counting_attach_process(s->counting, n->pid);

	s->joining.counted_ns = clock_now_ns();
	s->joining.counted_cpu_ns = read_processor_time_ns(n->pid);
	if (ret)
		return ret;
	proc_mem_wait_for_program(n->pid);
	describe_process(s, t, n, comm, begin_ns);
	recording_watch_jit_lists(s->recording, n->pid);
	n->wanted = PROCESS_WITH_DESCENDANTS;
	n->done = true;
	if (!may_have_children(n->pid))
		return 0;
	ret = process_tree_update(t);
	for (uint32_t i = 0; i < t->nr; i++)
		t->at[i].done |= session_epochs_has_process(s, t->at[i].pid, false);
	return ret ? ret : attach_wanted_processes(s, t);
}

int session_attach_newcomer(struct session *s, pid_t pid, const char *comm)
{
	struct process_tree t = { 0 };
	struct process_node *n = process_tree_add(&t, pid);
	int ret = n ? counting_attach_begin(s->counting) : -ESRCH;
	uint32_t nr_before = s->root.attached.nr;

	s->epochs.polls_lists = true;
	if (ret == 0)
		ret = attach_newcomer_and_descendants(s, &t, n, comm);
	counting_attach_end(s->counting);
	process_tree_fini(&t);
	for (uint32_t i = nr_before; i < s->root.attached.nr; i++)
		recording_watch_jit_lists(s->recording, s->root.attached.at[i]);
	s->root.attached.nr = nr_before; /* newcomers are not kept, since the list of a recording of months would grow */
	return ret == 0 && !session_epochs_has_process(s, pid, true) ? -ESRCH : ret;
}

void session_describe_counted(struct session *s, struct process_tree *t, uint64_t begin_ns)
{
	for (bool found = true; found;) {
		found = false;
		for (size_t i = 0; i < t->nr; i++) {
			struct process_node *n = &t->at[i], *parent = process_tree_find(t, n->parent);

			if (n->done || n->wanted == PROCESS_UNWANTED || (parent && parent->wanted != PROCESS_UNWANTED && !parent->done))
				continue;
			describe_process(s, t, n, "", begin_ns);
			n->done = found = true;
			if (s->epochs.polls_lists && !session_find_guest(s, n->pid))
				recording_watch_jit_lists(s->recording, n->pid);
		}
	}
}

int session_attach_tree(struct session *s, pid_t root)
{
	struct process_tree t = { 0 };
	int ret = process_tree_update(&t);
	struct process_node *n = process_tree_find(&t, root);

	if (n)
		n->wanted = PROCESS_WITH_DESCENDANTS;
	if (ret == 0)
		ret = session_attach_wanted(s, &t);
	process_tree_fini(&t);
	return ret;
}

/* Are the descendants of a named process to be recorded as well?  Unless --tree or --no-children decides, they are if the process is a
 * postmaster, or if they do its work (process_tree_works_below()), which a notice reports. */
static bool are_descendants_meant(struct session *s, const struct process_tree *t, pid_t pid)
{
	char comm[64];
	uint32_t nr;

	if (s->options.descendants != DESCENDANTS_THAT_WORK)
		return s->options.descendants == DESCENDANTS_ALL;
	if (recording_is_postmaster(s->recording, pid))
		return true;
	nr = process_tree_works_below(t, pid);
	if (nr == 0)
		return false;
	recording_read_comm(pid, comm);
	session_notice(s, NOTICE_HOST, "process %d (%s) sleeps while %u process%s below it work%s: recorded as well (--no-children leaves "
		       "them out)", (int)pid, comm, nr, nr == 1 ? "" : "es", nr == 1 ? "s" : "");
	return true;
}

int session_attach(struct session *s, const pid_t *pids, uint32_t nr, struct diag *d)
{
	struct process_tree t = { 0 };
	int ret = process_tree_update(&t);

	for (uint32_t i = 0; i < nr && ret == 0; i++) {
		struct process_node *n = process_tree_find(&t, pids[i]);

		ret = session_add_root(s, pids[i]);
		recording_add_engine_process(s->recording, pids[i]);
		if (n)
			n->wanted = PROCESS_ALONE;
	}
	/* all named processes are marked before this, since the notices count only descendants that are not recorded anyway */
	for (uint32_t i = 0; i < nr && ret == 0; i++) {
		struct process_node *n = process_tree_find(&t, pids[i]);

		if (n && are_descendants_meant(s, &t, pids[i]))
			n->wanted = PROCESS_WITH_DESCENDANTS;
	}
	if (ret == 0)
		ret = session_attach_wanted(s, &t);
	process_tree_fini(&t);
	return ret ? session_explain_counting(s, pids[0], ret, d) : 0;
}

int session_attach_all(struct session *s, struct diag *d)
{
	uint64_t begin_ns = clock_now_ns();
	struct process_tree t = { 0 };
	int ret = counting_begin_system(s->counting);

	if (ret == -EACCES || ret == -EPERM)
		diag_fail(d, -ret, "cannot count %s on all processors: %s; run as root%s, or sysctl kernel.perf_event_paranoid=-1",
			  counting_events(s->counting)->event[0].name, strerror(-ret),
			  proc_is_first_namespace(PROC_NAMESPACE_USER) ? "" :
			  " of the machine, since this root is that of a user namespace");
	else if (ret)
		diag_fail(d, -ret, "cannot count %s on all processors: %s", counting_events(s->counting)->event[0].name,
			  session_counting_error(-ret));
	if (ret == 0 && (ret = process_tree_update(&t)))
		diag_fail(d, -ret, "cannot list the processes: %s", strerror(-ret));
	for (uint32_t i = 0; i < t.nr; i++)
		t.at[i].wanted = PROCESS_ALONE;
	if (ret == 0)
		session_describe_counted(s, &t, begin_ns);
	process_tree_fini(&t);
	return ret;
}

const pid_t *session_attached(const struct session *s, uint32_t *nr)
{
	*nr = s->root.attached.nr;
	return s->root.attached.at;
}
