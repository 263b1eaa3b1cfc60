/* SPDX-License-Identifier: MIT */
/*
 * Finds the queries that a backend executes.  There are two sources.
 *  - The entry in the server's table of backends has the times at which the present statement and state began.  The variable
 *    ActivePortal leads to the statement's query.  Both are read now and then, and show statements that last.
 *  - Frames of standard_ExecutorRun, and of standard_ExecutorFinish, on sampled stacks have the query's address in a register that the
 *    function further in has saved.
 *    They show queries inside of functions, cursors, parallel workers, and statements too short for the first source.
 *
 * A frame was sampled before it is looked at, and memory is reused.  What is read is taken for the sampled query
 *  - only if a second word of it is on the stack (its state, or the root of its plan),
 *  - for a backend's own statement, only if that began before the sample,
 *  - for a query inside of it, only if its statement, text or portal is further out on the stack.
 *
 * Other queries are left out.  Their samples have no node, and the report says so.
 */
#include "agent/recorder/engines/postgres.h"

#include "agent/recorder/process/proc_mem.h"
#include "jitreg/engines/postgres_utility.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ENTRY_BYTES 512
#define US_TO_2000 946684800000000ull /* µs from 1970 to the server's epoch */
/* A statement that lasts for longer is read without a sample.  While queries are short, any statement is. */
#define LASTING_NS 5000000ull
#define BUSY_NS 100000000ull	      /* interval of looks at a backend that has no samples */
#define TITLE_NS 50000000ull	      /* time after which a new process has its title */
#define UNSEEN_NS 100000000ull	      /* time without a sample after which a query inside of another one is taken to have ended */
#define CLOCKS_NS 1000000	      /* clocks of server and kernel may differ by this */
#define STACK_BYTES (64u << 20)	      /* a word that points this near to the stack is no query's address */

/* Converts a server's time.  The result is not before the process began, or the recording if that is later. */
static uint64_t monotonic_time_of_server(const struct engines *e, const struct postgres_backend *b, uint64_t us)
{
	int64_t ns = (int64_t)((us + US_TO_2000) * 1000) + e->to_monotonic_ns;

	return ns > (int64_t)b->born_ns ? (uint64_t)ns : b->born_ns;
}

static uint64_t at_most(uint64_t value, uint64_t most)
{
	return value < most ? value : most;
}

/* ---------------------------------------------------------------------------------------------------------- its entry */

static uint64_t load_entry_u64(const unsigned char *entry, uint16_t offset)
{
	uint64_t value = 0;

	if (offset <= ENTRY_BYTES - sizeof(value))
		memcpy(&value, entry + offset, sizeof(value));
	return value;
}

static uint32_t load_entry_u32(const unsigned char *entry, uint16_t offset)
{
	uint32_t value = 0;

	if (offset <= ENTRY_BYTES - sizeof(value))
		memcpy(&value, entry + offset, sizeof(value));
	return value;
}

static void read_application_name(struct postgres_backend *b, const unsigned char *entry)
{
	uint64_t at = load_entry_u64(entry, b->server->layout->backend_application);

	b->application[0] = 0;
	if (b->leader || !at || proc_mem_read(b->pid, at, b->application, sizeof(b->application) - 1))
		b->application[0] = 0;
	b->application[sizeof(b->application) - 1] = 0;
}

/* Reads the backend's entry in one piece.  Sets *changed if another statement or state began.  Returns false if there is no entry, if it is
 * being written, or if it cannot be read. */
