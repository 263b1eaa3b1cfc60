/* SPDX-License-Identifier: MIT */
/* A server with plans, made by hand, and call stacks in it, for tests of how a stack's node is found. */
#ifndef TAILOR_TESTS_PLAN_STACKS_H
#define TAILOR_TESTS_PLAN_STACKS_H

#include "tests/unit/small_trace.h"

enum { PID = 1000, CHILD = 1001, NODE = 1, QUERY, SESSION, WAIT };
/* components of nodes, and of queries */
enum { JOIN_1 = 1, JOIN_2, SCAN_A, SCAN_B, HASH, INNER_SCAN, SORTING, LATER, INIT };
enum { OUTER = 1, INNER, NEXT };

#define TEXT 0x555500000000ull
#define FUNCTION(n) (TEXT + (n) * 0x100ull)
#define RUN FUNCTION(1)
#define JOIN FUNCTION(2)
#define SCAN FUNCTION(3)
#define FETCH FUNCTION(4)
#define BUILD FUNCTION(5)
#define SORT FUNCTION(6)
#define OTHER FUNCTION(7) /* no object's */
#define SUBPLAN FUNCTION(8)
#define JITTED 0x7f1000000000ull
#define STACK 0x7ffc00000000ull

#define AT(component) (0x9000ull + (component) * 0x100) /* where objects lie */
#define AT_QUERY(query) (0x8000ull + (query) * 0x100)

static struct trace_reader *trace;
static struct model *model;
static struct small_world world;
static struct sample_attribution x; /* the last answer */

/* Each saves rbx, so a frame is two words: its caller's rbx, and where it returns to. */
static inline void put_function(uint64_t start, uint64_t bytes)
{
	static const unsigned char cie[] = { 16, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 16, 0x80 | 16, 1, 0x80 | 3, 2 };
	unsigned char frames[sizeof(cie) + 24 + 4] = { 0 };
	const uint32_t fde[2] = { 20, sizeof(cie) + 4 };

	memcpy(frames, cie, sizeof(cie));
	memcpy(frames + sizeof(cie), fde, 8);
	memcpy(frames + sizeof(cie) + 8, &start, 8);
	memcpy(frames + sizeof(cie) + 16, &bytes, 8);
	PUT(eh_frame, PID, 2, .address = start - 0x40000000, .frames = { frames, sizeof(frames) });
}

static inline void put_node_at(uint64_t time_ns, uint64_t component, uint64_t upper, uint64_t query, size_t nr, const uint64_t *function)
{
	const uint64_t of[][2] = { { NODE, component }, { QUERY, query }, { SESSION, 7 } };

	put_object(PID, time_ns, AT(component), upper, 0, nr, function, 3, of);
}

static inline void put_query(uint64_t time_ns, uint64_t query, uint32_t flags)
{
	const uint64_t of[][2] = { { QUERY, query }, { SESSION, 7 } }, function = RUN;

	put_object(PID, time_ns, AT_QUERY(query), 0, flags, 1, &function, 2, of);
}

static inline void put_outer(uint64_t time_ns)
{
	static const uint64_t join = JOIN, scan[] = { SCAN, FETCH }, hash = BUILD, subplan = SUBPLAN;

	put_query(time_ns, OUTER, 0);
	put_node_at(time_ns, JOIN_1, AT_QUERY(OUTER), OUTER, 1, &join);
	put_node_at(time_ns, JOIN_2, AT(JOIN_1), OUTER, 1, &join);
	put_node_at(time_ns, SCAN_A, AT(JOIN_2), OUTER, 2, scan);
	put_node_at(time_ns, SCAN_B, AT(JOIN_2), OUTER, 2, scan);
	put_node_at(time_ns, HASH, AT(JOIN_1), OUTER, 1, &hash);
	put_node_at(time_ns, INIT, AT(JOIN_1), OUTER, 1, &subplan);
}

static inline void put_inner(uint64_t time_ns)
{
	static const uint64_t scan[] = { SCAN, FETCH };

	put_query(time_ns, INNER, 0);
	put_node_at(time_ns, INNER_SCAN, AT_QUERY(INNER), INNER, 2, scan);
}

