/* SPDX-License-Identifier: MIT */
/*
 * Registers DuckDB's queries, in any program that uses its shared library.  The library exports all its functions and so calls them through
 * slots.  Some of these slots are replaced by hooks.  Each hooked function is called once for a query, a pipeline or a task, and none for a
 * chunk of rows.
 */
#include "shim/engines/duckdb.h"

#include "agent/guest/sys.h"
#include "shim/engines/cxx_call.h"
#include "shim/engines/library.h"

#include "jitreg/engines/sql_text.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>

struct duckdb duckdb;

static struct duckdb_connection *find_connection(uint64_t context)
{
	for (size_t i = 0; context && i < DUCKDB_CONNECTIONS; i++)
		if (__atomic_load_n(&duckdb.queries->connection[i].context, __ATOMIC_ACQUIRE) == context)
			return &duckdb.queries->connection[i];
	return NULL;
}

struct duckdb_connection *duckdb_find_executor_connection(uint64_t executor)
{
	for (size_t i = 0; executor && i < DUCKDB_CONNECTIONS; i++)
		if (__atomic_load_n(&duckdb.queries->connection[i].executor, __ATOMIC_ACQUIRE) == executor)
			return &duckdb.queries->connection[i];
	return NULL;
}

static struct duckdb_connection *add_connection(uint64_t context)
{
	for (size_t i = 0; i < DUCKDB_CONNECTIONS; i++) {
		struct duckdb_connection *c = &duckdb.queries->connection[i];
		uint64_t none = 0;

		if (__atomic_compare_exchange_n(&c->context, &none, context, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return c;
	}
	return NULL;
}

static void end_query(struct duckdb_connection *c)
{
	if (c->mark) {
		jitreg_mark_end(c->mark, 0);
		jitreg_object_end((uint64_t)(uintptr_t)c);
	}
	c->mark = c->plan = 0;
	c->nr = 0;
	__atomic_store_n(&c->executor, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&c->context, 0, __ATOMIC_RELEASE);
}

static int register_own_work(void)
{
	static const struct jitreg_object_component of = { DUCKDB_LEVEL_OPERATOR, DUCKDB_PROFILING_ID };
	const struct jitreg_function functions[] = { { (uint64_t)(uintptr_t)duckdb_plan_register },
						     { (uint64_t)(uintptr_t)duckdb_pipeline_read },
						     { (uint64_t)(uintptr_t)duckdb_pipeline_register },
						     { (uint64_t)(uintptr_t)duckdb_states_register },
						     { (uint64_t)(uintptr_t)duckdb_task_register },
						     { (uint64_t)(uintptr_t)duckdb_pipeline_task_register } };
	int ret = jitreg_component(of.level, of.component, DUCKDB_PROFILING, NULL, JITREG_COMPONENT_COMMON);

	return ret ? ret :
		     jitreg_object((uint64_t)(uintptr_t)&of, 0, JITREG_OBJECT_CLASS, functions, sizeof(functions) / sizeof(functions[0]),
				   &of, 1);
}

/* Registers levels and classes of work, which a recorder needs before all else.  Returns false if another thread is doing so, or a record
 * was refused. */
static bool register_levels_and_classes(void)
{
	static const struct {
		const char *name, *function;
	} classes[] = {
#define ENTRY(name, function) { name, function },
		DUCKDB_CLASSES(ENTRY)
#undef ENTRY
	};
	uint32_t recorder = __atomic_load_n(&jitreg_recorders, __ATOMIC_RELAXED);
	int ret;

	if (__atomic_load_n(&duckdb.recorder, __ATOMIC_ACQUIRE) == recorder)
		return true;
	if (__atomic_exchange_n(&duckdb.telling, 1, __ATOMIC_ACQUIRE))
		return false;
	for (size_t i = 0; i < DUCKDB_SAID; i++)
		__atomic_store_n(&duckdb.said[i], 0, __ATOMIC_RELAXED);
	ret = jitreg_level(DUCKDB_LEVEL_QUERY, "query", 0, 0);
	ret = ret ? ret : jitreg_level(DUCKDB_LEVEL_PIPELINE, "pipeline", DUCKDB_LEVEL_QUERY, 0);
	ret = ret ? ret : jitreg_level(DUCKDB_LEVEL_OPERATOR, "operator", DUCKDB_LEVEL_QUERY, JITREG_LEVEL_PLAN);
	ret = ret ? ret : jitreg_component(DUCKDB_LEVEL_OPERATOR, DUCKDB_WAITING_ID, DUCKDB_WAITING, NULL, JITREG_COMPONENT_COMMON);
	ret = ret ? ret : jitreg_component(DUCKDB_LEVEL_OPERATOR, DUCKDB_BETWEEN_ID, DUCKDB_BETWEEN, NULL, JITREG_COMPONENT_COMMON);
	ret = ret ? ret : register_own_work();
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]) && !ret; i++) {
		struct jitreg_object_component of = { DUCKDB_LEVEL_OPERATOR, DUCKDB_PROFILING_ID + 1 + i };
		struct jitreg_function function = { (uint64_t)(uintptr_t)object_find_symbol(&duckdb.library, classes[i].function) };

		if (!function.address)
			continue;
		ret = jitreg_component(of.level, of.component, classes[i].name, NULL, JITREG_COMPONENT_COMMON);
		ret = ret ? ret : jitreg_object((uint64_t)(uintptr_t)&classes[i], 0, JITREG_OBJECT_CLASS, &function, 1, &of, 1);
	}
	if (!ret)
		__atomic_store_n(&duckdb.recorder, recorder, __ATOMIC_RELEASE);
	__atomic_store_n(&duckdb.telling, 0, __ATOMIC_RELEASE);
	return !ret;
}

