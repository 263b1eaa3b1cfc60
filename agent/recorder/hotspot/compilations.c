/* SPDX-License-Identifier: MIT */
/*
 * This file finds which method a compiler's thread compiles from its sampled stacks. During a task, the thread's outermost function has the
 * method and the thread in two words next to each other, the Method below (a methodHandle: compileBroker.cpp, handles.hpp). Successive
 * samples of one thread with the same method are one compilation, which includes the time between them.
 */
#include "agent/recorder/hotspot/internal.h"

#include "agent/recorder/perf/samples.h"
#include "agent/recorder/process/proc_file.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/trace/put.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPILERS_MAX 64u
#define THREADS_MAX (1u << 16)
#define COMPILATIONS_MAX (1u << 14) /* compilations that wait to be written */
/* samples of a thread in which the outermost pair is searched; a copy of the stack may end before it, and have a pair further in */
#define SEARCHES 1000u
#define PAIRS_READ 32u /* maximum number of pairs whose Method is read in one search */
#define LOOK_NS 100000000u

/* These are the kinds of threads, as values of by_tid. A thread without a value was not seen yet. */
enum { THREAD_NEW = 1, THREAD_OTHER, THREAD_COMPILER /* + index of its struct compiler */ };

struct compiler {
	uint64_t thread; /* address of its JavaThread */
	uint64_t place; /* stack address of the outermost pair found so far, the same for all tasks; 0: none */
	unsigned searches; /* searches that are still to be done */
	struct hotspot_compilation now; /* method 0: none */
};

struct hotspot_compilations {
	struct hash_map by_tid;
	struct compiler compiler[COMPILERS_MAX];
	ARRAY(struct hotspot_compilation) ended;
	struct hotspot_method method;
	uint32_t nr_compilers;
	uint64_t next_ns;
	bool has_new;
};

struct hotspot_compilations *hotspot_compilations_create(void)
{
	return calloc(1, sizeof(struct hotspot_compilations));
}

void hotspot_compilations_destroy(struct hotspot_compilations *c)
{
	if (!c)
		return;
	hash_map_fini(&c->by_tid);
	free(c->ended.at);
	free(c);
}

void hotspot_compilations_forget_thread(struct hotspot_compilations *c, uint32_t tid)
{
	if (c && hash_map_find(&c->by_tid, tid, 0) == THREAD_OTHER)
		c->has_new |= hash_map_set(&c->by_tid, tid, 0, THREAD_NEW);
}

/* Returns the stack address of the outermost pair of a Method and the thread in a sample, or 0 if there is none. */
static uint64_t find_place(struct hotspot_compilations *c, const struct hotspot_layout *l, const struct sample_seen *s, uint64_t thread)
{
	uint64_t pair[2];
	unsigned nr = 0;

	for (uint32_t at = s->stack_bytes & ~7u; at >= sizeof(pair) && nr < PAIRS_READ; at -= 8) {
		memcpy(pair, s->stack + at - sizeof(pair), sizeof(pair));
		if (pair[1] != thread || pair[0] % 8)
			continue;
		nr++;
		if (hotspot_read_method(l, pair[0], false, &c->method))
			return s->stack_pointer + at - sizeof(pair);
	}
	return 0;
}

/* Returns the address of the Method that the thread compiles.  Returns 0 if it compiles none, if the copy of its stack does not reach so
 * far, or if no pair was found yet. */
static uint64_t find_method(struct hotspot_compilations *c, const struct hotspot_layout *l, struct compiler *k, const struct sample_seen *s)
{
	uint64_t pair[2], at;

	if (k->searches) {
		at = find_place(c, l, s, k->thread);
		k->place = at > k->place ? at : k->place;
		k->searches--;
	}
	at = k->place - s->stack_pointer;
	if (!k->place || at > s->stack_bytes || s->stack_bytes - at < sizeof(pair))
		return 0;
	memcpy(pair, s->stack + at, sizeof(pair));
	return pair[1] == k->thread ? pair[0] : 0;
}

static void end_compilation(struct hotspot_compilations *c, struct hotspot_compilation *now)
{
	if (now->method && c->ended.nr < COMPILATIONS_MAX && ARRAY_GROW(c->ended))
		c->ended.at[c->ended.nr++] = *now;
	now->method = 0;
}