static inline int begin(void **state)
{
	static const char *const names[] = { "", "join 1", "join 2", "scan a", "scan b", "hash", "inner scan", "(sorting)", "later",
					     "init" };
	static const uint64_t sort = SORT, of_sorting[][2] = { { NODE, SORTING } };

	(void)state;
	small_begin();
	put_process(PID, 1, "server");
	put_mmap(PID, 1, TEXT, 0x1000, "/server");
	for (unsigned i = 1; i <= 9; i++)
		put_function(FUNCTION(i), 0x80);
	put_level(PID, NODE, "node");
	put_level(PID, QUERY, "query");
	put_level(PID, SESSION, "session");
	for (uint64_t i = 1; i < sizeof(names) / sizeof(names[0]); i++)
		put_component(PID, NODE, i, 0, names[i]);
	put_component(PID, QUERY, OUTER, 0, "outer");
	put_component(PID, QUERY, INNER, 0, "inner");
	put_component(PID, QUERY, NEXT, 0, "next");
	put_component(PID, SESSION, 7, 0, "session");
	put_object(PID, 3, 1, 0, JITREG_OBJECT_CLASS, 1, &sort, 1, of_sorting);
	return 0;
}

static inline void finish(void)
{
	trace = small_end();
	model = small_model(trace);
	small_world_init(&world, model);
}

static inline int end(void **state)
{
	(void)state;
	small_world_fini(&world);
	model_destroy(model);
	trace_close(trace);
	return 0;
}

/* ----------------------------------------------------------------------------------------------------- asking it */

struct frame {
	uint64_t function, rbx;
};

#define FRAMES_MAX 16
#define TRUNCATED { 0, 0 }

/* A stack, innermost frame first, that ends behind the last one, or is truncated there. */
static inline void ask_at(uint64_t time_ns, const struct frame *f, size_t nr)
{
	struct sample s = { .time_ns = time_ns, .pid = PID, .tid = PID, .mode = SAMPLE_MODE_USER, .has_registers = true };
	const bool truncated = !f[nr - 1].function;
	uint64_t word[2 * FRAMES_MAX] = { 0 };
	const unsigned others[] = { UNWIND_RBP, 12, 13, 14, 15 };

	nr -= truncated;
	s.ip = s.user_ip = f[0].function + 4;
	for (size_t i = 1; i < nr; i++) {
		word[2 * (i - 1)] = f[i].rbx;
		word[2 * (i - 1) + 1] = f[i].function + 4;
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		s.input.registers.value[others[i]] = 0x1000 + i;
	s.input.registers.value[UNWIND_RIP] = s.ip;
	s.input.registers.value[UNWIND_RSP] = STACK;
	s.input.registers.value[UNWIND_RBX] = f[0].rbx;
	s.input.registers.known = 1u << UNWIND_RIP | 1u << UNWIND_RSP | 1u << UNWIND_RBX | 1u << UNWIND_RBP | 0xf000;
	s.input.stack = (const unsigned char *)word;
	s.input.stack_bytes = 16 * (truncated ? nr - 1 : nr);
	assert_true(attribute_sample(&world.world, &s, &x));
}
#define ASK(...) ASK_AT(50, __VA_ARGS__)
#define ASK_AT(time_ns, ...) \
	ask_at(time_ns, (const struct frame[]){ __VA_ARGS__ }, sizeof((const struct frame[]){ __VA_ARGS__ }) / sizeof(struct frame))

static inline const char *name_at(uint32_t level)
{
	const uint32_t component = x.paths.row[0].component[dictionary_get_level(&model->dictionary, level)];

	return component && model->dictionary.components.at[component].name ? model->dictionary.components.at[component].name : "";
}

static inline void expect(const char *node, const char *query)
{
	assert_int_equal(x.answer.method, METHOD_PLAN_WALK);
	assert_string_equal(name_at(NODE), node);
	assert_string_equal(name_at(QUERY), query);
}

static inline void expect_none(enum reason why)
{
	assert_int_equal(x.answer.method, METHOD_NONE);
	assert_string_equal(reason_names[x.answer.reason], reason_names[why]);
}

#define Q(query) { RUN, AT_QUERY(query) }

#endif
