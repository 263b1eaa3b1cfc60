/* SPDX-License-Identifier: MIT */
/*
 * Registers PostgreSQL's plans, in a server that has the agent preloaded. The hook of an executor's run registers the nodes of the plan,
 * and the query and session that they belong to (jitreg/engines), and the hook of its end registers counted rows. The hook of its start
 * only ends what errors have left. The calls of a node are not hooked. The hook of utility statements registers those without a plan.
 *
 * The hooks are set before main(), and libraries of the server that set theirs later call these.  An error leaves the executor by longjmp,
 * past the hook.  So a run whose frame is below that of a hook that is called now was ended by an error.
 *
 * Backends have one thread that executes, so nothing here is locked.
 */
#include "shim/engines/postgres.h"

#include "agent/guest/sys.h"
#include "jitreg/engines/postgres_classes.h"
#include "jitreg/engines/postgres_names.h"
#include "jitreg/engines/postgres_utility.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#define TEXT_IN_MARK 256 /* the text in a mark is cut, because the component has all of it */
#define COMPONENTS 3

struct postgres pg;

static struct postgres_execution *find_execution(uint64_t query)
{
	for (uint32_t i = pg.nr_open; i-- > 0;)
		if (pg.open[i].query == query)
			return &pg.open[i];
	return NULL;
}

static void end_execution(struct postgres_execution *e)
{
	if (e->mark)
		jitreg_mark_end(e->mark, 0);
	jitreg_object_end(e->query);
	memmove(e, e + 1, (size_t)(pg.open + pg.nr_open - e - 1) * sizeof(*e));
	pg.nr_open--;
}

/* Ends runs that an error has left. frame: that of the hook that is called now. */
static void end_abandoned_executions(uintptr_t frame)
{
	for (uint32_t i = pg.nr_open; i-- > 0;)
		if (pg.open[i].frame && pg.open[i].frame <= frame)
			end_execution(&pg.open[i]);
}

/* Adds an execution.  If there is no room, the cursor that has been open the longest is ended, because the end of a cursor that an error
 * closed is not seen. Returns NULL if all executions are running. */
static struct postgres_execution *add_execution(uint64_t query)
{
	struct postgres_execution *oldest = NULL;

	if (pg.nr_open == POSTGRES_EXECUTIONS) {
		for (uint32_t i = 0; i < pg.nr_open; i++)
			if (!pg.open[i].frame && (!oldest || pg.open[i].age < oldest->age))
				oldest = &pg.open[i];
		if (!oldest)
			return NULL;
		end_execution(oldest);
	}
	pg.open[pg.nr_open] = (struct postgres_execution){ .query = query };
	return &pg.open[pg.nr_open++];
}

struct visit {
	const struct postgres_reader *r;
	const struct postgres_query *q;
	uint64_t query_id;
};

/*
 * This has the addresses and numbers of the nodes on the way from the root to the current node, by depth. An edge leads to a node's owner,
 * which is among them, because nodes come in the order of a tree's walk.
 */
static struct {
	uint64_t address[POSTGRES_DEPTH_MAX], id[POSTGRES_DEPTH_MAX];
} way;

/* Returns 0, or the error of a jitreg call. */
static int register_node_component(const struct visit *v, uint64_t id, const struct postgres_node *n)
{
	const uint32_t nr_unknown = pg.catalog.nr_unknown;
	char detail[POSTGRES_DETAIL_BYTES];
	int ret;

	postgres_node_detail(v->r, v->q, n, detail);
	if (postgres_is_worker() && pg.catalog.nr_unknown != nr_unknown) /* the leader has the names in its cache */
		*detail = 0;
	ret = jitreg_component(POSTGRES_LEVEL_NODE, id, n->name, detail, JITREG_COMPONENT_COMMON);

	ret = ret ? ret : jitreg_link_to(jitreg_at(POSTGRES_LEVEL_NODE, id), jitreg_at(POSTGRES_LEVEL_QUERY, v->query_id), 1);
	if (!ret && postgres_node_rows(n) >= 0)
		ret = jitreg_counter(POSTGRES_LEVEL_NODE, id, "estimated rows", postgres_node_rows(n));
	if (!ret && n->owner && n->depth && way.address[n->depth - 1] == n->owner)
		ret = jitreg_edge(POSTGRES_LEVEL_NODE, id, way.id[n->depth - 1], n->order, postgres_role_label(n->role));
	return ret;
}

