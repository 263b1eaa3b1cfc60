/* SPDX-License-Identifier: MIT */
/* Keeps servers' processes and the stacks that were sampled in them, reads their memory now and then, and records what they wait for. */
#include "agent/recorder/engines/engines.h"

#include "agent/recorder/engines/postgres.h"
#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/mapping_kind.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX /* value of by_pid for a process that was a backend, and has ended or runs another program */
#define FRAMES_MAX 8	/* frames of standard_ExecutorRun and standard_ExecutorFinish that are kept of one stack */
#define PROGRAM "post"	/* beginning of the programs' names: postgres, postmaster */
#define LOOK_MS 10
#define SOON_MS 2
#define LOOKS_PART 20 /* looks that come sooner may take one part in so many of the time */

static int create(const struct name_source_recording *r, void **source)
{
	struct engines *e = calloc(1, sizeof(*e));

	if (!e)
		return -ENOMEM;
	e->recording = r;
	e->writer = r->writer;
	e->stack_bytes = r->options->stack_bytes < SAMPLE_STACK_SURELY_WHOLE ? r->options->stack_bytes : SAMPLE_STACK_SURELY_WHOLE;
	e->begin_ns = clock_now_ns();
	e->to_monotonic_ns = (int64_t)e->begin_ns - clock_real_ns();
	*source = e;
	return 0;
}

struct postgres_backend *engines_find_backend(const struct engines *e, pid_t pid)
{
	uint32_t i = e && e->backends.nr ? hash_map_find(&e->by_pid, (uint64_t)pid, 0) : 0;

	return i && i != NONE ? e->backends.at[i - 1] : NULL;
}

/* by_pid also keeps the time at which a process got an agent.  An agent connects by a socket, but the kernel reports forks and programs in
 * rings that are drained later, so the process may not be known yet.  An agent that connected before an exec is not that of the executed
 * program. */
#define AGENT 1	     /* key of by_pid, with the pid.  The value is ms from the beginning of the recording, plus 2. */
#define AGENT_GONE 1 /* value of that key after the process has exited */

static uint32_t ms_since_begin(const struct engines *e, uint64_t time_ns)
{
	uint64_t ms = time_ns > e->begin_ns ? (time_ns - e->begin_ns) / 1000000 : 0;

	return ms < UINT32_MAX - 2 ? (uint32_t)ms : UINT32_MAX - 2;
}

static bool has_agent_since(const struct engines *e, pid_t pid, uint64_t since_ns)
{
	uint32_t ms = hash_map_find(&e->by_pid, (uint64_t)pid, AGENT);

	return ms > AGENT_GONE && ms - 2 >= ms_since_begin(e, since_ns);
}

static void add_backend(struct engines *e, struct postgres_server *server, pid_t pid, uint64_t born_ns)
{
	struct postgres_backend *b;
	struct proc_status status;

	if (engines_find_backend(e, pid) || !ARRAY_GROW(e->backends))
		return;
	b = calloc(1, sizeof(*b));
	if (!b)
		return;
	b->pid = b->own_pid = pid;
	b->server = server;
	b->born_ns = born_ns;
	b->llvm_mapped = true;
	b->has_agent = b->lost = has_agent_since(e, pid, born_ns);
	if (proc_status(pid, 0, &status) == 0)
		b->own_pid = status.own_pid;
	if (!hash_map_set(&e->by_pid, (uint64_t)pid, 0, e->backends.nr + 1)) {
		free(b);
		return;
	}
	e->backends.at[e->backends.nr++] = b;
}

/* ------------------------------------------------------------------------------------------------------------- waits */

/* Reads the wait event of a backend that waits, once for each wait.  If the wait has ended by then, end_wait_event() drops it. */
static void read_wait_event(struct postgres_backend *b)
{
	uint64_t at;

	if (!b->wait.begin_ns || b->wait.read_ns || !b->server->my_wait)
		return;
	if (proc_mem_read(b->pid, b->server->my_wait, &at, sizeof(at)) || !at ||
	    proc_mem_read(b->pid, at, &b->wait.info, sizeof(b->wait.info)))
		b->wait.info = 0;
	b->wait.read_ns = clock_now_ns();
}

static void end_wait_event(struct engines *e, struct postgres_backend *b, uint64_t time_ns)
{
	/* If the event was read after the wait's end, it may be that of another wait, so it is dropped. */
	if (b->wait.begin_ns && b->wait.info && b->wait.read_ns < time_ns && b->wait.begin_ns < time_ns)
		postgres_write_wait(e, b, b->wait.info, b->wait.begin_ns, time_ns);
	b->wait = (struct postgres_wait){ 0 };
}