static bool read_backend_entry(struct engines *e, struct postgres_backend *b, uint64_t now_ns, bool *changed)
{
	const struct postgres_layout *l = b->server->layout;
	unsigned char entry[ENTRY_BYTES];
	uint64_t start_us, state_us;
	int ret;

	if (!b->entry) {
		ret = proc_mem_read(b->pid, b->server->my_entry, &b->entry, sizeof(b->entry));
		if (ret == -EPERM && !e->noticed_memory) {
			e->noticed_memory = true;
			engines_notice(e, "plan nodes of process %d unavailable (its memory cannot be read: kernel.yama.ptrace_scope, or "
				       "another user); run as root, or as the server's user", (int)b->pid);
		}
		b->lost |= ret == -EPERM || ret == -ESRCH;
		if (ret || !b->entry)
			return false;
	}
	ret = proc_mem_read(b->pid, b->entry, entry, sizeof(entry));
	if (ret || load_entry_u32(entry, l->backend_pid) != (uint32_t)b->own_pid) {
		b->lost |= ret == -ESRCH;
		b->entry = 0;
		return false;
	}
	if (load_entry_u32(entry, l->backend_change_count) & 1)
		return false;
	start_us = load_entry_u64(entry, l->backend_query_start_us);
	state_us = load_entry_u64(entry, l->backend_state_start_us);
	if (start_us != b->start_us || state_us != b->state_us || !b->changed_ns) {
		char before[sizeof(b->application)];

		b->start_us = start_us;
		b->state_us = state_us;
		b->changed_ns = now_ns;
		*changed = true;
		memcpy(before, b->application, sizeof(before));
		read_application_name(b, entry);
		if (b->announced && strcmp(before, b->application) != 0)
			postgres_write_session(e, b, now_ns);
	}
	return true;
}

/* Notes that a plan is that of the backend's statement: a stack has shown it, or the statement ended with it. */
static void confirm_plan(struct engines *e, struct postgres_backend *b, struct postgres_plan *p)
{
	if (p->unsure) {
		p->unsure = false;
		postgres_write_mark(e, b, p);
	}
}

/* Forgets plans of earlier statements and states.  They ended by the time at which the present state began. */
static void end_statement_plans(struct engines *e, struct postgres_backend *b, uint64_t now_ns)
{
	uint64_t end_ns = at_most(monotonic_time_of_server(e, b, b->state_us), now_ns);

	b->had_top = b->had_portal = false;
	for (uint32_t i = b->nr_plans; i > 0; i--) {
		struct postgres_plan *p = &b->plan[i - 1];

		if (p->start_us != b->start_us || p->state_us != b->state_us) {
			confirm_plan(e, b, p);
			postgres_plan_forget(e, b, p, end_ns > p->seen_ns ? end_ns : p->seen_ns + 1);
		}
	}
}

/* ------------------------------------------------------------------------------------------------------ on the stack */

static bool sighting_has_word(const struct postgres_sighting *s, uint32_t from, uint32_t to, uint64_t word)
{
	for (uint32_t i = from; i < to; i++)
		if (s->word[i] == word)
			return word != 0;
	return false;
}

/* Parts of a query that are on the stack beside its address are evidence for it. Larger values are more certain. */
enum { NOTHING = 0, BY_STATE = 1, BY_ROOT = 2, BY_PORTAL = 4, BY_TEXT = 8, BY_STATEMENT = 16 };
#define INSIDE (BY_STATEMENT | BY_TEXT | BY_PORTAL) /* evidence of which a query inside of another one needs one kind */

static unsigned evidence_of_query(const struct postgres_sighting *s, const struct postgres_query *q, uint64_t portal)
{
	unsigned found = (sighting_has_word(s, 0, POSTGRES_WORDS_NEAR, q->root) ? BY_ROOT : 0) |
			 (sighting_has_word(s, 0, POSTGRES_WORDS_NEAR, q->state) ? BY_STATE : 0);

	if (!found)
		return NOTHING;
	return found | (sighting_has_word(s, POSTGRES_WORDS_BELOW, POSTGRES_WORDS, q->statement) ? BY_STATEMENT : 0) |
	       (sighting_has_word(s, POSTGRES_WORDS_BELOW, POSTGRES_WORDS, portal) ? BY_PORTAL : 0) |
	       (sighting_has_word(s, POSTGRES_WORDS_BELOW, POSTGRES_WORDS, q->text) ? BY_TEXT : 0);
}

