/* SPDX-License-Identifier: MIT */
/*
 * LuaJIT allocates its main Lua thread, its global state and the state of its compiler in one piece (lj_obj.h, lj_jit.h). In anonymous
 * memory the thread is recognised by its type, by its pointer to the global state, which is right behind it, and by that state's pointer
 * back to it. The list of traces is recognised in the memory that follows, since each trace in it has the number of its place.
 */
#include "agent/recorder/jit_files/luajit.h"

#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/base/mapping_kind.h"
#include "jitreg/jitreg.h"
#include "jitreg/trace/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PROCESSES_MAX 64
#define LOOK_MS 10 /* interval of looks at traces; one that is compiled and freed between two looks is never seen */
#define SEARCHED_BYTES (64ull << 20) /* maximum number of bytes of a process that one look searches */
#define PIECE_BYTES (256u << 10)
/* Interval of searches after code memory was mapped.  Each search of all of a process's memory that finds no list doubles it. */
#define LOOK_NS 200000000ull
#define LOOK_NS_MAX 12800000000ull
#define THREAD_BYTES_MAX 256 /* maximum number of bytes from the thread to the global state */
#define GLOBAL_BYTES 1024    /* first bytes of the global state, one word of which points to the main thread */
#define STATE_BYTES 16384    /* bytes from the global state on in which the compiler's list is looked for */
#define TRACES_MAX 65536u
#define TYPE_THREAD 6
#define TYPE_PROTOTYPE 7
#define TYPE_TRACE 9
#define TYPE_STRING 4
#define NAME_BYTES 512

/* This struct has the first members of LuaJIT's GCtrace. */
struct lua_trace {
	uint64_t next;
	uint8_t marked, type;
	uint16_t nr_snapshots;
	uint32_t nr_instructions;
	uint64_t lists[6];
	uint64_t prototype, pc; /* prototype and instruction at which the trace begins */
	uint32_t first_instruction, bytes;
	uint64_t code;
	uint32_t loop;
	uint16_t nr_children, spill, number, link, root;
};
_Static_assert(offsetof(struct lua_trace, code) == 88 && offsetof(struct lua_trace, number) == 104, "GCtrace");

/* This is LuaJIT's GCproto, the prototype of a Lua function. Its instructions follow it. */
struct lua_prototype {
	uint64_t next;
	uint8_t marked, type, nr_parameters, frame_size;
	uint32_t nr_instructions;
	uint64_t unused, list, constants, upvalues;
	uint32_t sizes[3];
	uint8_t nr_upvalues, flags;
	uint16_t trace;
	uint64_t chunk_name;
	uint32_t first_line, nr_lines;
	uint64_t lines, names, variables;
};
_Static_assert(sizeof(struct lua_prototype) == 104 && offsetof(struct lua_prototype, chunk_name) == 64, "GCproto");

/* This is LuaJIT's GCstr, a string, whose text follows it. */
struct lua_string {
	uint64_t next;
	uint8_t marked, type, reserved, algorithm;
	uint32_t id, hash, bytes;
};

/* This struct has the members of the compiler's state (jit_State: trace, freetrace, sizetrace) by which the list of traces is found. */
struct lua_list {
	uint64_t traces;
	uint32_t first_free, nr;
};

struct lua_process {
	pid_t pid;
	uint64_t list_at; /* address of struct lua_list; 0: not found yet */
	uint64_t looked_ns, look_after_ns;
	uint64_t look_from; /* address from which the next search goes on */
	bool is_later;	    /* the traces were read, or all memory was searched, so traces that are new were compiled since */
	uint64_t *known;  /* addresses of the traces that were seen, indexed by their numbers */
	uint32_t nr_known;
};

/* These are values of luajit.looked, for processes with memory for code. */
enum {
	FOUND = 1, /* it had memory for code, and its mappings were looked through for LuaJIT */
	TOLD,	   /* watch() or note_agent() was called for it or its parent, so note_mapping() does not look for LuaJIT */
	GONE,	   /* it has ended, or was FOUND and runs another program */
};

struct luajit {
	const struct name_source_recording *recording;
	struct lua_process process[PROCESSES_MAX];
	uint32_t nr;
	struct hash_map looked; /* (pid, 0) -> the above; only if all processes with memory for code are looked at */
	unsigned char piece[PIECE_BYTES]; /* not touched before the first process with LuaJIT */
};

static int create(const struct name_source_recording *r, void **source)
{
	struct luajit *l = calloc(1, sizeof(*l));

	if (!l)
		return -ENOMEM;
	l->recording = r;
	*source = l;
	return 0;
}