static void remove_backend(struct engines *e, struct postgres_backend *b, uint64_t time_ns)
{
	uint32_t nr = 0;

	end_wait_event(e, b, time_ns);
	postgres_backend_end_plans(e, b, time_ns);
	postgres_stored_forget(e, b);
	for (uint32_t i = 0; i < e->nr_sightings; i++)
		if (e->memory->sighting[i].backend != b)
			e->memory->sighting[nr++] = e->memory->sighting[i];
	e->nr_sightings = nr;
	for (uint32_t i = 0; i < e->backends.nr; i++)
		if (e->backends.at[i] == b) {
			e->backends.at[i] = e->backends.at[--e->backends.nr];
			if (i < e->backends.nr)
				hash_map_set(&e->by_pid, (uint64_t)e->backends.at[i]->pid, 0, i + 1);
			break;
		}
	hash_map_set(&e->by_pid, (uint64_t)b->pid, 0, NONE);
	free(b);
}

static void destroy(void *engines)
{
	struct engines *e = engines;

	while (e->backends.nr) {
		struct postgres_backend *b = e->backends.at[--e->backends.nr];

		for (uint32_t i = 0; i < b->nr_plans; i++) {
			free(b->plan[i].nodes.at);
			free(b->plan[i].functions.at);
		}
		hash_map_fini(&b->stored.known);
		free(b);
	}
	for (uint32_t i = 0; i < e->servers.nr; i++)
		free(e->servers.at[i]);
	hash_map_fini(&e->by_pid);
	hash_map_fini(&e->said);
	free(e->backends.at);
	free(e->servers.at);
	free(e->memory);
	free(e);
}

/* ---------------------------------------------------------------------------------------------------------- processes */

static void add_server_process(struct engines *e, pid_t pid, uint64_t since_ns)
{
	const struct postgres_backend *parent = NULL;
	struct postgres_server *server;
	struct postgres_backend *b;
	struct proc_stat stat;

	if (engines_find_backend(e, pid))
		return;
	if (!e->memory)
		e->memory = calloc(1, sizeof(*e->memory));
	if (!e->memory)
		return;
	if (e->backends.nr && proc_stat(pid, 0, &stat))
		parent = engines_find_backend(e, stat.parent);
	server = parent ? parent->server : postgres_server_find(e, pid);
	if (server)
		add_backend(e, server, pid, since_ns);
	b = server ? engines_find_backend(e, pid) : NULL;
	if (!b)
		return;
	generated_code_find_mappings(&b->code, pid);
	b->stored.maybe_mapped = true;
	b->is_parent = engines_is_postmaster(e, pid);
	if (b->is_parent) /* a postmaster that runs has mapped its libraries already, and the kernel reports only later mappings */
		postgres_server_find_llvm(e, b);
}

void engines_add_process(struct engines *e, pid_t pid)
{
	if (e)
		add_server_process(e, pid, e->begin_ns);
}

bool engines_is_postmaster(const struct engines *e, pid_t pid)
{
	const struct postgres_backend *b = engines_find_backend(e, pid);
	uint32_t postmaster = 0;

	return b && proc_mem_read(pid, b->server->postmaster_pid, &postmaster, sizeof(postmaster)) == 0 && (pid_t)postmaster == b->own_pid;
}

static void note_fork(void *engines, uint32_t ppid, uint32_t pid, uint64_t time_ns)
{
	struct engines *e = engines;
	const struct postgres_backend *parent = engines_find_backend(e, (pid_t)ppid);
	struct postgres_backend *b;

	if (!parent)
		return;
	add_backend(e, parent->server, (pid_t)pid, time_ns);
	b = engines_find_backend(e, (pid_t)pid);
	parent = engines_find_backend(e, (pid_t)ppid);
	if (b && parent && parent->has_agent)
		b->has_agent = b->lost = true;
	if (b && parent) {
		b->llvm_mapped = parent->llvm_mapped || parent->llvm_nr;
		postgres_stored_inherit(b, parent);
	}
}

static void note_exec(void *engines, const struct kernel_comm *c, uint64_t time_ns)
{
	struct postgres_backend *b = engines_find_backend(engines, (pid_t)c->pid);

	if (b)
		remove_backend(engines, b, clock_now_ns());
	if (c->bytes >= sizeof(PROGRAM) - 1 && memcmp(c->name, PROGRAM, sizeof(PROGRAM) - 1) == 0)
		add_server_process(engines, (pid_t)c->pid, time_ns);
}