/* Registers a node's request.  Work on the request counts to the node. */
static void register_request(const struct postgres_reader *r, const struct postgres_node *n,
			     const struct jitreg_object_component components[COMPONENTS])
{
	uint64_t address[POSTGRES_REQUEST_FUNCTIONS];
	struct jitreg_function functions[POSTGRES_REQUEST_FUNCTIONS];
	uint32_t nr = postgres_request_functions(r, n, address);

	for (uint32_t i = 0; i < nr; i++)
		functions[i].address = address[i];
	jitreg_object(n->request, n->address, 0, functions, nr, components, COMPONENTS);
}

static int register_plan_node(void *context, const struct postgres_node *n)
{
	const struct visit *v = context;
	struct jitreg_object_component components[COMPONENTS];
	struct jitreg_function functions[POSTGRES_FUNCTIONS_MAX];
	uint64_t id = postgres_node_id(v->query_id, n);

	way.address[n->depth] = n->address;
	way.id[n->depth] = id;
	if (!postgres_is_registered(id) && register_node_component(v, id, n) == 0)
		postgres_mark_registered(id);
	for (uint32_t i = 0; i < n->nr_functions; i++)
		functions[i].address = n->functions[i];
	components[0] = (struct jitreg_object_component){ POSTGRES_LEVEL_NODE, id };
	components[1] = (struct jitreg_object_component){ POSTGRES_LEVEL_QUERY, v->query_id };
	components[2] = (struct jitreg_object_component){ POSTGRES_LEVEL_SESSION, pg.pid };
	jitreg_object(n->address, n->upper, 0, functions, n->nr_functions, components, COMPONENTS);
	if (n->request)
		register_request(v->r, n, components);
	return 0;
}

static void register_query_and_plan(const struct postgres_reader *r, const struct postgres_query *q, uint64_t id)
{
	struct jitreg_object_component components[2] = { { POSTGRES_LEVEL_QUERY, id }, { POSTGRES_LEVEL_SESSION, pg.pid } };
	struct jitreg_function functions[2];
	struct visit v = { r, q, id };
	uint32_t nr = 0;

	/* Only the leader registers the query, because the text of a worker may have several statements. */
	if (!postgres_is_worker() && !postgres_is_registered(id) &&
	    jitreg_component(POSTGRES_LEVEL_QUERY, id, pg.name, pg.text, JITREG_COMPONENT_COMMON) == 0)
		postgres_mark_registered(id);
	if (pg.symbol[POSTGRES_EXECUTOR_RUN])
		functions[nr++].address = pg.symbol[POSTGRES_EXECUTOR_RUN];
	if (pg.symbol[POSTGRES_EXECUTOR_FINISH])
		functions[nr++].address = pg.symbol[POSTGRES_EXECUTOR_FINISH];
	jitreg_object(q->address, 0, 0, functions, nr, components, 2);
	postgres_catalog_begin(&pg.catalog, pg.pid);
	postgres_plan_walk(r, q, register_plan_node, &v);
}

/* Copies a text from postgres_query_text(). If it does not fit, it is cut between two characters, and "..." follows. */
static void copy_shortened_text(const char *from, char *to, size_t room)
{
	size_t bytes = strnlen(from, room);

	if (bytes < room) {
		memcpy(to, from, bytes + 1);
		return;
	}
	for (bytes = room - 4; bytes && (from[bytes] & 0xc0) == 0x80; bytes--)
		;
	memcpy(to, from, bytes);
	memcpy(to + bytes, "...", 4);
}

/* Finds the execution that a run belongs to, or registers a new one.  Returns NULL if a new one cannot be read, or there is no room for it.
 * text gets the beginning of the statement, or "" if that cannot be read. */
static struct postgres_execution *find_or_add_execution(uint64_t query, char *text, size_t room)
{
	struct postgres_execution *e = find_execution(query);
	struct postgres_reader r = postgres_memory_reader();
	struct postgres_query q;

	*text = 0;
	if (postgres_query_read(&r, query, &q) != POSTGRES_OK)
		return e;
	if (e) {
		postgres_query_text(&r, &q, text, room);
		return e;
	}
	e = add_execution(query);
	if (!e)
		return NULL;
	e->id = postgres_query_component(&r, &q, pg.salt, postgres_is_worker(), pg.text, pg.work, pg.name);
	e->age = ++pg.age;
	copy_shortened_text(pg.text, text, room);
	register_query_and_plan(&r, &q, e->id);
	return e;
}