static void destroy(void *luajit)
{
	struct luajit *l = luajit;

	for (uint32_t i = 0; i < l->nr; i++)
		free(l->process[i].known);
	hash_map_fini(&l->looked);
	free(l);
}

static int has_luajit(void *context, const struct proc_mapping *m)
{
	return m->path[0] == '/' && m->offset == 0 && proc_mem_find_symbol(*(pid_t *)context, m->start, "luaJIT_setmode") ? 1 : 0;
}

static struct lua_process *find_lua_process(struct luajit *l, pid_t pid)
{
	for (uint32_t i = 0; i < l->nr; i++)
		if (l->process[i].pid == pid)
			return &l->process[i];
	return NULL;
}

static void set_looked(struct luajit *l, uint32_t pid, uint32_t what)
{
	if (l->recording->options->finds_jit_lists)
		hash_map_set(&l->looked, pid, 0, what);
}

static void add_if_luajit(struct luajit *l, pid_t pid)
{
	if (!find_lua_process(l, pid) && l->nr < PROCESSES_MAX && proc_each_mapping(pid, has_luajit, &pid) == 1)
		l->process[l->nr++] = (struct lua_process){ .pid = pid, .look_after_ns = LOOK_NS };
}

static void watch(void *luajit, uint32_t pid)
{
	set_looked(luajit, pid, TOLD);
	add_if_luajit(luajit, (pid_t)pid);
}

static void note_agent(void *luajit, uint32_t pid)
{
	set_looked(luajit, pid, TOLD);
}

/* Makes the next search for the list of a known process come sooner. With finds_jit_lists, looks for LuaJIT through the mappings of a
 * process with its first memory for code, which takes some ms. */
static void note_mapping(void *luajit, const struct mapping *m, uint64_t time_ns)
{
	struct luajit *l = luajit;
	struct lua_process *p;
	uint32_t looked;

	(void)time_ns;
	if (!mapping_may_hold_generated_code(m->path, m->path_bytes, m->prot, m->shared))
		return;
	p = m->existed ? NULL : find_lua_process(l, (pid_t)m->pid);
	if (p)
		p->look_after_ns = LOOK_NS;
	if (!l->recording->options->finds_jit_lists)
		return;
	looked = hash_map_find(&l->looked, m->pid, 0);
	if (looked && looked != GONE)
		return;
	set_looked(l, m->pid, FOUND);
	add_if_luajit(l, (pid_t)m->pid);
}

/* The child has the traces of its parent, so those that are known there are not written again for it. */
static void note_fork(void *luajit, uint32_t ppid, uint32_t pid, uint64_t time_ns)
{
	struct luajit *l = luajit;
	struct lua_process *parent = find_lua_process(l, (pid_t)ppid), *p;
	uint32_t looked = hash_map_find(&l->looked, ppid, 0);

	(void)time_ns;
	if (looked && looked != GONE)
		set_looked(l, pid, looked);
	if (!parent || l->nr == PROCESSES_MAX || find_lua_process(l, (pid_t)pid))
		return;
	p = &l->process[l->nr++];
	*p = *parent;
	p->pid = (pid_t)pid;
	p->known = parent->nr_known ? malloc(parent->nr_known * sizeof(*p->known)) : NULL;
	p->nr_known = p->known ? parent->nr_known : 0;
	if (p->known)
		memcpy(p->known, parent->known, p->nr_known * sizeof(*p->known));
}

static void remove_lua_process(struct luajit *l, pid_t pid)
{
	struct lua_process *p = find_lua_process(l, pid);

	if (!p)
		return;
	free(p->known);
	*p = l->process[--l->nr];
}

static void note_exec(void *luajit, const struct kernel_comm *c, uint64_t time_ns)
{
	struct luajit *l = luajit;

	(void)time_ns;
	remove_lua_process(l, (pid_t)c->pid);
	if (hash_map_find(&l->looked, c->pid, 0) == FOUND) /* TOLD stays, as the agent may be the new program's */
		set_looked(l, c->pid, GONE);
}

static void note_exit(void *luajit, uint32_t pid, uint64_t time_ns)
{
	struct luajit *l = luajit;

	(void)time_ns;
	remove_lua_process(l, (pid_t)pid);
	if (hash_map_find(&l->looked, pid, 0))
		set_looked(l, pid, GONE);
}

/* -------------------------------------------------------------------------------------------------------- the list */