/* Sets c->query to a hash of the text without its literals, and registers the query's component if it is new. Returns false if the text
 * cannot be read. */
static bool register_query(struct duckdb_connection *c, const struct duckdb_text *text, struct duckdb_room *r)
{
	size_t n = text->bytes < DUCKDB_TEXT_BYTES ? text->bytes : DUCKDB_TEXT_BYTES - 1;
	char *copy = r->text + 1;

	if (!sys_readable_range(text->text, n))
		return false;
	memcpy(copy, text->text, n);
	r->text[0] = copy[n] = 0;
	n = sql_text_normalise(copy, strlen(copy));
	c->query = engine_hash(ENGINE_HASH_BEGIN, copy, n);
	if (!duckdb_is_registered(c->query)) {
		sql_text_shorten(copy, n, r->name, sizeof(r->name));
		n = text->bytes < DUCKDB_TEXT_BYTES ? text->bytes : DUCKDB_TEXT_BYTES - 1;
		memcpy(copy, text->text, n);
		copy[n] = 0;
		if (jitreg_component(DUCKDB_LEVEL_QUERY, c->query, r->name, copy, JITREG_COMPONENT_COMMON) == 0)
			duckdb_mark_registered(c->query);
	}
	return true;
}

/* ---------------------------------------------------------------------------------------------------------- functions */

/* Asks for the text of the query that context has just begun. The library's function returns a reference, and the library owns the text.
 * Returns false if the function throws or the reference cannot be read. */
static bool read_query_text(uint64_t context, struct duckdb_text *text)
{
	const uint64_t argument[CXX_ARGUMENTS] = { context };
	uint64_t string;

	return cxx_call(duckdb.current_query, argument, &string) && duckdb_string_read(string, text);
}

static void begin_query(uint64_t context)
{
	struct duckdb_connection *c = find_connection(context);
	struct duckdb_text text;
	struct duckdb_room *r;

	if (c)
		end_query(c);
	if (!register_levels_and_classes() || !read_query_text(context, &text))
		return;
	r = duckdb_room_take();
	c = r ? add_connection(context) : NULL;
	if (c && !register_query(c, &text, r))
		end_query(c);
	if (r)
		duckdb_room_leave(r);
}

static void begin_plan(uint64_t executor, uint64_t outermost)
{
	struct duckdb_connection *c = duckdb_find_executor_connection(executor);

	if (!c)
		return;
	if (c->mark)
		jitreg_mark_end(c->mark, 0);
	duckdb_plan_register(c, outermost);
	c->mark = jitreg_mark_begin(JITREG_COVERS_PROCESS, "run", jitreg_at(DUCKDB_LEVEL_QUERY, c->query),
				    __atomic_add_fetch(&duckdb.nr_runs, 1, __ATOMIC_RELAXED), 0, NULL);
}

/* Each hook has its name, whether the other hooks are of use without it, actions before and after the real call, and the names of the
 * function in different versions. */