/* Finds the known plan that fits this frame best, and sets *found to the evidence for it.  Returns NULL if none fits. */
static struct postgres_plan *find_plan_of_frame(struct postgres_backend *b, const struct postgres_sighting *s, unsigned *found)
{
	struct postgres_plan *best = NULL;

	*found = NOTHING;
	for (uint32_t i = 0; i < b->nr_plans; i++) {
		struct postgres_plan *p = &b->plan[i];
		unsigned e;

		if (!sighting_has_word(s, 0, POSTGRES_WORDS_NEAR, p->query.address))
			continue;
		e = evidence_of_query(s, &p->query, p->portal);
		/* Queries inside of another query use the same memory one after the other, so they need more evidence. */
		if (!p->top && !(e & (p->evidence & BY_STATEMENT ? BY_STATEMENT : INSIDE)))
			continue;
		if (e > *found) {
			*found = e;
			best = p;
		}
	}
	return best;
}

/*
 * Is this frame, which fits p, of p and not of a later query at the same address? The answer is yes if memory has p as it was read, or has
 * another root while p's root is on the stack. For a query inside of another one, its statement on the stack suffices. Memory is read once
 * per look.
 */
static bool is_plan_unchanged(struct engines *e, struct postgres_backend *b, struct postgres_plan *p, unsigned found, uint64_t now_ns)
{
	struct postgres_reader r = postgres_server_reader(e, b);
	struct postgres_query q;

	if (found & BY_STATEMENT && !p->top)
		return true;
	if (p->checked_ns != now_ns) {
		p->checked_ns = now_ns;
		p->changed = postgres_query_read(&r, p->query.address, &q) != POSTGRES_OK || q.statement != p->query.statement ||
			     q.root != p->query.root || q.state != p->query.state || q.text != p->query.text;
		p->same_root = p->changed && q.root == p->query.root;
	}
	return !p->changed || (found & BY_ROOT && !p->same_root);
}

static bool may_be_query_address(const struct postgres_sighting *s, uint64_t word)
{
	return word > 65535 && word < 1ull << 47 && !(word & 7) && (word < s->at - STACK_BYTES || word > s->at + STACK_BYTES);
}

/* Finds the query of a frame that no known plan fits.  The words below the return address come first, the nearest of them first.  Returns
 * false if there is none. */
static bool find_query_on_stack(struct engines *e, struct postgres_backend *b, const struct postgres_sighting *s, struct postgres_query *q)
{
	struct postgres_reader r = postgres_server_reader(e, b);

	for (uint32_t n = 0; n < POSTGRES_WORDS_NEAR; n++) {
		uint32_t i = n < POSTGRES_WORDS_BELOW ? POSTGRES_WORDS_BELOW - 1 - n : n;

		if (may_be_query_address(s, s->word[i]) && postgres_query_read(&r, s->word[i], q) == POSTGRES_OK && q->root &&
		    evidence_of_query(s, q, 0))
			return true;
	}
	return false;
}

#define CURSOR "<unnamed portal" /* name of the cursors by which functions read queries */

static bool is_function_cursor(struct engines *e, const struct postgres_backend *b, uint64_t portal)
{
	char name[sizeof(CURSOR) - 1];
	uint64_t at;

	return page_cache_read(&e->memory->pages, portal + b->server->layout->portal_name, &at, sizeof(at)) == 0 &&
	       page_cache_read(&e->memory->pages, at, name, sizeof(name)) == 0 && memcmp(name, CURSOR, sizeof(name)) == 0;
}

/* Returns the address of the query of the statement that the client has sent, or of the cursor that it reads.  Returns 0 if there is none,
 * if it is a function's, or if memory cannot be read. */