static void begin_execution_mark(struct postgres_execution *e, uintptr_t frame, const char *text)
{
	struct postgres_execution *outer = NULL;

	e->frame = frame;
	if (postgres_is_worker())
		return; /* the leader's run is that of the query */
	for (struct postgres_execution *other = pg.open; other < pg.open + pg.nr_open; other++)
		if (other != e && other->frame && (!outer || other->frame < outer->frame))
			outer = other;
	if (outer && outer->id == e->id)
		return; /* a utility statement runs the query in its own text, as COPY does, which is one execution */
	e->mark = jitreg_mark_begin(JITREG_COVERS_THREAD, "run", jitreg_at(POSTGRES_LEVEL_QUERY, e->id), ++pg.nr_runs,
				    outer ? outer->mark : 0, text);
}

static void begin_execution_run(uint64_t query, uintptr_t frame)
{
	struct postgres_execution *e;
	char text[TEXT_IN_MARK];

	end_abandoned_executions(frame);
	e = find_or_add_execution(query, text, sizeof(text));
	if (e)
		begin_execution_mark(e, frame, text);
}

/* Registers a utility statement as a query without a plan.  Returns whether it did. */
static bool begin_utility(uint64_t statement, uint64_t text, uintptr_t frame)
{
	const struct jitreg_function function = { .address = pg.symbol[POSTGRES_PROCESS_UTILITY] };
	struct postgres_reader r = postgres_memory_reader();
	struct jitreg_object_component components[2];
	struct postgres_execution *e;
	struct postgres_query q;
	char begin[TEXT_IN_MARK];

	end_abandoned_executions(frame);
	if (postgres_utility_read(&r, statement, text, &q) != POSTGRES_OK || find_execution(statement))
		return false;
	e = add_execution(statement);
	if (!e)
		return false;
	e->id = postgres_query_component(&r, &q, pg.salt, false, pg.text, pg.work, pg.name);
	e->age = ++pg.age;
	if (!postgres_is_registered(e->id) &&
	    jitreg_component(POSTGRES_LEVEL_QUERY, e->id, pg.name, pg.text, JITREG_COMPONENT_COMMON) == 0)
		postgres_mark_registered(e->id);
	components[0] = (struct jitreg_object_component){ POSTGRES_LEVEL_QUERY, e->id };
	components[1] = (struct jitreg_object_component){ POSTGRES_LEVEL_SESSION, pg.pid };
	jitreg_object(statement, 0, JITREG_OBJECT_ALONE, &function, 1, components, 2);
	copy_shortened_text(pg.text, begin, sizeof(begin));
	begin_execution_mark(e, frame, begin);
	return true;
}

static void end_execution_run(uint64_t query, uintptr_t frame)
{
	struct postgres_execution *e = find_execution(query);

	if (!e || e->frame != frame)
		return;
	if (e->mark)
		jitreg_mark_end(e->mark, 0);
	e->mark = 0;
	e->frame = 0;
}

/* ---------------------------------------------------------------------------------------------------------- hooks */

/* The memory of a new query may have been that of another query, which an error has ended. */
static void on_executor_start(void *query, int flags)
{
	if (guest_is_on() && pg.nr_open) {
		struct postgres_execution *e;

		end_abandoned_executions((uintptr_t)__builtin_frame_address(0));
		e = find_execution((uint64_t)(uintptr_t)query);
		if (e)
			end_execution(e);
	}
	(pg.start_before ? pg.start_before : pg.start)(query, flags);
}

static void on_executor_run(void *query, int direction, uint64_t count, bool once)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	bool is_on = guest_is_on() && postgres_session_register();

	if (is_on)
		begin_execution_run((uint64_t)(uintptr_t)query, frame);
	(pg.run_before ? pg.run_before : pg.run)(query, direction, count, once);
	if (is_on)
		end_execution_run((uint64_t)(uintptr_t)query, frame);
}

static void on_executor_end(void *query)
{
	if (guest_is_on() && pg.nr_open) {
		struct postgres_execution *e = find_execution((uint64_t)(uintptr_t)query);

		if (e) {
			postgres_rows_register(e);
			end_execution(e);
		}
	}
	(pg.end_before ? pg.end_before : pg.end)(query);
}