/* Samples of a thread come from the rings of several processors, which are drained one by one, so a sample may come after later ones. */
bool hotspot_compilation_has(struct hotspot_compilation *k, uint64_t method, uint64_t time_ns)
{
	bool late = time_ns < k->from_ns;

	if (k->method != method || time_ns > k->to_ns + HOTSPOT_PAUSE_NS || k->from_ns > time_ns + HOTSPOT_PAUSE_NS)
		return k->method && late;
	k->from_ns = late ? time_ns : k->from_ns;
	k->to_ns = time_ns > k->to_ns ? time_ns : k->to_ns;
	return true;
}

void hotspot_compilations_note_sample(struct hotspot_compilations *c, const struct hotspot_layout *l, const struct sample_seen *s)
{
	uint32_t known = c ? hash_map_find(&c->by_tid, s->tid, 0) : THREAD_OTHER;
	struct hotspot_compilation *now;
	struct compiler *k;
	uint64_t method;

	if (!known && c->by_tid.nr < THREADS_MAX)
		c->has_new |= hash_map_set(&c->by_tid, s->tid, 0, THREAD_NEW);
	if (known < THREAD_COMPILER)
		return;
	k = &c->compiler[known - THREAD_COMPILER];
	now = &k->now;
	method = find_method(c, l, k, s);
	if (!method || hotspot_compilation_has(now, method, s->time_ns))
		return;
	end_compilation(c, now);
	now->method = method;
	now->from_ns = now->to_ns = s->time_ns;
}

/* Returns the compiler of a thread, '1' or '2' for C1 or C2, by the kernel's name of the thread, or 0 if it is no compiler's thread. */
static char compiler_of_thread(pid_t pid, uint32_t tid)
{
	char path[64], name[32];

	snprintf(path, sizeof(path), "/proc/%d/task/%u/status", (int)pid, tid);
	proc_read_value(path, "Name", name, sizeof(name));
	return name[0] == 'C' && name[1] && strncmp(name + 2, " CompilerThre", 13) == 0 ? name[1] : 0;
}

/* Notes the kind of a thread.  Threads without a sample so far are noted too, so that a compiler's first samples count. */
static void note_thread(void *context, const struct hotspot_layout *l, uint32_t tid, uint64_t thread)
{
	struct hotspot_compilations *c = context;
	uint32_t known = hash_map_find(&c->by_tid, tid, 0);
	char compiler;

	if (known > THREAD_NEW || (!known && c->by_tid.nr >= THREADS_MAX))
		return;
	compiler = c->nr_compilers < COMPILERS_MAX ? compiler_of_thread(l->pid, tid) : 0;
	hash_map_set(&c->by_tid, tid, 0, compiler ? THREAD_COMPILER + c->nr_compilers : THREAD_OTHER);
	if (compiler)
		c->compiler[c->nr_compilers++] = (struct compiler){ thread, 0, SEARCHES, { .tid = tid, .compiler = compiler } };
}

static void write_compilation(struct hotspot_compilations *c, const struct hotspot_layout *l, struct trace_writer *w,
			      const struct hotspot_compilation *k)
{
	char name[HOTSPOT_NAME_BYTES + 8];

	if (!hotspot_read_method(l, k->method, false, &c->method))
		return;
	snprintf(name, sizeof(name), "C%c %s", k->compiler, c->method.name);
	TRACE_PUT(w, mark, k->from_ns, (uint32_t)l->pid, k->tid, .action = JITREG_MARK_BEGIN, .name = trace_string(name),
		  .covers = JITREG_COVERS_THREAD);
	TRACE_PUT(w, mark, k->to_ns + 1, (uint32_t)l->pid, k->tid, .action = JITREG_MARK_END, .name = trace_string(name));
}

void hotspot_compilations_settle(struct hotspot_compilations *c, const struct hotspot_layout *l, struct trace_writer *w, uint64_t now_ns,
				 bool last)
{
	if (!c)
		return;
	/* a compilation is written soon, because the name of its method can be read only while the JVM exists */
	for (uint32_t i = 0; i < c->nr_compilers; i++)
		if (last || now_ns > c->compiler[i].now.to_ns + LOOK_NS)
			end_compilation(c, &c->compiler[i].now);
	for (uint32_t i = 0; i < c->ended.nr; i++)
		write_compilation(c, l, w, &c->ended.at[i]);
	c->ended.nr = 0;
	if (!c->has_new || now_ns < c->next_ns)
		return;
	c->has_new = false;
	c->next_ns = now_ns + LOOK_NS;
	hotspot_each_java_thread(l, note_thread, c);
}