static uint64_t read_portal_query(struct engines *e, const struct postgres_backend *b)
{
	uint64_t portal, query;

	if (proc_mem_read(b->pid, b->server->active_portal, &portal, sizeof(portal)) || !portal || is_function_cursor(e, b, portal) ||
	    page_cache_read(&e->memory->pages, portal + b->server->layout->portal_query, &query, sizeof(query)))
		return 0;
	return query;
}

/* Returns the address of a cursor's struct Portal with this query that is further out on the stack, or 0 if there is none. */
static uint64_t find_portal_on_stack(struct engines *e, const struct postgres_backend *b, const struct postgres_sighting *s, uint64_t query)
{
	for (uint32_t i = POSTGRES_WORDS_BELOW; i < POSTGRES_WORDS_PORTAL; i++) {
		uint64_t at = s->word[i] + b->server->layout->portal_query, there;

		if (may_be_query_address(s, s->word[i]) && page_cache_read(&e->memory->pages, at, &there, sizeof(there)) == 0 &&
		    there == query)
			return s->word[i];
	}
	return 0;
}

/* Ends the objects of queries inside of others that no stack has shown for UNSEEN_NS.  They live again if a stack shows them. */
static void end_unseen_plans(struct engines *e, struct postgres_backend *b, uint64_t now_ns)
{
	for (uint32_t i = 0; i < b->nr_plans; i++) {
		struct postgres_plan *p = &b->plan[i];

		if (p->live && !p->top && now_ns > p->seen_ns + UNSEEN_NS)
			postgres_write_plan_end(e, b, p, p->seen_ns + 1);
	}
}

static struct postgres_plan *find_top_plan(struct postgres_backend *b)
{
	for (uint32_t i = 0; i < b->nr_plans; i++)
		if (b->plan[i].top && !b->plan[i].utility)
			return &b->plan[i];
	return NULL;
}

/* Reads the leader's statement before a worker's, unless it is known.  The worker's query gets the component of the leader's, with the text
 * that is written for that one. */
static void read_leader_statement(struct engines *e, const struct postgres_backend *b, uint64_t now_ns)
{
	struct postgres_backend *leader = b->leader ? engines_find_own_pid(e, b->server, b->leader) : NULL;

	if (!leader || leader == b || leader->leader || leader->lost || find_top_plan(leader) || leader->looked_ns == now_ns)
		return;
	leader->changed_ns = now_ns > 2 * LASTING_NS ? now_ns - 2 * LASTING_NS : 1;
	postgres_backend_read_plans(e, leader, NULL, 0, now_ns);
	page_cache_reset(&e->memory->pages, b->pid);
}

static void read_new_plan_of_frame(struct engines *e, struct postgres_backend *b, const struct postgres_sighting *s, bool is_before,
				   uint64_t now_ns)
{
	struct postgres_plan *p, *before;
	struct postgres_query q;
	unsigned found;
	uint64_t begin_ns, portal = 0;
	bool top;

	read_leader_statement(e, b, now_ns);
	if (!find_query_on_stack(e, b, s, &q))
		return;
	top = s->top || (s->cut && q.address == read_portal_query(e, b));
	if (!top && !(evidence_of_query(s, &q, 0) & INSIDE))
		portal = find_portal_on_stack(e, b, s, q.address);
	found = evidence_of_query(s, &q, portal);
	if (!top && !(found & INSIDE))
		return;
	before = top ? find_top_plan(b) : NULL;
	if (before) {
		b->top_end_ns = before->seen_ns + 1;
		b->had_top &= !before->unsure;
		postgres_plan_forget(e, b, before, b->top_end_ns);
	}
	begin_ns = !top ? s->time_ns : at_most(b->had_top ? b->top_end_ns : monotonic_time_of_server(e, b, b->start_us), s->time_ns);
	p = postgres_plan_read(e, b, &q, top, begin_ns);
	if (!p)
		return;
	p->evidence = found;
	p->portal = portal;
	p->seen_ns = s->time_ns;
	p->checked_ns = now_ns;
	if (is_before) /* the state changed since the sample, so end_statement_plans() has to end this plan */
		p->state_us = UINT64_MAX;
	b->had_top |= top;
	postgres_plan_set_live(e, b, p, begin_ns);
}

