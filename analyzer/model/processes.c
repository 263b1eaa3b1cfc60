/* SPDX-License-Identifier: MIT */
#include "analyzer/model/processes.h"

#include "analyzer/model/read.h"
#include "jitreg/base/deleted_path.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/base/sorted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define COMM_BYTES 15u /* length to which the kernel cuts the name of a thread */

static bool process_begins_up_to(const struct process *p, uint32_t pid, uint64_t time_ns)
{
	return p->pid < pid || (p->pid == pid && p->from_ns <= time_ns);
}

/* Returns the index in model.processes after the last process with this PID that began at time_ns or before.  Without one, it is where
 * that would be inserted. */
static uint32_t process_position(const struct model *m, uint32_t pid, uint64_t time_ns)
{
	return SORTED_COUNT(m->processes.nr, i, process_begins_up_to(m->processes.at[i], pid, time_ns));
}

static struct process *add_process(struct model *m, uint32_t pid, uint64_t from_ns)
{
	struct process *p = calloc(1, sizeof(*p));
	uint32_t at;

	if (!p || !ARRAY_GROW(m->processes) || !ARRAY_GROW(m->numbered)) {
		free(p);
		return NULL;
	}
	p->pid = pid;
	p->from_ns = from_ns;
	p->to_ns = UINT64_MAX;
	p->comm = strdup("");
	p->executable = strdup("");
	at = process_position(m, pid, from_ns);
	memmove(m->processes.at + at + 1, m->processes.at + at, (m->processes.nr - at) * sizeof(*m->processes.at));
	m->processes.at[at] = p;
	p->number = m->processes.nr++;
	m->numbered.at[m->numbered.nr++] = p;
	return p;
}

struct process *model_find_process(const struct model *m, uint32_t pid, uint64_t time_ns)
{
	uint32_t at = process_position(m, pid, time_ns);

	if (at > 0 && m->processes.at[at - 1]->pid == pid)
		return m->processes.at[at - 1];
	/* The time is before the beginning of the process, because clocks of two processors differ. */
	return at < m->processes.nr && m->processes.at[at]->pid == pid ? m->processes.at[at] : NULL;
}

struct process *model_get_process(struct model *m, uint32_t pid, uint64_t time_ns)
{
	struct process *p = model_find_process(m, pid, time_ns);

	return p ? p : add_process(m, pid, 0);
}

uint64_t model_process_until(const struct model *m, const struct process *p)
{
	uint32_t at = process_position(m, p->pid, p->from_ns);

	return at < m->processes.nr && m->processes.at[at]->pid == p->pid ? m->processes.at[at]->from_ns : UINT64_MAX;
}

uint32_t model_get_thread(struct model *m, const struct process *p, uint32_t tid)
{
	uint32_t i = hash_map_find(&m->threads.by_tid, p->number, tid);

	if (i)
		return i - 1;
	if (!ARRAY_GROW(m->threads) || !hash_map_set(&m->threads.by_tid, p->number, tid, m->threads.nr + 1))
		return 0;
	m->threads.at[m->threads.nr] = (struct thread){ .tid = tid, .process = p->number, .first = m->threads.nr, .comm = strdup("") };
	return m->threads.nr++;
}

/* ------------------------------------------------------------------------------------------------------- names of threads */

/* maximum number of names of all threads together, besides the first of each. Beyond this, a thread is shown by the last name that it
 * had got */
#define NAMES_MAX (1u << 16)

void threads_add_name(struct model *m, uint32_t thread, uint64_t time_ns, char *comm, bool is_whole)
{
	if (!comm || (is_whole && !*comm) || thread >= m->threads.nr || !ARRAY_GROW(m->threads.renamed)) {
		free(comm);
		return;
	}
	m->threads.renamed.at[m->threads.renamed.nr] = (struct renamed){ thread, thread, m->threads.renamed.nr, is_whole, time_ns, comm };
	m->threads.renamed.nr++;
}

static int by_thread_and_time(const void *a, const void *b)
{
	const struct renamed *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return x->nr < y->nr ? -1 : 1;
}

static bool are_one_name(const struct renamed *whole, const struct renamed *comm)
{
	return whole->thread == comm->thread && whole->is_whole && !comm->is_whole &&
	       strncmp(whole->comm, comm->comm, THREAD_NAME_ALIKE) == 0;
}