static void note_exit(void *engines, uint32_t pid, uint64_t time_ns)
{
	struct engines *e = engines;
	struct postgres_backend *b = engines_find_backend(e, (pid_t)pid);

	if (b)
		remove_backend(e, b, time_ns);
	if (hash_map_find(&e->by_pid, pid, AGENT))
		hash_map_set(&e->by_pid, pid, AGENT, AGENT_GONE);
}

/* The agent may connect before the kernel's report of its process is read, so the time is kept even if there is no backend yet. */
static void note_agent(void *engines, uint32_t pid)
{
	struct engines *e = engines;
	struct postgres_backend *b = engines_find_backend(e, (pid_t)pid);

	hash_map_set(&e->by_pid, pid, AGENT, ms_since_begin(e, clock_now_ns()) + 2);
	if (!b)
		return;
	/* The agent reports all but the wait event, which is read from outside while the wait lasts. */
	postgres_backend_end_plans(e, b, clock_now_ns());
	b->has_agent = b->lost = true;
}

static bool path_ends_with(const struct mapping *m, const char *end, size_t bytes)
{
	return m->path_bytes >= bytes && memcmp(m->path + m->path_bytes - bytes, end, bytes) == 0;
}

/* Notes mappings by which generated code and libraries are found.  Those that existed are read by add_server_process(). */
static void note_mapping(void *engines, const struct mapping *m, uint64_t time_ns)
{
	static const char library[] = "/llvmjit.so";
	struct postgres_backend *b = m->existed ? NULL : engines_find_backend(engines, (pid_t)m->pid);

	(void)time_ns;
	if (!b)
		return;
	b->stored.maybe_mapped |= path_ends_with(m, POSTGRES_STORED_LIBRARY, sizeof(POSTGRES_STORED_LIBRARY) - 1);
	if (b->has_agent)
		return;
	if (path_ends_with(m, library, sizeof(library) - 1))
		b->llvm_mapped = true;
	else if (mapping_kind(m->path, m->path_bytes) == MAPPING_ANONYMOUS)
		generated_code_note_mapping(&b->code, m->address, m->bytes);
}

static bool has_backends_to_poll(const struct engines *e)
{
	if (e->nr_stored)
		return true;
	for (uint32_t i = 0; i < e->backends.nr; i++)
		if (!e->backends.at[i]->has_agent || e->has_switches || e->backends.at[i]->stored.maybe_mapped)
			return true;
	return false;
}

static int wait_ms(const void *engines, uint64_t now_ns)
{
	const struct engines *e = engines;
	uint64_t ms;

	(void)now_ns;
	if (!has_backends_to_poll(e))
		return 0;
	if (!engines_has_short_queries(e, clock_now_ns()))
		return LOOK_MS;
	ms = e->look_ns * LOOKS_PART / 1000000;
	return ms < SOON_MS ? SOON_MS : ms < LOOK_MS ? (int)ms : LOOK_MS;
}

/* ------------------------------------------------------------------------------------------------------------ samples */

static void keep_sighting(struct engines *e, struct postgres_backend *b, const struct sample_seen *seen, uint32_t word, uint32_t nr_words,
			  bool outermost)
{
	struct postgres_sighting *s = &e->memory->sighting[e->nr_sightings];
	uint32_t before = word < POSTGRES_WORDS_BELOW ? word : POSTGRES_WORDS_BELOW, after = nr_words - word;
	uint32_t gap = POSTGRES_WORDS_BELOW - before;

	if (e->nr_sightings == POSTGRES_SIGHTINGS)
		return;
	if (after > POSTGRES_WORDS - POSTGRES_WORDS_BELOW)
		after = POSTGRES_WORDS - POSTGRES_WORDS_BELOW;
	memset(s->word, 0, sizeof(s->word));
	memcpy(s->word + gap, seen->stack + 8 * (size_t)(word - before), 8 * (size_t)(before + after));
	s->backend = b;
	s->time_ns = seen->time_ns;
	s->at = seen->stack_pointer + 8 * (uint64_t)word;
	s->top = outermost && seen->stack_bytes < e->stack_bytes;
	s->cut = outermost && !s->top;
	e->nr_sightings++;
}

void engines_note_switch(struct engines *e, pid_t pid, pid_t tid, uint64_t time_ns, bool comes)
{
	struct postgres_backend *b = engines_find_backend(e, pid);

	if (!b || pid != tid || !comes)
		return;
	b->came_ns = time_ns > b->came_ns ? time_ns : b->came_ns;
	if (time_ns > b->wait.begin_ns)
		end_wait_event(e, b, time_ns);
}