/* Finds the plan of a sampled frame, or reads it.  is_before: the backend's present state began after the sample. */
static void match_sighting_to_plan(struct engines *e, struct postgres_backend *b, const struct postgres_sighting *s, bool is_before,
				   uint64_t now_ns)
{
	unsigned found;
	struct postgres_plan *p = find_plan_of_frame(b, s, &found);

	if (p && (is_before || is_plan_unchanged(e, b, p, found, now_ns))) {
		if (s->top) {
			confirm_plan(e, b, p);
		} else if (p->unsure && !s->cut) { /* this frame is inside of another query's, so the plan is no statement's */
			p->unsure = p->top = b->had_top = false;
			p->evidence = found;
		}
		if (!p->live)
			postgres_plan_set_live(e, b, p, s->time_ns);
		p->seen_ns = s->time_ns;
		return;
	}
	if (p && p->top)
		b->top_end_ns = p->seen_ns + 1;
	if (p)
		postgres_plan_forget(e, b, p, p->seen_ns + 1);
	/* If the statement began after the sample, memory may hold anything now. */
	if (!b->start_us || s->time_ns + CLOCKS_NS >= monotonic_time_of_server(e, b, b->start_us))
		read_new_plan_of_frame(e, b, s, is_before, now_ns);
	else
		engines_note_query_duration(e, s->time_ns, s->time_ns);
}

/* ----------------------------------------------------------------------------------------------------------- looking */

/* Has the statement lasted long enough to be read without a sample? */
static bool statement_lasts(const struct engines *e, const struct postgres_backend *b, uint64_t now_ns)
{
	return now_ns - b->changed_ns >= LASTING_NS || engines_has_short_queries(e, now_ns);
}

static uint64_t begin_of_statement(const struct engines *e, const struct postgres_backend *b, uint64_t now_ns)
{
	return b->start_us ? at_most(monotonic_time_of_server(e, b, b->start_us), now_ns) : now_ns;
}

#define AUTOVACUUM "autovacuum: " /* beginning of what a worker of autovacuum says that it does, such as "autovacuum: VACUUM public.t" */

/* Reads what a worker of autovacuum does, which has no portal. */
static bool read_activity(struct engines *e, const struct postgres_backend *b, struct postgres_query *q)
{
	char begin[sizeof(AUTOVACUUM) - 1];
	uint64_t text;

	*q = (struct postgres_query){ .address = POSTGRES_OBJECT_ACTIVITY };
	if (page_cache_read(&e->memory->pages, b->entry + b->server->layout->backend_text, &text, sizeof(text)) ||
	    page_cache_read(&e->memory->pages, text, begin, sizeof(begin)) || memcmp(begin, AUTOVACUUM, sizeof(begin)) != 0)
		return false;
	q->text = text;
	return true;
}

/* Reads a statement that lasts and has no plan. The queries that it runs are read from stacks. */
static void read_lasting_utility(struct engines *e, struct postgres_backend *b, uint64_t now_ns)
{
	struct postgres_reader r = postgres_server_reader(e, b);
	struct postgres_query q;
	uint64_t portal;

	if (b->had_portal || b->leader || !statement_lasts(e, b, now_ns) ||
	    proc_mem_read(b->pid, b->server->active_portal, &portal, sizeof(portal)))
		return;
	b->had_portal = portal || read_activity(e, b, &q);
	if (b->had_portal && (!portal || postgres_utility_of_portal(&r, portal, &q) == POSTGRES_OK)) {
		uint64_t begin_ns = begin_of_statement(e, b, now_ns);

		postgres_plan_set_live(e, b, postgres_plan_keep_utility(e, b, &q, begin_ns), begin_ns);
	}
}