/* Drops the kernel's abbreviations of whole names.  An abbreviation comes after its whole name, or has the same time. */
static void leave_out_abbreviations(struct model *m)
{
	const struct renamed *whole = NULL; /* the last whole name whose abbreviation has not come */
	uint32_t nr = 0;

	for (uint32_t i = 0; i < m->threads.renamed.nr; i++) {
		struct renamed *r = &m->threads.renamed.at[i];
		bool is_beside;

		if (whole && are_one_name(whole, r)) {
			free(r->comm);
			whole = NULL;
			continue;
		}
		is_beside = nr && m->threads.renamed.at[nr - 1].from_ns == r->from_ns && are_one_name(r, &m->threads.renamed.at[nr - 1]);
		if (is_beside)
			free(m->threads.renamed.at[--nr].comm);
		m->threads.renamed.at[nr] = *r;
		if (r->is_whole)
			whole = is_beside ? NULL : &m->threads.renamed.at[nr];
		nr++;
	}
	m->threads.renamed.nr = nr;
}

/* Returns the index of a thread's entry with the name of r, and adds it if that name is new for the thread.  by_name: (hash of a name,
 * thread) -> 1 + index.  Beyond NAMES_MAX, or if memory runs out, returns the entry of the name before. */
static uint32_t get_thread_by_name(struct model *m, const struct renamed *r, struct hash_map *by_name, uint32_t *nr_names)
{
	const struct thread *first = &m->threads.at[r->thread];
	uint64_t hash = hash_text(r->comm);
	uint32_t i = hash_map_find(by_name, hash, r->thread);

	if (strcmp(first->comm, r->comm) == 0)
		return r->thread;
	if (i && strcmp(m->threads.at[i - 1].comm, r->comm) == 0)
		return i - 1;
	if (*nr_names == NAMES_MAX || !ARRAY_GROW(m->threads) ||
	    !hash_map_set(by_name, hash, r->thread, m->threads.nr + 1))
		return r[-1].named;
	++*nr_names;
	first = &m->threads.at[r->thread];
	m->threads.at[m->threads.nr] = (struct thread){ .tid = first->tid, .process = first->process, .first = r->thread,
						    .comm = strdup(r->comm) };
	return m->threads.nr++;
}

int threads_settle(struct model *m)
{
	struct hash_map by_name = { 0 };
	uint32_t nr_names = 0;

	if (m->threads.renamed.nr)
		qsort(m->threads.renamed.at, m->threads.renamed.nr, sizeof(*m->threads.renamed.at), by_thread_and_time);
	leave_out_abbreviations(m);
	for (uint32_t i = 0; i < m->threads.renamed.nr; i++) {
		struct renamed *r = &m->threads.renamed.at[i];
		struct thread *t = &m->threads.at[r->thread];

		if (i == 0 || r[-1].thread != r->thread) {
			t->renamed = i;
			free(t->comm);
			t->comm = strdup(r->comm);
			if (!t->comm)
				break;
		} else {
			r->named = get_thread_by_name(m, r, &by_name, &nr_names);
		}
		m->threads.at[r->thread].nr_renamed++;
	}
	hash_map_fini(&by_name);
	for (uint32_t i = 0; i < m->threads.renamed.nr; i++) {
		free(m->threads.renamed.at[i].comm);
		m->threads.renamed.at[i].comm = NULL;
	}
	for (uint32_t i = 0; i < m->threads.nr; i++)
		if (!m->threads.at[i].comm)
			return -ENOMEM;
	return 0;
}

/* Returns the index of the entry with the name that thread i had at the time, and narrows *holds to when it had that name. */
static uint32_t find_thread_by_time(const struct model *m, uint32_t i, uint64_t time_ns, struct time_range *holds)
{
	const struct thread *t = &m->threads.at[i];
	const struct renamed *r = m->threads.renamed.at + t->renamed;
	uint32_t up_to;

	if (t->nr_renamed < 2)
		return i;
	/* The first name holds before it was given, too. */
	up_to = 1 + SORTED_COUNT(t->nr_renamed - 1, n, r[n + 1].from_ns <= time_ns);
	if (up_to > 1 && holds->from_ns < r[up_to - 1].from_ns)
		holds->from_ns = r[up_to - 1].from_ns;
	if (up_to < t->nr_renamed && holds->until_ns > r[up_to].from_ns)
		holds->until_ns = r[up_to].from_ns;
	return r[up_to - 1].named;
}

