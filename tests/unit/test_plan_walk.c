/* SPDX-License-Identifier: MIT */
/* Nodes of interpreted plans, found along call stacks, in models that are made by hand. */
#include "analyzer/objects/plan_walk.h"
#include "tests/unit/plan_stacks.h"


static void a_path_with_one_node_needs_no_register(void **state)
{
	(void)state;
	put_outer(10);
	finish();
	ASK({ OTHER, 0 }, { BUILD, 0 }, { JOIN, 0 }, Q(OUTER), { OTHER, 0 });
	expect("hash", "outer");
	assert_string_equal(name_at(SESSION), "session");
	ASK({ BUILD, 0 }, { OTHER, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("hash", "outer");
	assert_int_equal(x.answer.scope, ANSWER_OF_SAMPLE);
	ASK({ OTHER, 0 }, Q(OUTER));
	expect("", "outer"); /* the query's own work */
}

static void a_function_that_calls_itself_goes_down_the_tree(void **state)
{
	(void)state;
	put_outer(10);
	finish();
	ASK({ OTHER, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("join 1", "outer");
	ASK({ OTHER, 0 }, { JOIN, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("join 2", "outer");
	/* deeper than the tree: the innermost one itself */
	ASK({ OTHER, 0 }, { JOIN, 0 }, { JOIN, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("join 2", "outer");
	/* a register that still holds another node decides nothing where the path does */
	ASK({ OTHER, 0 }, { JOIN, AT(JOIN_2) }, Q(OUTER));
	expect("join 1", "outer");
}

static void of_several_nodes_the_one_in_a_register_runs(void **state)
{
	(void)state;
	put_outer(10);
	finish();
	ASK({ OTHER, 0 }, { SCAN, AT(SCAN_B) }, { JOIN, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("scan b", "outer");
	ASK({ OTHER, 0 }, { SCAN, AT(SCAN_A) }, { JOIN, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("scan a", "outer");
	/* another function of the node that was found */
	ASK({ FETCH, 0 }, { SCAN, AT(SCAN_A) }, { JOIN, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("scan a", "outer");
	/* the register is that of the frame, and not of one further in */
	ASK({ OTHER, AT(SCAN_A) }, { SCAN, AT(SCAN_B) }, { JOIN, AT(SCAN_A) }, { JOIN, 0 }, Q(OUTER));
	expect("scan b", "outer");
	/* a function further in, that only these two have, and a register there */
	ASK({ OTHER, 0 }, { FETCH, AT(SCAN_B) }, { SCAN, 0 }, { JOIN, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("scan b", "outer");
}

/* A frame of the test has one word, which holds rbx of its caller. */
static void of_several_nodes_the_one_in_a_word_of_the_frame_runs(void **state)
{
	(void)state;
	put_outer(10);
	finish();
	ASK({ OTHER, 0 }, { SCAN, 0 }, { JOIN, AT(SCAN_B) }, { JOIN, 0 }, Q(OUTER));
	expect("scan b", "outer");
	ASK({ SCAN, 0 }, { JOIN, AT(SCAN_A) }, { JOIN, 0 }, Q(OUTER));
	expect("scan a", "outer");
	/* a register of the frame comes first */
	ASK({ OTHER, 0 }, { SCAN, AT(SCAN_A) }, { JOIN, AT(SCAN_B) }, { JOIN, 0 }, Q(OUTER));
	expect("scan a", "outer");
	/* the word is another node's, or another frame's */
	ASK({ OTHER, 0 }, { SCAN, 0 }, { JOIN, AT(HASH) }, { JOIN, 0 }, Q(OUTER));
	expect("", "outer");
	ASK({ OTHER, 0 }, { SCAN, 0 }, { JOIN, 0 }, { JOIN, AT(SCAN_A) }, Q(OUTER));
	expect("", "outer");
	/* nothing else is known of the stack */
	ASK({ OTHER, 0 }, { SCAN, 0 }, { OTHER, AT(SCAN_B) }, { OTHER, 0 });
	expect("scan b", "outer");
	/* a frame that was cut off */
	ASK({ OTHER, 0 }, { SCAN, 0 }, TRUNCATED);
	expect_none(REASON_TRUNCATED);
}

static void a_frame_of_too_many_words_has_none(void **state)
{
	static uint64_t word[PLAN_SLOTS_MAX + 3];
	const struct unwind_input input = { .stack = (const unsigned char *)word, .stack_bytes = sizeof(word),
					    .registers = { .value = { [UNWIND_RSP] = STACK }, .known = 1u << UNWIND_RSP } };

	(void)state;
	put_outer(10);
	finish();
	for (uint32_t nr = 0; nr < sizeof(word) / sizeof(word[0]); nr++) {
		struct unwind_frame callee = { .function = SCAN, .registers = input.registers }, caller = callee;
		struct plan_frames frames = { 0 };

		caller.registers.value[UNWIND_RSP] = STACK + 8 * (nr + 1); /* and the return address */
		plan_frames_add(&frames, &model->objects, &callee, &input, 0);
		plan_frames_add(&frames, &model->objects, &caller, &input, 0);
		assert_int_equal(frames.nr, 2);
		assert_int_equal(frames.at[0].nr_slots, nr <= PLAN_SLOTS_MAX ? nr : 0);
		assert_true(frames.at[0].nr_slots ? frames.at[0].slots == input.stack : !frames.at[0].slots);
		free(frames.at);
	}
}

/* A query of pipelines: executors, and parts of operators that two scans and a hash table are. */
static const uint64_t part_scan = SCAN, part_build = BUILD, part_executor = SUBPLAN;
static const uint64_t parts_of[][2][2] = { { { NODE, SCAN_A }, { QUERY, OUTER } }, { { NODE, SCAN_B }, { QUERY, OUTER } },
				     { { NODE, HASH }, { QUERY, OUTER } } };
static const uint64_t parts_query[][2] = { { QUERY, OUTER } };

static void put_query_of_pipelines(void)
{
	put_object(PID, 10, 0x100, 0, 0, 0, NULL, 1, parts_query);
}

/* A pipeline's parts side by side: the frame of one calls that of another. */
static void the_nearest_object_around_has_the_next_one(void **state)
{
	(void)state;
	put_query_of_pipelines();
	for (uint64_t e = 0x200; e <= 0x300; e += 0x100) {
		put_object(PID, 11, e, 0x100, 0, 1, &part_executor, 1, parts_query);
		put_object(PID, 11, e + 1, e, 0, 1, &part_build, 2, parts_of[2]);
		put_object(PID, 11, e + 2, e, 0, 1, &part_scan, 2, parts_of[e == 0x300]);
	}
	finish();
	ASK({ OTHER, 0 }, { SCAN, 0 }, { BUILD, 0 }, { SUBPLAN, 0x200 });
	expect("scan a", "outer");
	ASK({ OTHER, 0 }, { SCAN, 0 }, { BUILD, 0 }, { SUBPLAN, 0x300 });
	expect("scan b", "outer");
}

/* One operator, and its parts in pipelines that are objects of their own: executors of pipelines, by a register of their frames. */
static void a_part_of_a_node_is_known_by_the_register_with_the_node(void **state)
{
	(void)state;
	put_query_of_pipelines();
	put_object(PID, 10, AT(SCAN_A), 0x100, 0, 1, &part_scan, 2, parts_of[0]);
	put_object(PID, 10, AT(SCAN_B), 0x100, 0, 1, &part_scan, 2, parts_of[1]);
	for (uint64_t e = 0x200; e <= 0x300; e += 0x100) { /* both threads execute the same pipeline */
		put_object(PID, 11, e, 0x100, 0, 1, &part_executor, 1, parts_query);
		put_object(PID, 11, e + 1, e, 0, 1, &part_scan, 2, parts_of[0]);
		put_object(PID, 11, e + 2, e, 0, 1, &part_scan, 2, parts_of[1]);
		put_object(PID, 11, e + 3, e, 0, 1, &part_build, 2, parts_of[2]);
	}
	finish();
	ASK({ OTHER, 0 }, { SCAN, AT(SCAN_A) }, { SUBPLAN, 0x200 });
	expect("scan a", "outer");
	ASK({ OTHER, 0 }, { SCAN, AT(SCAN_B) }, { SUBPLAN, 0x300 });
	expect("scan b", "outer");
	/* its only part with this function needs no register */
	ASK({ OTHER, 0 }, { BUILD, 0 }, { SUBPLAN, 0x300 });
	expect("hash", "outer");
	/* no register holds either scan */
	ASK({ OTHER, 0 }, { SCAN, 0 }, { SUBPLAN, 0x300 });
	expect("", "outer");
}

/* A task of one operator outside of its pipelines: no register holds an object with its function, and all of these are its parts. */
static void objects_of_one_operator_are_not_several(void **state)
{
	static const uint64_t scan = SCAN, build = BUILD, executor = SUBPLAN, run = RUN;
	static const uint64_t of[][2][2] = { { { NODE, SCAN_A }, { QUERY, OUTER } }, { { NODE, SCAN_B }, { QUERY, OUTER } },
					     { { NODE, HASH }, { QUERY, OUTER } } };
	const uint64_t query[][2] = { { QUERY, OUTER } };

	(void)state;
	put_object(PID, 10, 0x100, 0, 0, 1, &run, 1, query);
	put_object(PID, 10, AT(SORTING), 0x100, 0, 0, NULL, 1, query);
	put_object(PID, 10, AT(HASH), AT(SORTING), 0, 1, &build, 2, of[2]);
	put_object(PID, 10, AT(SCAN_B), AT(SORTING), 0, 1, &scan, 2, of[1]);
	for (uint64_t e = 0x200; e <= 0x300; e += 0x100) {
		put_object(PID, 11, e, 0x100, 0, 1, &executor, 1, query);
		put_object(PID, 11, e + 1, e, 0, 1, &build, 2, of[2]);
		put_object(PID, 11, e + 2, e, 0, 1, &scan, 2, of[e == 0x200]);
	}
	finish();
	/* with the frame that is the query's, and with none */
	ASK({ OTHER, 0 }, { BUILD, 0 }, { RUN, 0x100 });
	expect("hash", "outer");
	ASK({ OTHER, 0 }, { BUILD, 0 }, { OTHER, 0 });
	expect("hash", "outer");
	/* of two operators it could be either */
	ASK({ OTHER, 0 }, { SCAN, 0 }, { RUN, 0x100 });
	expect("", "outer");
	ASK({ OTHER, 0 }, { SCAN, 0 }, { OTHER, 0 });
	expect_none(REASON_SEVERAL_NODES);
}

/* An interpreter whose frame has the address of its step: the test's frames have their caller's rbx at their stack pointer. */
#define STEPS 0x60000ull
enum { STEP_1 = 200 };

static void put_program(uint64_t time_ns, uint64_t query, uint64_t first)
{
	put_query(time_ns, query, 0);
	put_steps(PID, time_ns, AT_QUERY(query), first, 24, 3, NODE, STEP_1);
}

static void begin_steps(void)
{
	put_component(PID, NODE, STEP_1, 0, "step 1");
	put_component(PID, NODE, STEP_1 + 1, 0, "step 2");
	put_component(PID, NODE, STEP_1 + 2, 0, "step 3");
	put_step_word(PID, 4, SUBPLAN, 0);
}

static void a_word_of_the_frame_tells_the_step(void **state)
{
	(void)state;
	begin_steps();
	put_program(10, OUTER, STEPS);
	put_program(10, INNER, STEPS + 72);
	finish();
	/* the frame's word is its caller's rbx */
	ASK({ OTHER, 0 }, { SUBPLAN, 0 }, { OTHER, STEPS + 24 });
	expect("step 2", "outer");
	ASK({ SUBPLAN, 0 }, { OTHER, STEPS + 72 }, { RUN, 0 });
	expect("step 1", "inner");
	/* the last one, and what lies behind it or between two */
	ASK({ OTHER, 0 }, { SUBPLAN, 0 }, { OTHER, STEPS + 48 }, Q(INNER));
	expect("step 3", "outer");
	ASK({ OTHER, 0 }, { SUBPLAN, 0 }, { OTHER, STEPS + 144 }, Q(OUTER));
	expect("", "outer");
	ASK({ OTHER, 0 }, { SUBPLAN, 0 }, { OTHER, STEPS + 25 }, Q(OUTER));
	expect("", "outer");
	/* a statement inside of another one */
	ASK({ SUBPLAN, 0 }, { OTHER, STEPS + 72 }, { RUN, AT_QUERY(INNER) }, { SUBPLAN, 0 }, { OTHER, STEPS }, { RUN, AT_QUERY(OUTER) });
	expect("step 1", "inner");
	/* and one that it calls and that was not read: no step of the one around it */
	ASK({ OTHER, 0 }, { RUN, 7 }, { SUBPLAN, 0 }, { OTHER, STEPS }, { RUN, AT_QUERY(OUTER) });
	expect_none(REASON_QUERY_UNREAD);
}

static void steps_end_with_their_object(void **state)
{
	(void)state;
	begin_steps();
	put_program(10, OUTER, STEPS);
	put_object_end(PID, 20, AT_QUERY(OUTER));
	put_program(30, INNER, STEPS + 24); /* over the middle of it */
	put_object_end(PID, 40, AT_QUERY(INNER));
	put_program(50, NEXT, STEPS);
	finish();
	ASK_AT(15, { SUBPLAN, 0 }, { OTHER, STEPS + 24 });
	expect("step 2", "outer");
	ASK_AT(25, { SUBPLAN, 0 }, { OTHER, STEPS + 24 });
	expect_none(REASON_HOST);
	ASK_AT(35, { SUBPLAN, 0 }, { OTHER, STEPS + 24 });
	expect("step 1", "inner");
	ASK_AT(35, { SUBPLAN, 0 }, { OTHER, STEPS });
	expect_none(REASON_HOST);
	ASK_AT(60, { SUBPLAN, 0 }, { OTHER, STEPS + 24 });
	expect("step 2", "next");
}

static void steps_that_cannot_be_are_refused(void **state)
{
	(void)state;
	begin_steps();
	put_query(10, OUTER, 0);
	put_steps(PID, 10, AT_QUERY(OUTER), STEPS, 0, 3, NODE, STEP_1);
	put_steps(PID, 10, AT_QUERY(OUTER), STEPS, 24, 0, NODE, STEP_1);
	put_steps(PID, 10, AT_QUERY(OUTER), UINT64_MAX - 24, 24, 3, NODE, STEP_1);
	put_steps(PID, 10, AT_QUERY(OUTER), STEPS, 24, UINT32_MAX, NODE, STEP_1);
	put_steps(PID, 10, AT_QUERY(INNER), STEPS, 24, 3, NODE, STEP_1); /* no object there */
	put_steps(PID, 10, AT_QUERY(OUTER), STEPS + 240, 24, 3, NODE, STEP_1);
	put_step_word(PID, 10, RUN, UINT32_MAX); /* beyond every stack */
	finish();
	ASK({ SUBPLAN, 0 }, { OTHER, STEPS }, Q(OUTER));
	expect("", "outer");
	ASK({ SUBPLAN, 0 }, { OTHER, STEPS + 240 }, Q(OUTER));
	expect("step 1", "outer");
}

static void where_no_register_tells_the_query_is_known(void **state)
{
	(void)state;
	put_outer(10);
	finish();
	ASK({ OTHER, 0 }, { SCAN, 0 }, { JOIN, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("", "outer");
	assert_string_equal(name_at(SESSION), "session");
	/* a node of another tree is none of them */
	ASK({ OTHER, 0 }, { SCAN, AT(HASH) }, { JOIN, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("", "outer");
}

static void a_subplan_is_called_from_anywhere_in_its_tree(void **state)
{
	(void)state;
	put_outer(10);
	finish();
	ASK({ OTHER, 0 }, { SUBPLAN, 0 }, { OTHER, 0 }, { SCAN, AT(SCAN_A) }, { JOIN, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("init", "outer");
}

static void a_subplan_of_a_join_is_no_part_of_the_join_that_calls_it(void **state)
{
	static const uint64_t join = JOIN;

	(void)state;
	put_outer(10);
	put_node_at(10, LATER, AT(JOIN_1), OUTER, 1, &join);
	finish();
	ASK({ OTHER, 0 }, { JOIN, AT(LATER) }, { JOIN, AT(JOIN_2) }, { JOIN, 0 }, Q(OUTER));
	expect("later", "outer");
	/* what a register still holds of a node around it is none */
	ASK({ OTHER, 0 }, { JOIN, AT(JOIN_1) }, { JOIN, AT(JOIN_2) }, { JOIN, 0 }, Q(OUTER));
	expect("join 2", "outer");
}

static void a_scan_in_the_filter_of_a_scan_is_another_one(void **state)
{
	static const uint64_t scan[] = { SCAN, FETCH };

	(void)state;
	put_outer(10);
	put_node_at(10, LATER, AT(SCAN_A), OUTER, 2, scan);
	finish();
	ASK({ FETCH, AT(SCAN_A) }, { SCAN, AT(SCAN_A) }, { JOIN, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("scan a", "outer");
	ASK({ FETCH, 0 }, { SCAN, AT(SCAN_A) }, { JOIN, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("scan a", "outer");
	ASK({ OTHER, 0 }, { SCAN, 0 }, { SCAN, AT(SCAN_A) }, { JOIN, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("later", "outer");
	/* the filter's scan jumped to its access method */
	ASK({ FETCH, AT(LATER) }, { SCAN, AT(SCAN_A) }, { JOIN, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("later", "outer");
}

static void a_query_inside_of_another_begins_anew(void **state)
{
	(void)state;
	put_outer(10);
	put_inner(10);
	finish();
	ASK({ OTHER, 0 }, { SCAN, 0 }, Q(INNER), { OTHER, 0 }, { BUILD, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("inner scan", "inner");
	ASK({ OTHER, 0 }, { BUILD, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("hash", "outer");
	ASK({ OTHER, 0 }, { JOIN, 0 }, Q(INNER)); /* that has no such node */
	expect("", "inner");
}

static void a_query_that_was_not_read_has_no_nodes(void **state)
{
	(void)state;
	put_outer(10);
	finish();
	ASK({ OTHER, 0 }, { BUILD, 0 }, { JOIN, 0 }, { RUN, 0x7777 });
	expect_none(REASON_QUERY_UNREAD);
	ASK({ OTHER, 0 }, { SCAN, 0 }, { RUN, 0x7777 }, { BUILD, 0 }, { JOIN, 0 }, Q(OUTER));
	expect_none(REASON_QUERY_UNREAD);
}

static void an_object_that_is_alone_needs_no_register(void **state)
{
	static const uint64_t join = JOIN;

	(void)state;
	put_query(10, OUTER, JITREG_OBJECT_ALONE);
	put_node_at(10, JOIN_1, AT_QUERY(OUTER), OUTER, 1, &join);
	finish();
	ASK({ OTHER, 0 }, { JOIN, 0 }, { RUN, 0 });
	expect("join 1", "outer");
}

static void a_class_of_work_decides_wherever_it_is(void **state)
{
	(void)state;
	put_outer(10);
	put_inner(10);
	finish();
	ASK({ OTHER, 0 }, { SORT, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("(sorting)", "outer");
	ASK({ BUILD, 0 }, { SORT, 0 }, { JOIN, 0 }, Q(OUTER)); /* only a query further in changes that */
	expect("(sorting)", "outer");
	ASK({ SCAN, 0 }, Q(INNER), { SORT, 0 }, { JOIN, 0 }, Q(OUTER)); /* a query further in decides */
	expect("inner scan", "inner");
	ASK({ OTHER, 0 }, { SORT, 0 }, { OTHER, 0 });
	expect("(sorting)", "");
	ASK({ OTHER, 0 }, { SORT, 0 }, { RUN, 0x7777 });
	expect("(sorting)", "");
}

static void what_is_everywhere_belongs_to_all_that_is_not_said_otherwise(void **state)
{
	static const uint64_t of_session[][2] = { { SESSION, 8 } }, of_wait[][2] = { { WAIT, 3 } };
	const uint32_t everywhere = JITREG_OBJECT_CLASS | JITREG_OBJECT_EVERYWHERE;

	(void)state;
	put_level(PID, WAIT, "wait");
	put_component(PID, SESSION, 8, 0, "everybody");
	put_component(PID, WAIT, 3, 0, "a lock");
	put_object(PID, 5, 2, 0, everywhere, 0, NULL, 1, of_session);
	put_outer(10);
	put_object(PID, 40, 3, 0, everywhere, 0, NULL, 1, of_wait);
	put_object_end(PID, 60, 3);
	finish();
	ASK({ OTHER, 0 }, { SORT, 0 }, { OTHER, 0 });
	expect("(sorting)", "");
	assert_string_equal(name_at(SESSION), "everybody");
	assert_string_equal(name_at(WAIT), "a lock");
	ASK_AT(60, { OTHER, 0 }, { BUILD, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("hash", "outer");
	assert_string_equal(name_at(SESSION), "session"); /* its query's */
	assert_string_equal(name_at(WAIT), "");
	ASK_AT(39, { OTHER, 0 }, { OTHER, 0 });
	expect_none(REASON_HOST);
	assert_string_equal(name_at(SESSION), "everybody");
	ASK_AT(4, { OTHER, 0 }, { OTHER, 0 });
	assert_string_equal(name_at(SESSION), "");
}

static void a_truncated_stack_needs_a_function_of_one_node_or_a_register(void **state)
{
	(void)state;
	put_outer(10);
	put_inner(10);
	finish();
	ASK({ OTHER, 0 }, { BUILD, 0 }, TRUNCATED);
	expect("hash", "outer");
	ASK({ OTHER, 0 }, { SCAN, AT(SCAN_A) }, { OTHER, 0 }, TRUNCATED);
	expect("scan a", "outer");
	ASK({ OTHER, 0 }, { SCAN, AT(INNER_SCAN) }, { OTHER, 0 }, TRUNCATED);
	expect("inner scan", "inner");
	ASK({ OTHER, 0 }, { SCAN, 0 }, { OTHER, 0 }, TRUNCATED);
	expect_none(REASON_TRUNCATED);
	ASK({ OTHER, 0 }, { SCAN, 0 }, { OTHER, 0 });
	expect_none(REASON_SEVERAL_NODES);
	ASK({ OTHER, 0 }, { OTHER, 0 });
	expect_none(REASON_HOST);
}

static void at_the_instruction_the_first_argument_counts(void **state)
{
	struct sample s = { .time_ns = 50, .pid = PID, .tid = PID, .mode = SAMPLE_MODE_USER, .has_registers = true, .ip = SCAN,
			    .user_ip = SCAN };

	(void)state;
	put_outer(10);
	finish();
	s.input.registers = (struct unwind_registers){ .value = { [5] = AT(SCAN_B), [UNWIND_RSP] = STACK, [UNWIND_RIP] = SCAN },
						       .known = 1u << 5 | 1u << UNWIND_RSP | 1u << UNWIND_RIP };
	assert_true(attribute_sample(&world.world, &s, &x)); /* and there is no stack */
	expect("scan b", "outer");
	s.input.registers.known &= ~(1u << 5);
	assert_true(attribute_sample(&world.world, &s, &x));
	expect_none(REASON_NO_STACK);
}

static void a_call_chain_has_a_path_and_no_registers(void **state)
{
	const uint64_t chain[] = { BUILD + 5, JOIN + 5, RUN + 5 }, scans[] = { SCAN + 5, JOIN + 5, JOIN + 5, RUN + 5 };
	struct sample s = { .time_ns = 50, .pid = PID, .tid = PID, .mode = SAMPLE_MODE_USER, .ip = OTHER, .user_ip = OTHER };

	(void)state;
	put_outer(10);
	finish();
	s.chain = chain;
	s.chain_nr = 3;
	assert_true(attribute_sample(&world.world, &s, &x));
	expect("hash", "outer");
	s.chain = scans;
	s.chain_nr = 4;
	assert_true(attribute_sample(&world.world, &s, &x));
	expect("", "outer");
}

static const char *name_of_function(void)
{
	return model->dictionary.components.at[x.paths.row[0].component[model->host_level[HOST_LEVEL_FUNCTION]]].name;
}

static void generated_code_comes_along_with_its_node(void **state)
{
	(void)state;
	put_outer(10);
	put_load(PID, 3, JITTED, 0x80, "evaluate");
	put_function(JITTED, 0x80);
	finish();
	ASK({ JITTED, 0 }, { BUILD, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("hash", "outer");
	assert_int_not_equal(model->host_level[HOST_LEVEL_FUNCTION], LEVELS_MAX);
	assert_string_equal(name_of_function(), "evaluate");
	ASK({ OTHER, 0 }, { JITTED, 0 }, { BUILD, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("hash", "outer");
	assert_string_equal(name_of_function(), "evaluate");
}

/* ------------------------------------------------------------------------------------------------------- times of objects */

static void objects_end_with_all_below_them(void **state)
{
	(void)state;
	put_outer(10);
	put_object_end(PID, 100, AT_QUERY(OUTER));
	put_object_end(PID, 90, AT_QUERY(OUTER)); /* it is over */
	put_object_end(PID, 100, 0x123456);
	finish();
	ASK_AT(99, { OTHER, 0 }, { BUILD, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("hash", "outer");
	ASK_AT(100, { OTHER, 0 }, { BUILD, 0 }, { JOIN, 0 }, Q(OUTER));
	expect_none(REASON_HOST);
	ASK_AT(9, { OTHER, 0 }, { BUILD, 0 }, { JOIN, 0 }, Q(OUTER));
	expect_none(REASON_HOST);
}

static void an_address_is_used_again(void **state)
{
	static const uint64_t join = JOIN;
	const uint64_t of[][2] = { { QUERY, NEXT } }, run = RUN;

	(void)state;
	put_outer(10);
	/* it was read at 300, and runs since 200; there is no end of the one before */
	put_object(PID, 200, AT_QUERY(OUTER), 0, 0, 1, &run, 1, of);
	put_node_at(200, LATER, AT_QUERY(OUTER), NEXT, 1, &join);
	put_node_at(200, SCAN_A, AT(JOIN_1), NEXT, 1, &join); /* that upper one is gone */
	finish();
	ASK_AT(199, { OTHER, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("join 1", "outer");
	ASK_AT(200, { OTHER, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("later", "next");
	ASK_AT(200, { OTHER, 0 }, { BUILD, 0 }, Q(OUTER));
	expect("", "next");
	assert_int_equal(model->objects.lost, 1);
}

static void what_is_announced_again_stays(void **state)
{
	(void)state;
	put_outer(10);
	put_outer(20);
	finish();
	assert_int_equal(model->objects.nr, 1 + 1 + 7);
	ASK_AT(15, { OTHER, 0 }, { BUILD, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("hash", "outer");
	ASK_AT(25, { OTHER, 0 }, { BUILD, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("hash", "outer");
}

static void a_child_has_none_of_its_parent(void **state)
{
	struct sample s = { .time_ns = 50, .pid = CHILD, .tid = CHILD, .mode = SAMPLE_MODE_USER, .ip = BUILD, .user_ip = BUILD };
	const uint64_t chain[] = { JOIN + 5, RUN + 5 };

	(void)state;
	put_outer(10);
	put_fork(CHILD, 40, PID);
	finish();
	s.chain = chain;
	s.chain_nr = 2;
	assert_true(attribute_sample(&world.world, &s, &x));
	assert_int_equal(x.answer.method, METHOD_NONE);
	s.pid = s.tid = PID;
	assert_true(attribute_sample(&world.world, &s, &x));
	expect("hash", "outer");
}

static void a_long_query_is_found_among_many_short_ones(void **state)
{
	(void)state;
	put_outer(10);
	for (uint64_t i = 0; i < 20000; i++) {
		put_inner(20 + 10 * i);
		put_object_end(PID, 25 + 10 * i, AT_QUERY(INNER));
	}
	finish();
	ASK_AT(100023, { OTHER, 0 }, { SCAN, 0 }, Q(INNER), { BUILD, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("inner scan", "inner");
	ASK_AT(100028, { OTHER, 0 }, { SCAN, 0 }, Q(INNER), { BUILD, 0 }, { JOIN, 0 }, Q(OUTER));
	expect_none(REASON_QUERY_UNREAD);
	ASK_AT(100028, { OTHER, 0 }, { BUILD, 0 }, { JOIN, 0 }, Q(OUTER));
	expect("hash", "outer");
	/* the only one that lives */
	ASK_AT(100028, { OTHER, 0 }, { BUILD, 0 }, TRUNCATED);
	expect("hash", "outer");
}

static void a_plan_of_thousands_of_nodes_is_searched_once(void **state)
{
	static const uint64_t scan = SCAN;
	uint64_t steps;

	(void)state;
	put_query(10, OUTER, 0);
	for (uint64_t i = 0; i < 4000; i++)
		put_node_at(10, 100 + i, AT_QUERY(OUTER), OUTER, 1, &scan);
	finish();
	ASK({ OTHER, 0 }, { SCAN, AT(100 + 3999) }, Q(OUTER));
	expect("", "outer"); /* (an announced object, and a component that was not: it has a number only) */
	assert_int_not_equal(x.paths.row[0].component[0], COMPONENT_NONE);
	steps = model->objects.steps;
	assert_uint_in_range(steps, 1, 1100);
	for (uint64_t i = 0; i < 1000; i++)
		ASK_AT(50 + i, { OTHER, 0 }, { SCAN, AT(100 + 4 * i) }, Q(OUTER));
	assert_int_equal(model->objects.steps, steps);
}

/* ------------------------------------------------------------------------------------- components of several processes */

static void a_common_component_is_one_for_all_processes(void **state)
{
	struct dictionary *d;
	struct time_range holds = TIME_RANGE_ALL;
	uint32_t plan, own;
	int64_t rows;

	(void)state;
	put_fork(CHILD, 5, 1);
	put_component(PID, NODE, 77, JITREG_COMPONENT_COMMON, "common");
	put_component(CHILD, NODE, 77, JITREG_COMPONENT_COMMON, "common"); /* each process says so before it uses it */
	put_component(PID, NODE, 78, JITREG_COMPONENT_COMMON, "common too");
	put_component(CHILD, NODE, 78, 0, "the child's");
	put_link(CHILD, NODE, 77, QUERY, OUTER, 1);
	PUT(counter, CHILD, 6, .level = NODE, .component = 77, .value = 5, .name = trace_string("rows"));
	finish();
	d = &model->dictionary;
	plan = dictionary_find_component_at(d, model_get_process(model, PID, 50)->number, 0, 77, 50, &holds);
	own = model_get_process(model, CHILD, 50)->number;
	assert_string_equal(d->components.at[plan].name, "common");
	assert_int_equal(dictionary_find_component_at(d, own, 0, 77, 50, &holds), plan);
	assert_int_equal(dictionary_find_component_at(d, 12345, 0, 77, 50, &holds), plan); /* also of one that announced nothing */
	assert_int_equal(d->components.at[plan].links.nr, 1);
	assert_true(dictionary_find_counter(d, plan, "rows", &rows));
	assert_string_equal(d->components.at[dictionary_find_component_at(d, own, 0, 78, 50, &holds)].name, "the child's");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, begin, end)
	static const struct CMUnitTest tests[] = {
		CASE(a_path_with_one_node_needs_no_register),
		CASE(a_function_that_calls_itself_goes_down_the_tree),
		CASE(of_several_nodes_the_one_in_a_register_runs),
		CASE(objects_of_one_operator_are_not_several),
		CASE(of_several_nodes_the_one_in_a_word_of_the_frame_runs),
		CASE(a_frame_of_too_many_words_has_none),
		CASE(the_nearest_object_around_has_the_next_one),
		CASE(a_part_of_a_node_is_known_by_the_register_with_the_node),
		CASE(a_word_of_the_frame_tells_the_step),
		CASE(steps_end_with_their_object),
		CASE(steps_that_cannot_be_are_refused),
		CASE(where_no_register_tells_the_query_is_known),
		CASE(a_subplan_is_called_from_anywhere_in_its_tree),
		CASE(a_subplan_of_a_join_is_no_part_of_the_join_that_calls_it),
		CASE(a_scan_in_the_filter_of_a_scan_is_another_one),
		CASE(a_query_inside_of_another_begins_anew),
		CASE(a_query_that_was_not_read_has_no_nodes),
		CASE(an_object_that_is_alone_needs_no_register),
		CASE(a_class_of_work_decides_wherever_it_is),
		CASE(what_is_everywhere_belongs_to_all_that_is_not_said_otherwise),
		CASE(a_truncated_stack_needs_a_function_of_one_node_or_a_register),
		CASE(at_the_instruction_the_first_argument_counts),
		CASE(a_call_chain_has_a_path_and_no_registers),
		CASE(generated_code_comes_along_with_its_node),
		CASE(objects_end_with_all_below_them),
		CASE(an_address_is_used_again),
		CASE(what_is_announced_again_stays),
		CASE(a_child_has_none_of_its_parent),
		CASE(a_long_query_is_found_among_many_short_ones),
		CASE(a_plan_of_thousands_of_nodes_is_searched_once),
		CASE(a_common_component_is_one_for_all_processes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