#define CONTEXT "_ZN6duckdb13ClientContext"
#define PIPELINE "_ZN6duckdb16PipelineExecutorC1ERNS_13ClientContextERNS_8PipelineE"
#define TASK "_ZN6duckdb12ExecutorTaskC2ERNS_"
#define HOOKS(X) \
	X(on_begin, false, (void)0, begin_query(a), DUCKDB_BEGINS) \
	X(on_executor, false, set_connection_executor(b, a), (void)0, "_ZN6duckdb8ExecutorC1ERNS_13ClientContextE") \
	X(on_plan, false, begin_plan(a, b), (void)0, "_ZN6duckdb8Executor18InitializeInternalERNS_16PhysicalOperatorE") \
	/* This constructor calls that of on_pipeline_task, which registers less about the same task. */ \
	X(on_task_of_pipeline, true, (void)0, duckdb_pipeline_task_register(a, b), \
	  "_ZN6duckdb12PipelineTaskC1ERNS_8PipelineENS_10shared_ptrINS_5EventELb1EEE") \
	/* A Python wheel of 2.0 has no slot for one of these two.  Without it, a task's work between operators has no name. */ \
	X(on_operator_task, true, begin_task(find_connection(b), a, d), (void)0, \
	  TASK "13ClientContextENS_10shared_ptrINS_5EventELb1EEERKNS_16PhysicalOperatorE") \
	X(on_pipeline_task, true, begin_task(duckdb_find_executor_connection(b), a, 0), (void)0, \
	  TASK "8ExecutorENS_10shared_ptrINS_5EventELb1EEE") \
	/* This function waits for the query's tasks. If it returns its result in memory, the context is the second argument. */ \
	X(on_end, false, (void)0, end_query_of_context(a, b), \
	  CONTEXT "16EndQueryInternalERNS_17ClientContextLockEbbNS_12optional_ptrINS_9ErrorDataELb1EEE")

static void set_connection_executor(uint64_t context, uint64_t executor)
{
	struct duckdb_connection *c = find_connection(context);

	if (c)
		__atomic_store_n(&c->executor, executor, __ATOMIC_RELEASE);
}

static void begin_task(struct duckdb_connection *c, uint64_t task, uint64_t operator)
{
	if (c)
		duckdb_task_register(c, task, operator);
}

static void end_query_of_context(uint64_t context, uint64_t or_context)
{
	struct duckdb_connection *c = find_connection(context);

	c = c ? c : find_connection(or_context);
	if (c)
		end_query(c);
}

#define HOOK(name, is_optional, before, after, ...) \
	static library_function *name##_real; \
	static uint64_t name(LIBRARY_PARAMETERS) \
	{ \
		uint64_t result; \
\
		if (guest_is_on()) { \
			before; \
		} \
		result = name##_real(LIBRARY_ARGUMENTS); \
		if (guest_is_on()) { \
			after; \
		} \
		return result; \
	}
HOOKS(HOOK)

static library_function *on_pipeline_real;
/* DuckDB calls this when a thread makes an executor (a) for a connection (b) and a pipeline (c). */
static uint64_t on_pipeline(LIBRARY_PARAMETERS)
{
	struct duckdb_connection *connection = guest_is_on() ? find_connection(b) : NULL;
	struct duckdb_parts parts;
	uint64_t result;

	if (connection && !duckdb_pipeline_read(connection, c, &parts))
		connection = NULL;
	if (connection)
		duckdb_pipeline_register(connection, a, &parts);
	result = on_pipeline_real(LIBRARY_ARGUMENTS);
	if (connection && guest_is_on())
		duckdb_states_register(connection, a, &parts);
	return result;
}

/* ------------------------------------------------------------------------------------------------------------ the library */

static uint64_t find_function(const struct object *o, const char *name)
{
	return (uint64_t)(uintptr_t)object_find_symbol(o, name);
}

static bool find_operator_slots(const struct object *o)
{
	static const struct {
		enum duckdb_role role;
		const char *function;
	} roles[] = {
#define ENTRY(NAME, function) { DUCKDB_##NAME, function },
		DUCKDB_ROLES(ENTRY)
#undef ENTRY
	};
	uint64_t children = (uint64_t)(uintptr_t)object_find_symbol(o, DUCKDB_GET_CHILDREN);
	uint64_t *table = object_find_symbol(o, DUCKDB_OPERATOR_TABLE), *projection = object_find_symbol(o, DUCKDB_PROJECTION_TABLE);
	bool found = false;

	if (!table || !children)
		return false;
	table += 2; /* skips the offset to top and the type information */
	projection = projection ? projection + 2 : table;
	duckdb.operator_table = table;
	memset(duckdb.role, DUCKDB_NO_ROLE, sizeof(duckdb.role));
	for (uint32_t i = 0; i < DUCKDB_SLOTS && object_contains(o, table + i, 8); i++) {
		if (table[i] < duckdb.text_begin || table[i] >= duckdb.text_end)
			break;
		duckdb.nr_slots = i + 1;
		if (table[i] == children) {
			duckdb.children_slot = i;
			found = true;
		}
		for (size_t r = 0; r < sizeof(roles) / sizeof(roles[0]); r++) {
			uint64_t function = find_function(o, roles[r].function);

			if (function && (table[i] == function || projection[i] == function))
				duckdb.role[i] = (unsigned char)roles[r].role;
		}
	}
	return found;
}