uint32_t model_find_thread_of(const struct model *m, uint32_t process, uint32_t tid, uint64_t time_ns)
{
	uint32_t i = hash_map_find(&m->threads.by_tid, process, tid);
	struct time_range holds = TIME_RANGE_ALL;

	return i ? find_thread_by_time(m, i - 1, time_ns, &holds) : MODEL_NO_THREAD;
}

uint32_t model_find_thread(struct model *m, const struct process *p, uint32_t tid, uint64_t time_ns, struct time_range *holds)
{
	return find_thread_by_time(m, model_get_thread(m, p, tid), time_ns, holds);
}

/* --------------------------------------------------------------------------------------------------------- executables */

enum rank { RANK_OTHER, RANK_LIBRARY, RANK_PROGRAM, RANK_OF_COMM };

static bool is_named_as_library(const char *name)
{
	for (const char *so = strstr(name, ".so"); so; so = strstr(so + 1, ".so"))
		if (so[3] == 0 || so[3] == '.' || so[3] == ' ')
			return true;
	return false;
}

/* Returns how likely a mapped file is the program of a process with this name (comm), which the kernel cuts to 15 bytes. */
static enum rank rank_of_mapping(const char *path, const char *comm)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	size_t bytes = strcspn(name, " ");

	if (*path != '/' || strncmp(path, "/dev/", 5) == 0)
		return RANK_OTHER;
	bytes = bytes < COMM_BYTES ? bytes : COMM_BYTES;
	if (comm && bytes && strlen(comm) == bytes && memcmp(name, comm, bytes) == 0)
		return RANK_OF_COMM;
	return is_named_as_library(name) ? RANK_LIBRARY : RANK_PROGRAM;
}

/* Takes a path (on the heap, or NULL).  The process of a service is one before and after an upgrade replaces its file. */
static void take_executable(struct process *p, char *path)
{
	size_t bytes = path ? deleted_path_bytes(path, strlen(path)) : 0;

	if (!path)
		return;
	p->executable_is_gone = path[bytes] != 0;
	path[bytes] = 0;
	model_set_text(&p->executable, path);
}

void process_note_mapping(struct process *p, const char *path, uint64_t time_ns)
{
	bool first = !*p->executable || time_ns < p->executable_ns;
	enum rank rank;

	/* A forked process only maps libraries. */
	if (p->parent || (!first && time_ns > p->executable_ns))
		return;
	rank = rank_of_mapping(path, p->comm);
	/* A process of which libraries alone are known goes by its name, unless an exec says that the first mapping is the program. */
	if ((rank < RANK_PROGRAM && !p->exec_seen && p->comm && *p->comm) ||
	    (!first && rank <= rank_of_mapping(p->executable, p->comm)))
		return;
	take_executable(p, strdup(path));
	p->executable_ns = time_ns;
}

/* ---------------------------------------------------------------------------------------------------------- lifetimes */

struct lifetime {
	uint32_t id, pid, ppid;
	uint64_t time_ns;
	uint32_t nr; /* number of lifetimes before it in the trace */
	char *comm, *executable;
};

const uint32_t lifetimes_ids[LIFETIMES_NR_IDS] = { TRACE_PROCESS, TRACE_FORK, TRACE_COMM };

int lifetimes_add(struct lifetimes *l, const struct trace_record *r)
{
	struct lifetime t = { .id = r->id, .pid = r->pid, .time_ns = r->time_ns, .nr = l->nr };

	if (r->id != TRACE_PROCESS && r->id != TRACE_FORK && r->id != TRACE_COMM)
		return 0;
	if (r->id == TRACE_FORK)
		t.ppid = (uint32_t)trace_u64(r, F(fork, ppid));
	if ((r->id == TRACE_FORK && t.ppid == r->pid) || (r->id == TRACE_COMM && !trace_u64(r, F(comm, exec))))
		return 0; /* a thread begins or gets a name, not a process */
	if (!ARRAY_GROW(*l))
		return -ENOMEM;
	if (r->id != TRACE_FORK)
		t.comm = trace_text(r, r->id == TRACE_COMM ? F(comm, comm) : F(process, comm));
	if (r->id == TRACE_PROCESS)
		t.executable = trace_text(r, F(process, executable));
	l->at[l->nr++] = t;
	return 0;
}

static int compare_lifetime_times(const void *a, const void *b)
{
	const struct lifetime *x = a, *y = b;

	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->nr < y->nr ? -1 : 1;
}