static void on_utility(void *statement, const char *text, bool read_only, int context, void *parameters, void *environment,
		       void *destination, void *completion)
{
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	bool is_on = guest_is_on() && !postgres_is_worker() && postgres_session_register() &&
		     begin_utility((uint64_t)(uintptr_t)statement, (uint64_t)(uintptr_t)text, frame);

	(pg.utility_before ? pg.utility_before : pg.utility)(statement, text, read_only, context, parameters, environment, destination,
							     completion);
	if (is_on) {
		struct postgres_execution *e = find_execution((uint64_t)(uintptr_t)statement);

		if (e && e->frame == frame)
			end_execution(e);
	}
}

void postgres_reset_in_child(void)
{
	if (!pg.program)
		return;
	pg.pid = 0;
	if (!guest_is_on())
		return;
	objects_set_single_thread(true);
	postgres_process_register(); /* this is done now, because planning precedes the first run, and background processes have no run */
	objects_set_single_thread(false);
}

/* The server loads its library for LLVM when a query is compiled for the first time, so the classes of work are registered again. */
void postgres_note_llvm_object(const struct object *o)
{
	if (!pg.program)
		return;
	pg.llvm = *o;
	pg.llvm.name = "llvmjit";
	if (guest_is_on() && pg.pid)
		postgres_register_classes();
}

/* Finds the program's readable pages from its first segment on, up to the first gap. */
static void find_program_image_range(const struct object *o)
{
	const Elf64_Phdr *s = o->headers;
	uint64_t begin = UINT64_MAX, end = 0;

	for (int i = 0; i < o->nr_headers; i++) { /* segments are ordered by address */
		uint64_t from = s[i].p_vaddr & ~(uint64_t)(SYS_PAGE_BYTES - 1);

		if (s[i].p_type != PT_LOAD)
			continue;
		if (!(s[i].p_flags & PF_R) || (end && from != end))
			break;
		begin = from < begin ? from : begin;
		end = (s[i].p_vaddr + s[i].p_memsz + SYS_PAGE_BYTES - 1) & ~(uint64_t)(SYS_PAGE_BYTES - 1);
	}
	if (begin < end) {
		pg.image_begin = o->bias + begin;
		pg.image_end = o->bias + end;
	}
}

void postgres_plans_hook_object(const struct object *o)
{
	const uint64_t base = postgres_base_of_object(o);
	struct postgres_reader r;

	if (pg.program || !object_find_symbol(o, "ExecutorRun_hook") || !object_find_symbol(o, "standard_ExecutorRun"))
		return;
	pg.program_kept = *o;
	pg.heap_begin = (uintptr_t)sbrk(0);
	find_program_image_range(o);
	pg.start_hook = object_find_symbol(o, "ExecutorStart_hook");
	pg.run_hook = object_find_symbol(o, "ExecutorRun_hook");
	pg.end_hook = object_find_symbol(o, "ExecutorEnd_hook");
	pg.start = (start_function)object_find_symbol(o, "standard_ExecutorStart");
	pg.run = (run_function)object_find_symbol(o, "standard_ExecutorRun");
	pg.end = (end_function)object_find_symbol(o, "standard_ExecutorEnd");
	pg.utility_hook = object_find_symbol(o, "ProcessUtility_hook");
	pg.utility = (utility_function)object_find_symbol(o, "standard_ProcessUtility");
	*(void **)&pg.setting = object_find_symbol(o, "GetConfigOption");
	pg.postmaster_pid = object_find_symbol(o, "PostmasterPid");
	pg.worker_number = object_find_symbol(o, "ParallelWorkerNumber");
	pg.start_time = object_find_symbol(o, "PgStartTime");
	if (!pg.start_hook || !pg.end_hook || !pg.start || !pg.end || !pg.setting || !pg.postmaster_pid)
		return;
	for (int i = 0; i < POSTGRES_NR_SYMBOLS; i++)
		pg.symbol[i] = (uint64_t)(uintptr_t)object_find_symbol(o, postgres_symbol_name((enum postgres_symbol)i));
	memcpy(pg.code.symbol, pg.symbol, sizeof(pg.symbol));
	r = postgres_memory_reader();
	if (!base || !postgres_code_init(&r, base))
		return;
	pg.program = &pg.program_kept;
	pg.start_before = *pg.start_hook;
	pg.run_before = *pg.run_hook;
	pg.end_before = *pg.end_hook;
	*pg.start_hook = on_executor_start;
	*pg.run_hook = on_executor_run;
	*pg.end_hook = on_executor_end;
	if (pg.utility_hook && pg.utility) {
		pg.utility_before = *pg.utility_hook;
		*pg.utility_hook = on_utility;
	}
	postgres_process_register(); /* it is called before fork, so that no child registers the components that all share */
}