static bool read_trace(pid_t pid, uint64_t address, uint32_t number, struct lua_trace *t)
{
	return address && address % 8 == 0 && proc_mem_read(pid, address, t, sizeof(*t)) == 0 && t->type == TYPE_TRACE &&
	       t->number == number && t->bytes && t->bytes < (1u << 24) && t->code;
}

/* Is this the list of traces?  The first word of the array is zero, as there is no trace 0.  Of the next ones (15 at most are looked at),
 * each points to a trace with that number or is zero, and at least one is a trace. */
static bool is_list(pid_t pid, const struct lua_list *list)
{
	uint64_t trace[16];
	struct lua_trace t;
	uint32_t nr = list->nr < 16 ? list->nr : 16, nr_traces = 0;

	if (list->nr < 2 || list->nr > TRACES_MAX || list->first_free > list->nr || !list->traces || list->traces % 8 ||
	    proc_mem_read(pid, list->traces, trace, nr * sizeof(trace[0])) || trace[0])
		return false;
	for (uint32_t i = 1; i < nr; i++) {
		if (trace[i] && !read_trace(pid, trace[i], i, &t))
			return false;
		nr_traces += trace[i] != 0;
	}
	return nr_traces > 0;
}

static uint64_t find_list_behind(pid_t pid, uint64_t global)
{
	unsigned char state[STATE_BYTES];
	struct lua_list list;

	if (proc_mem_read(pid, global, state, sizeof(state)))
		return 0;
	for (size_t at = 0; at + sizeof(list) <= sizeof(state); at += 8) {
		memcpy(&list, state + at, sizeof(list));
		if (is_list(pid, &list))
			return global + at;
	}
	return 0;
}

/* Returns the address of the global state if there is a main thread at address `thread` (whose first bytes are given), with the global
 * state behind it, or 0. */
static uint64_t find_global_state(pid_t pid, uint64_t thread, const unsigned char *bytes)
{
	uint64_t global, word[GLOBAL_BYTES / 8];

	memcpy(&global, bytes + 16, sizeof(global));
	if (bytes[9] != TYPE_THREAD || global % 8 || global <= thread + 24 || global - thread > THREAD_BYTES_MAX ||
	    proc_mem_read(pid, global, word, sizeof(word)))
		return 0;
	for (size_t i = 0; i < GLOBAL_BYTES / 8; i++)
		if (word[i] == thread)
			return global;
	return 0;
}

struct searching {
	struct luajit *l;
	struct lua_process *p;
	uint64_t left;
};

static int search_lua_mapping(void *context, const struct proc_mapping *m)
{
	struct searching *s = context;
	uint64_t begin = m->start > s->p->look_from ? m->start : s->p->look_from, end = m->end;

	if (begin >= end || !(m->prot & PROT_WRITE) || (m->prot & PROT_EXEC) || (*m->path && strcmp(m->path, "[heap]") != 0))
		return 0;
	if (end - begin > s->left)
		end = begin + s->left;
	s->left -= end - begin;
	for (uint64_t at = begin; at < end; at += PIECE_BYTES) {
		size_t bytes = end - at < PIECE_BYTES ? (size_t)(end - at) : PIECE_BYTES;

		if (proc_mem_read(s->p->pid, at, s->l->piece, bytes))
			continue;
		for (size_t i = 0; i + 24 <= bytes; i += 8) {
			uint64_t global = find_global_state(s->p->pid, at + i, s->l->piece + i);

			if (global && (s->p->list_at = find_list_behind(s->p->pid, global)))
				return 1;
		}
	}
	s->p->look_from = end;
	return s->left == 0;
}

/* Searches the next SEARCHED_BYTES of a process's memory for its list. */
static void search_list(struct luajit *l, struct lua_process *p)
{
	struct searching s = { l, p, SEARCHED_BYTES };

	if (proc_each_mapping(p->pid, search_lua_mapping, &s) == 1)
		return;
	p->look_from = 0;
	p->is_later = true;
	p->look_after_ns = 2 * p->look_after_ns < LOOK_NS_MAX ? 2 * p->look_after_ns : LOOK_NS_MAX;
}

/* ------------------------------------------------------------------------------------------------------- its traces */

/* Returns the source line of an instruction (by its number), computed as LuaJIT's own lj_debug_line() does, or the function's first line if
 * it cannot be read. */