static void begin_wait_event(struct engines *e, struct postgres_backend *b, const struct sample_seen *seen)
{
	e->has_switches = true;
	/* Only waits of the first thread count.  If the end of this wait was in another processor's ring, which was drained before, it is
	 * over. */
	if (seen->pid != seen->tid || seen->time_ns <= b->came_ns)
		return;
	b->wait = (struct postgres_wait){ .begin_ns = seen->time_ns };
}

static bool returns_into(const struct postgres_range *function, uint64_t address)
{
	return address - function->begin - 1 < function->end - function->begin;
}

static void note_sample(void *engines, const struct sample_seen *seen)
{
	struct engines *e = engines;
	struct postgres_backend *b = engines_find_backend(e, (pid_t)seen->pid);
	uint32_t frame[FRAMES_MAX], nr = 0, nr_words = seen->stack_bytes / 8;
	const struct postgres_server *s;

	if (!b)
		return;
	if (seen->leaves)
		begin_wait_event(e, b, seen);
	b->has_samples = b->sampled = true;
	s = b->server;
	if (!s->layout || (b->lost && !b->stored.all.end))
		return;
	for (uint32_t i = 0; i < nr_words; i++) {
		uint64_t word;

		memcpy(&word, seen->stack + 8 * (size_t)i, 8);
		if (word - b->stored.all.begin < b->stored.all.end - b->stored.all.begin)
			postgres_stored_note_word(e, b, seen, i, word, nr_words);
		if ((!returns_into(&s->run, word) && !returns_into(&s->finish, word)) || b->lost)
			continue;
		if (nr == FRAMES_MAX) /* the innermost frame is dropped, because outer frames are needed to know whose query it is */
			memmove(frame, frame + 1, (--nr) * sizeof(frame[0]));
		frame[nr++] = i;
	}
	for (uint32_t i = 0; i < nr; i++)
		keep_sighting(e, b, seen, frame[i], nr_words, i + 1 == nr);
}

static const struct postgres_sighting *compared;

static int compare_sightings(const void *a, const void *b)
{
	const struct postgres_sighting *x = &compared[*(const uint32_t *)a], *y = &compared[*(const uint32_t *)b];

	if (x->backend != y->backend)
		return x->backend->pid < y->backend->pid ? -1 : 1;
	if (x->time_ns != y->time_ns)
		return x->time_ns < y->time_ns ? -1 : 1;
	return x->at > y->at ? -1 : x->at < y->at; /* frames of one stack that are further out come first */
}

static void settle(void *engines, uint64_t now_ns, bool last)
{
	struct engines *e = engines;
	uint64_t begin_ns;
	uint32_t nr;

	(void)last;
	if (!has_backends_to_poll(e))
		return;
	begin_ns = clock_now_ns();
	nr = e->nr_sightings;
	for (uint32_t i = 0; i < nr; i++)
		e->memory->sorted[i] = i;
	compared = e->memory->sighting;
	qsort(e->memory->sorted, nr, sizeof(e->memory->sorted[0]), compare_sightings);
	for (uint32_t i = 0, end; i < nr; i = end) {
		struct postgres_backend *b = e->memory->sighting[e->memory->sorted[i]].backend;

		for (end = i + 1; end < nr && e->memory->sighting[e->memory->sorted[end]].backend == b;)
			end++;
		postgres_backend_read_plans(e, b, e->memory->sorted + i, end - i, now_ns);
	}
	e->nr_sightings = 0;
	postgres_stored_read(e);
	for (uint32_t i = 0; i < e->backends.nr; i++)
		read_wait_event(e->backends.at[i]);
	for (uint32_t i = 0; i < e->backends.nr; i++)
		if (!generated_code_copy_to_trace(&e->backends.at[i]->code, e->backends.at[i]->pid, e->writer, &e->code_bytes))
			engines_note_query_duration(e, now_ns, now_ns);
	for (uint32_t i = 0; i < e->backends.nr; i++)
		if (e->backends.at[i]->looked_ns != now_ns)
			postgres_backend_read_plans(e, e->backends.at[i], NULL, 0, now_ns);
	e->look_ns = (3 * e->look_ns + clock_now_ns() - begin_ns) / 4;
}

static void end(void *engines, uint64_t now_ns)
{
	struct engines *e = engines;

	for (uint32_t i = 0; i < e->backends.nr; i++) {
		end_wait_event(e, e->backends.at[i], now_ns);
		postgres_backend_end_plans(e, e->backends.at[i], now_ns);
	}
}

const struct name_source engines_source = { .is_live_only = true, .create = create, .destroy = destroy,
	.note_fork = note_fork, .note_exec = note_exec, .note_exit = note_exit, .note_mapping = note_mapping, .note_sample = note_sample,
	.note_agent = note_agent, .settle = settle,
	.wait_ms = wait_ms, .end = end };
