/* SPDX-License-Identifier: MIT */
/*
 * This file writes the names of Java's threads. The kernel has a record of each name that a thread is given, with its first 15 letters
 * only. So the whole names are read from the heap when such a record has come. A name holds since the last record of the kernel before it
 * was read. Which one that is, is known at the next look, when all records up to then have come.
 */
#include "agent/recorder/hotspot/internal.h"

#include "jitreg/base/clock.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/trace/put.h"

#include <stdlib.h>
#include <string.h>

#define LOOK_NS 20000000u
#define LOOK_SHARE 50u /* a look takes at most 1/LOOK_SHARE of the time */

struct named {
	uint32_t tid;
	bool is_pending, is_alive; /* is_pending: the name is to be written; is_alive: the thread was there at the last look */
	uint64_t since_ns, told_ns; /* times of the kernel's last record of a name before the look, and of its last record at all */
	char name[HOTSPOT_THREAD_NAME_BYTES];
};

struct hotspot_thread_names {
	struct hash_map by_tid; /* (tid, 0) -> 1 + index */
	ARRAY(struct named) threads;
	struct hotspot_heap heap;
	bool is_known, is_over, is_changed;
	uint64_t looked_ns, next_ns;
};

struct hotspot_thread_names *hotspot_thread_names_create(void)
{
	struct hotspot_thread_names *t = calloc(1, sizeof(*t));

	if (t)
		t->is_changed = true;
	return t;
}

void hotspot_thread_names_destroy(struct hotspot_thread_names *t)
{
	if (!t)
		return;
	hash_map_fini(&t->by_tid);
	free(t->threads.at);
	free(t);
}

static struct named *get_thread(struct hotspot_thread_names *t, uint32_t tid)
{
	uint32_t i = hash_map_find(&t->by_tid, tid, 0);

	if (i)
		return &t->threads.at[i - 1];
	if (t->threads.nr == HOTSPOT_THREADS_MAX || !ARRAY_GROW(t->threads) || !hash_map_set(&t->by_tid, tid, 0, t->threads.nr + 1))
		return NULL;
	t->threads.at[t->threads.nr] = (struct named){ .tid = tid };
	return &t->threads.at[t->threads.nr++];
}

void hotspot_thread_names_note_comm(struct hotspot_thread_names *t, uint32_t tid, uint64_t time_ns)
{
	struct named *n = t ? get_thread(t, tid) : NULL;

	if (t)
		t->is_changed = true;
	if (!n)
		return;
	if (n->is_pending && time_ns <= t->looked_ns && time_ns > n->since_ns)
		n->since_ns = time_ns;
	if (time_ns > n->told_ns)
		n->told_ns = time_ns;
}

static void note_name(void *context, uint32_t tid, const char *name)
{
	struct hotspot_thread_names *t = context;
	struct named *n = get_thread(t, tid);

	if (n)
		n->is_alive = true;
	/* If the name is the same, and the kernel has no record since, it was written at an earlier look. */
	if (!n || (n->name[0] && n->since_ns == n->told_ns && strcmp(n->name, name) == 0))
		return;
	n->since_ns = n->told_ns;
	n->is_pending = true;
	strcpy(n->name, name);
}

static void write_names(struct hotspot_thread_names *t, const struct hotspot_layout *l, struct trace_writer *w, uint64_t began_ns)
{
	for (uint32_t i = 0; i < t->threads.nr; i++) {
		struct named *n = &t->threads.at[i];

		if (n->is_pending)
			TRACE_PUT(w, thread_name, n->since_ns ? n->since_ns : began_ns, (uint32_t)l->pid, n->tid,
				  .name = trace_string(n->name));
		n->is_pending = false;
	}
}

/* Forgets threads that have ended, to make room for others. */
static void forget_ended_threads(struct hotspot_thread_names *t)
{
	uint32_t nr = 0;

	hash_map_fini(&t->by_tid);
	for (uint32_t i = 0; i < t->threads.nr; i++)
		if (t->threads.at[i].is_alive && hash_map_set(&t->by_tid, t->threads.at[i].tid, 0, nr + 1))
			t->threads.at[nr++] = t->threads.at[i];
	t->is_changed = nr < t->threads.nr; /* as some threads may have had no room, names are read again */
	t->threads.nr = nr;
}

void hotspot_thread_names_settle(struct hotspot_thread_names *t, const struct hotspot_layout *l, uint64_t library, struct trace_writer *w,
				 uint64_t began_ns, uint64_t now_ns)
{
	uint64_t took_ns;

	if (!t || t->is_over)
		return;
	write_names(t, l, w, began_ns);
	if (!t->is_changed || now_ns < t->next_ns)
		return;
	if (!t->is_known)
		t->is_known = hotspot_heap_find(&t->heap, l, library);
	t->is_over = !t->is_known;
	if (t->is_over)
		return;
	t->is_changed = false;
	t->looked_ns = clock_now_ns();
	for (uint32_t i = 0; i < t->threads.nr; i++)
		t->threads.at[i].is_alive = false;
	hotspot_each_thread(&t->heap, l, note_name, t);
	if (t->threads.nr == HOTSPOT_THREADS_MAX)
		forget_ended_threads(t);
	took_ns = clock_now_ns() - t->looked_ns;
	t->next_ns = now_ns + (took_ns * LOOK_SHARE > LOOK_NS ? took_ns * LOOK_SHARE : LOOK_NS);
}