static uint32_t line_of_instruction(pid_t pid, const struct lua_prototype *p, uint64_t instruction)
{
	uint32_t bytes = p->nr_lines < 256 ? 1 : p->nr_lines < 65536 ? 2 : 4, line = 0;

	if (instruction == 0 || instruction >= p->nr_instructions || !p->lines ||
	    proc_mem_read(pid, p->lines + (instruction - 1) * bytes, &line, bytes))
		return p->first_line;
	return p->first_line + line;
}

static bool read_chunk_name(pid_t pid, uint64_t address, char *name, size_t bytes)
{
	struct lua_string s;
	char *end;

	if (!address || proc_mem_read(pid, address, &s, sizeof(s)) || s.type != TYPE_STRING || !s.bytes)
		return false;
	if (s.bytes < bytes)
		bytes = s.bytes + 1;
	if (proc_mem_read(pid, address + sizeof(s), name, bytes - 1))
		return false;
	name[bytes - 1] = 0;
	end = *name == '@' ? NULL : strchr(name, '\n');
	if (end)
		*end = 0;
	if (*name == '@' || *name == '=')
		memmove(name, name + 1, strlen(name));
	return true;
}

/* Writes a LOAD for a trace, named by its number and the source line at which it begins.  Writes none if its prototype's memory is
 * inconsistent, or its first instruction is not behind that prototype. */
static void write_trace(const struct lua_process *p, const struct lua_trace *t, struct trace_writer *w, uint64_t time_ns)
{
	char name[NAME_BYTES + 64], chunk[NAME_BYTES];
	struct lua_prototype prototype;
	uint64_t first = t->prototype + sizeof(prototype);
	int n;

	if (proc_mem_read(p->pid, t->prototype, &prototype, sizeof(prototype)) || prototype.type != TYPE_PROTOTYPE || t->pc < first ||
	    !read_chunk_name(p->pid, prototype.chunk_name, chunk, sizeof(chunk)))
		return;
	n = snprintf(name, sizeof(name), "TRACE %u %s:%u", t->number, chunk,
		     line_of_instruction(p->pid, &prototype, (t->pc - first) / 4));
	TRACE_PUT(w, load, time_ns, (uint32_t)p->pid, 0, .pid = (uint32_t)p->pid, .vma = t->code, .code_addr = t->code,
		  .code_size = t->bytes, .name = { name, (size_t)n });
}

static bool grow_known_traces(struct lua_process *p, uint32_t nr)
{
	uint64_t *more = nr > p->nr_known ? realloc(p->known, nr * sizeof(*more)) : p->known;

	if (!more)
		return false;
	if (nr > p->nr_known) {
		memset(more + p->nr_known, 0, (nr - p->nr_known) * sizeof(*more));
		p->nr_known = nr;
	}
	p->known = more;
	return true;
}

static void read_new_traces(struct lua_process *p, struct trace_writer *w, uint64_t time_ns)
{
	struct lua_list list;
	struct lua_trace t;
	uint64_t *now;

	if (proc_mem_read(p->pid, p->list_at, &list, sizeof(list)) || list.nr > TRACES_MAX || !list.nr || !grow_known_traces(p, list.nr))
		return;
	now = malloc(list.nr * sizeof(*now));
	if (now && proc_mem_read(p->pid, list.traces, now, list.nr * sizeof(*now)) == 0)
		for (uint32_t i = 1; i < list.nr; i++) {
			if (now[i] == p->known[i])
				continue;
			if (read_trace(p->pid, now[i], i, &t))
				write_trace(p, &t, w, time_ns);
			p->known[i] = now[i];
		}
	free(now);
}

static void poll_traces(void *luajit, uint64_t now_ns)
{
	struct luajit *l = luajit;

	for (uint32_t i = 0; i < l->nr; i++) {
		struct lua_process *p = &l->process[i];
		bool is_later = p->is_later;

		if (!p->list_at && (!p->looked_ns || now_ns - p->looked_ns > p->look_after_ns)) {
			p->looked_ns = now_ns;
			search_list(l, p);
		}
		if (p->list_at) {
			read_new_traces(p, l->recording->writer, is_later ? now_ns : JITREG_TIME_BEFORE);
			p->is_later = true;
		}
	}
}

static int wait_ms(const void *luajit, uint64_t now_ns)
{
	const struct luajit *l = luajit;

	(void)now_ns;
	return l->nr ? LOOK_MS : 0;
}

const struct name_source luajit_source = { .is_live_only = true, .create = create, .destroy = destroy,
	.note_fork = note_fork, .note_exec = note_exec, .note_exit = note_exit, .note_mapping = note_mapping, .note_agent = note_agent,
	.watch = watch, .poll = poll_traces,
	.wait_ms = wait_ms };