/* Reads the plan of a statement that lasts, even if no sampled stack has a frame of it. */
static void read_lasting_portal_plan(struct engines *e, struct postgres_backend *b, uint64_t now_ns)
{
	struct postgres_reader r = postgres_server_reader(e, b);
	struct postgres_plan *p;
	struct postgres_query q;
	uint64_t query;

	if (b->had_top || b->leader || !statement_lasts(e, b, now_ns))
		return;
	query = read_portal_query(e, b);
	if (!query || postgres_query_read(&r, query, &q) || !q.root)
		return;
	p = postgres_plan_read(e, b, &q, true, begin_of_statement(e, b, now_ns));
	if (!p)
		return;
	p->seen_ns = p->begin_ns;
	p->evidence = BY_STATE;
	p->unsure = true;
	b->had_top = true;
	postgres_plan_set_live(e, b, p, p->begin_ns);
}

/* Names a parallel worker after its leader's session. */
static void name_parallel_worker(const struct engines *e, struct postgres_backend *b)
{
	const struct postgres_backend *leader = b->leader ? engines_find_own_pid(e, b->server, b->leader) : NULL;

	if (b->leader)
		b->application[0] = 0;
	if (leader && leader->announced)
		snprintf(b->name, sizeof(b->name), "%.120s%s%s (parallel worker)", leader->name, *leader->application ? " " : "",
			 leader->application);
}

static void write_session_and_classes(struct engines *e, struct postgres_backend *b, uint64_t now_ns)
{
	if (!b->titled && (b->entry || !b->announced) && (b->start_us || now_ns - b->born_ns >= TITLE_NS)) {
		postgres_title_read(b);
		name_parallel_worker(e, b);
		if (b->titled || b->is_parent)
			postgres_write_session(e, b, b->born_ns);
	}
	if (b->llvm_mapped)
		postgres_server_find_llvm(e, b);
	if (b->announced && b->sampled)
		postgres_write_classes(e, b, b->born_ns);
}

void postgres_backend_read_plans(struct engines *e, struct postgres_backend *b, const uint32_t *sighting, uint32_t nr, uint64_t now_ns)
{
	bool changed = false, is_known;
	uint64_t state_ns = 0;
	uint32_t i = 0;

	if (b->lost || !b->server->layout || (!b->has_samples && !nr && now_ns - b->looked_ns < BUSY_NS))
		return;
	b->looked_ns = now_ns;
	b->has_samples = false;
	page_cache_reset(&e->memory->pages, b->pid);
	is_known = read_backend_entry(e, b, now_ns, &changed);
	if (b->lost) { /* the process has ended; its exit may be seen later, or not at all */
		postgres_backend_end_plans(e, b, now_ns);
		return;
	}
	write_session_and_classes(e, b, now_ns);
	if (!b->announced || !is_known)
		return;
	if (changed)
		state_ns = monotonic_time_of_server(e, b, b->state_us);
	for (; i < nr && e->memory->sighting[sighting[i]].time_ns < state_ns; i++)
		match_sighting_to_plan(e, b, &e->memory->sighting[sighting[i]], true, now_ns);
	if (changed)
		end_statement_plans(e, b, now_ns);
	read_lasting_utility(e, b, now_ns);
	for (; i < nr; i++)
		match_sighting_to_plan(e, b, &e->memory->sighting[sighting[i]], false, now_ns);
	if (nr)
		end_unseen_plans(e, b, now_ns);
	read_lasting_portal_plan(e, b, now_ns);
}

void postgres_backend_end_plans(struct engines *e, struct postgres_backend *b, uint64_t time_ns)
{
	for (; b->nr_plans; postgres_plan_forget(e, b, &b->plan[b->nr_plans - 1], time_ns))
		confirm_plan(e, b, &b->plan[b->nr_plans - 1]);
}