static void move_text(char **to, char **from)
{
	free(*to);
	*to = *from;
	*from = NULL;
}

static void copy_text(char **to, const char *from)
{
	char *copy = strdup(from ? from : "");

	move_text(to, &copy);
}

static void apply_process_record(struct model *m, struct lifetime *t)
{
	uint32_t at = process_position(m, t->pid, UINT64_MAX);
	struct process *p = at && m->processes.at[at - 1]->pid == t->pid ? NULL : add_process(m, t->pid, 0);

	if (!p)
		return; /* a process with this PID is known already, or memory ran out */
	p->named_ns = t->time_ns;
	take_executable(p, t->executable);
	t->executable = NULL;
	move_text(&p->comm, &t->comm);
}

/*
 * Adds the processes that existed when the recording began, before all forks.  If a process is attached to with its children, their
 * PROCESS records may be later than the FORK records of further children, and these inherit the names of their parents.  A process that
 * was forked in the recording begins with its FORK record.
 */
static void apply_first_processes(struct lifetimes *l, struct model *m)
{
	struct hash_map forked = { 0 };

	for (uint32_t i = 0; i < l->nr; i++)
		if (l->at[i].id == TRACE_FORK && !hash_map_set(&forked, l->at[i].pid, 0, 1))
			break;
	for (uint32_t i = 0; i < l->nr; i++)
		if (l->at[i].id == TRACE_PROCESS && !hash_map_find(&forked, l->at[i].pid, 0))
			apply_process_record(m, &l->at[i]);
	hash_map_fini(&forked);
}

static void apply_fork_record(struct model *m, const struct lifetime *t)
{
	struct process *p = add_process(m, t->pid, t->time_ns), *parent = p ? model_get_process(m, t->ppid, t->time_ns) : NULL;

	if (!parent || parent == p)
		return;
	p->parent = parent;
	p->parent_pid = t->ppid;
	p->forked_ns = t->time_ns;
	copy_text(&p->comm, parent->comm);
	copy_text(&p->executable, parent->executable);
	p->executable_is_gone = parent->executable_is_gone;
}

static void apply_exec_record(struct model *m, struct lifetime *t)
{
	struct process *p = model_get_process(m, t->pid, t->time_ns);
	uint32_t parent_pid = p ? p->parent_pid : 0;
	struct process *before = NULL;

	/* Before its first exec, the process of the recorded command still runs the recorder's code, and has no executable.  Its exec
	 * makes no second process. */
	if (p && (p->from_ns || *p->executable || p->exec_seen)) {
		before = p;
		p = add_process(m, t->pid, t->time_ns);
	}
	if (!p)
		return;
	p->executed_by = before;
	p->exec_seen = true;
	p->parent_pid = parent_pid;
	move_text(&p->comm, &t->comm);
}

void lifetimes_apply_to_model(struct lifetimes *l, struct model *m)
{
	if (l->nr)
		qsort(l->at, l->nr, sizeof(*l->at), compare_lifetime_times);
	apply_first_processes(l, m);
	for (uint32_t i = 0; i < l->nr; i++) {
		struct lifetime *t = &l->at[i];

		if (t->id == TRACE_PROCESS)
			apply_process_record(m, t);
		else if (t->id == TRACE_FORK)
			apply_fork_record(m, t);
		else
			apply_exec_record(m, t);
		free(t->comm);
		free(t->executable);
	}
	free(l->at);
	*l = (struct lifetimes){ 0 };
}

void processes_fini(struct model *m)
{
	for (uint32_t i = 0; i < m->processes.nr; i++) {
		struct process *p = m->processes.at[i];

		tags_fini(p);
		code_map_fini(&p->code);
		code_map_fini(&p->frames);
		code_map_fini(&p->guest_regions);
		code_map_fini(&p->regions);
		code_map_fini(&p->memory);
		code_map_fini(&p->mapped);
		free(p->comm);
		free(p->executable);
		free(p->host_options);
		free(p->command_line);
		free(p->service);
		free(p);
	}
	free(m->processes.at);
	free(m->numbered.at);
}

void threads_fini(struct threads *threads)
{
	for (uint32_t i = 0; i < threads->nr; i++)
		free(threads->at[i].comm);
	free(threads->at);
	for (uint32_t i = 0; i < threads->renamed.nr; i++)
		free(threads->renamed.at[i].comm);
	free(threads->renamed.at);
	hash_map_fini(&threads->by_tid);
}
