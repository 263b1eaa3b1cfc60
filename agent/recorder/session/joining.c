/* SPDX-License-Identifier: MIT */
/*
 * Processes that join a service while it is recorded: it is restarted, or another process enters its container.  What counted processes
 * fork is counted already, and its fork is read from the rings within milliseconds; so a process is looked at when it was there a second
 * ago, and is not known by then.
 */
#include "agent/recorder/session/internal.h"

#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/process_tree.h"
#include "jitreg/base/clock.h"

#define LOOK_NS 1000000000ull
#define ONCE 1u
#define TWICE 2u

struct look {
	struct session *session;
	struct hash_map seen;
	struct process_tree tree;
	bool any;
};

static int look_at_process(void *look, pid_t pid)
{
	struct look *l = look;
	struct session *s = l->session;
	uint32_t before = hash_map_find(&s->joining.seen, (uint64_t)pid, 0);
	struct process_node *n;
	struct service of;

	hash_map_set(&l->seen, (uint64_t)pid, 0, before ? TWICE : ONCE);
	if (before != ONCE || hash_map_find(&s->epochs.living, (uint64_t)pid, 0) || !service_read(pid, &of) ||
	    !service_is_wanted(&s->options.service, of.group))
		return 0;
	if (!l->any && process_tree_update(&l->tree))
		return 0;
	n = process_tree_find(&l->tree, pid);
	if (n)
		n->wanted = PROCESS_ALONE;
	l->any |= n != NULL;
	return 0;
}

void session_look_for_service(struct session *s)
{
	struct look l = { .session = s };
	uint64_t now_ns = clock_now_ns();

	if (!session_wants_service(&s->options) || !s->recording || now_ns - s->joining.looked_ns < LOOK_NS)
		return;
	s->joining.looked_ns = now_ns;
	proc_each_numbered_entry("/proc", look_at_process, &l);
	hash_map_fini(&s->joining.seen);
	s->joining.seen = l.seen;
	if (l.any && session_attach_wanted(s, &l.tree) == 0)
		for (uint32_t i = 0; i < l.tree.nr; i++)
			if (l.tree.node[i].done)
				recording_watch_jit_lists(s->recording, l.tree.node[i].pid);
	process_tree_fini(&l.tree);
}