static void find_duckdb_functions(const struct object *o)
{
	static const struct {
		enum duckdb_role role;
		const char *function;
	} names[] = {
#define ENTRY(NAME, function) { DUCKDB_##NAME, function },
		DUCKDB_PIPELINE_FUNCTIONS(ENTRY)
#undef ENTRY
	};
#define ENTRY(NAME, type) [DUCKDB_##NAME] = type,
	static const char *const states[DUCKDB_NO_ROLE] = { DUCKDB_STATES(ENTRY) };
#undef ENTRY
	static const struct {
		const char *to_string, *current_query;
		enum duckdb_string_abi abi;
		bool has_print_format;
	} texts[] = {
#define ENTRY(to_string, current_query, abi, has_print_format) { to_string, current_query, abi, has_print_format },
		DUCKDB_TEXTS(ENTRY)
#undef ENTRY
	};
	static const struct {
		const char *executor, *context;
	} waits[] = {
#define ENTRY(executor, context) { executor, context },
		DUCKDB_WAITS(ENTRY)
#undef ENTRY
	};
	const Elf64_Phdr *segment = o->headers;

	_Static_assert(sizeof(names) / sizeof(names[0]) <= DUCKDB_PIPELINE_FUNCTIONS_MAX, "each has a place");
	for (int i = 0; i < o->nr_headers; i++)
		if (segment[i].p_type == PT_LOAD && segment[i].p_flags & PF_X) {
			duckdb.text_begin = o->bias + segment[i].p_vaddr;
			duckdb.text_end = duckdb.text_begin + segment[i].p_memsz;
		}
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]) && !duckdb.to_string; i++) {
		duckdb.to_string = find_function(o, texts[i].to_string);
		duckdb.string_abi = texts[i].abi;
		duckdb.has_print_format = texts[i].has_print_format;
		duckdb.current_query = find_function(o, texts[i].current_query);
	}
	duckdb.task_execute = find_function(o, DUCKDB_TASK_EXECUTE);
	duckdb.pipeline_task_execute = find_function(o, DUCKDB_PIPELINE_TASK_EXECUTE);
	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
		if (!duckdb.executor_waits.address) {
			duckdb.executor_waits.address = find_function(o, waits[i].executor);
			duckdb.context_waits.address = find_function(o, waits[i].context);
		}
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		uint64_t address = find_function(o, names[i].function);

		if (!address)
			continue;
		duckdb.pipeline[duckdb.nr_pipeline].address = address;
		duckdb.pipeline[duckdb.nr_pipeline++].role = names[i].role;
	}
	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		duckdb.state_type[i] = find_function(o, states[i]);
}

/* Returns NULL, or the name of what is missing. */
static const char *find_duckdb_symbols(const struct object *o)
{
	long p = sys_mmap(NULL, sizeof(*duckdb.queries), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);

	if (p < 0 && p > -4096)
		return "memory";
	duckdb.queries = (struct duckdb_queries *)p;
	find_duckdb_functions(o);
	if (!duckdb.to_string || !duckdb.current_query || !duckdb.task_execute || !duckdb.nr_pipeline || !find_operator_slots(o))
		return "PhysicalOperator";
	return cxx_find_functions() ? NULL : "a C++ runtime";
}

#define ENTRY(name, is_optional, before, after, ...) { { __VA_ARGS__ }, name, &name##_real, is_optional },
static const struct library library = {
	.host = HOST_DUCKDB,
	.title = "DuckDB",
	.version = "duckdb_library_version",
	.with = "queries, pipelines and operators registered as they begin",
	.hook = { HOOKS(ENTRY) /* the next function has one name up to 1.5, and another in 2.0 */
		  { { PIPELINE, PIPELINE "NS_12optional_idxE" }, on_pipeline, &on_pipeline_real, false } },
	.find = find_duckdb_symbols,
	.object = &duckdb.library,
};
#undef ENTRY

void duckdb_hook_object(const struct object *o)
{
	library_hook_object(&library, o, "duckdb_open", duckdb_hook_object);
}
