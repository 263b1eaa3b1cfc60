/* SPDX-License-Identifier: MIT */
/* attribute_sample(), rule by rule, in models that are made by hand. */
#include "tests/unit/small_trace.h"

enum { PID = 1000, CHILD = 1001, OPERATOR = 1, TASK, IR };

#define A 0x7f1000000000ull	  /* generated: line 1, without a component, and a shared component */
#define A_NOBODY (A + 32)
#define A_SHARED (A + 64)
#define B 0x7f1000001000ull	  /* generated, and nothing is known of it */
#define AGAIN 0x7f1000002000ull	  /* other code at one place */
#define NAMED 0x7f1000003000ull	  /* generated: a function that has a name */
#define RUNTIME 0x555500000000ull /* keeps the tag */
#define OTHER 0x555600000000ull	  /* does not */
#define NO_FRAMES 0x555700000000ull /* has no unwind information */
#define BAD_FRAMES 0x555800000000ull /* has unwind information that asks for rbp, which is not known */
#define COMPILER 0x555900000000ull
#define COLLECTOR 0x555a00000000ull
#define BYTES 0x1000u
#define KERNEL 0xffffffff81000000ull
#define STACK 0x7ffc00000000ull
#define TAGGED(task) (0x7a600000u | (task))

static struct trace_reader *trace;
static struct model *model;
static struct small_world world;
static struct sample_attribution x; /* the last answer */
static bool given[NR_REASONS], by[NR_METHODS];

static const struct small_tag in_r13 = { .where = 13, .mask = 0xfff00000u, .value = TAGGED(0), .nr_fields = 2, .nr_ranges = 1,
					 .field = { { TASK, 0, 8 }, { OPERATOR, 8, 8 } }, .range = { { RUNTIME, RUNTIME + BYTES } } };

static void put_dictionary(void)
{
	static const char *const tasks[] = { "scan", "probe", "build" };

	put_level(PID, OPERATOR, "operator");
	put_level(PID, TASK, "task");
	put_level(PID, IR, "ir");
	put_component(PID, OPERATOR, 1, 0, "select");
	put_component(PID, OPERATOR, 2, 0, "join");
	for (uint64_t i = 0; i < 3; i++)
		put_component(PID, TASK, i + 1, 0, tasks[i]);
	put_component(PID, IR, 1, 0, "line 1");
	put_component(PID, IR, 2, 0, "line 2");
	put_component(PID, IR, 9, JITREG_COMPONENT_SHARED, "hash");
	put_link(PID, IR, 1, TASK, 1, 1);
	put_link(PID, IR, 2, TASK, 2, 3);
	put_link(PID, IR, 2, TASK, 3, 1);
	put_link(PID, TASK, 1, OPERATOR, 1, 1);
	put_link(PID, TASK, 2, OPERATOR, 2, 1);
	put_link(PID, TASK, 3, OPERATOR, 2, 1);
}

static void put_code(void)
{
	static const struct jitreg_code_map_entry a[] = { { 0, IR, 1 }, { 32, IR, 0 }, { 64, IR, 9 } }, first[] = { { 0, IR, 1 } },
					second[] = { { 0, IR, 2 } };

	put_mmap(PID, 1, RUNTIME, BYTES, "/host/runtime");
	put_mmap(PID, 1, OTHER, BYTES, "/host/libc");
	put_mmap(PID, 1, NO_FRAMES, BYTES, "/host/stripped");
	put_mmap(PID, 1, BAD_FRAMES, BYTES, "/host/broken");
	put_mmap(PID, 1, COMPILER, BYTES, "/host/libLLVM-14.so.1");
	put_mmap(PID, 1, COLLECTOR, BYTES, "/host/sgen_heap");
	put_load(PID, 3, A, 128, "compiled");
	put_code_map(PID, 3, A, 3, a);
	put_load(PID, 3, B, 128, "");
	put_load(PID, 3, NAMED, 128, "helper");
	put_eh_frame(PID, 2, 0x600000, RUNTIME, BYTES, UNWIND_RSP);
	put_eh_frame(PID, 2, 0x700000, OTHER, BYTES, UNWIND_RSP);
	put_eh_frame(PID, 2, 0x710000, A, 128, UNWIND_RSP);
	put_eh_frame(PID, 2, 0x720000, NAMED, 128, UNWIND_RSP);
	put_eh_frame(PID, 2, 0x800000, BAD_FRAMES, BYTES, UNWIND_RBP);
	put_load(PID, 100, AGAIN, 64, "");
	put_code_map(PID, 100, AGAIN, 1, first);
	put_unload(PID, 200, AGAIN, 0);
	put_load(PID, 300, AGAIN, 64, "");
	put_code_map(PID, 300, AGAIN, 1, second);
}

static void finish(void)
{
	trace = small_end();
	model = small_model(trace);
	small_world_init(&world, model);
}

static int begin(void **state)
{
	(void)state;
	small_begin();
	put_process(PID, 1, "host");
	return 0;
}

static int begin_with_all(void **state)
{
	begin(state);
	put_dictionary();
	put_code();
	put_tag(PID, 10, &in_r13);
	return 0;
}

static int end(void **state)
{
	(void)state;
	small_world_fini(&world);
	model_destroy(model);
	trace_close(trace);
	return 0;
}

/* ----------------------------------------------------------------------------------------------------- asking it */

static struct sample in_user_code(uint64_t ip, uint64_t time_ns)
{
	return (struct sample){ .time_ns = time_ns, .ip = ip, .user_ip = ip, .pid = PID, .tid = PID, .mode = SAMPLE_MODE_USER };
}

static void set_register(struct sample *s, unsigned number, uint64_t value)
{
	s->has_registers = true;
	s->input.registers.value[number] = value;
	s->input.registers.known |= 1u << number;
}

/* With r13, and a stack of words from rsp on. */
static struct sample with_registers(uint64_t ip, uint64_t r13, const uint64_t *words, size_t nr)
{
	struct sample s = in_user_code(ip, 50);

	set_register(&s, UNWIND_RIP, ip);
	set_register(&s, UNWIND_RSP, STACK);
	set_register(&s, 13, r13);
	s.input.stack = (const unsigned char *)words;
	s.input.stack_bytes = nr * 8;
	return s;
}

static void ask(const struct sample *s)
{
	assert_true(attribute_sample(&world.world, s, &x));
	given[x.answer.reason] = true;
	by[x.answer.method] = true;
}

static const char *level_of(uint32_t row, uint32_t level)
{
	const struct dictionary *d = &model->dictionary;
	uint32_t c = x.paths.row[row].component[dictionary_get_level(&model->dictionary, level)];

	return c ? d->components.at[c].name : "";
}

static void expect(enum method method, const char *ir, const char *task, const char *op)
{
	assert_string_equal(method_names[x.answer.method], method_names[method]);
	assert_int_equal(x.answer.reason, REASON_NONE);
	assert_string_equal(level_of(0, IR), ir);
	assert_string_equal(level_of(0, TASK), task);
	assert_string_equal(level_of(0, OPERATOR), op);
}

static void expect_nothing(enum reason reason, enum answer_scope scope)
{
	assert_string_equal(method_names[x.answer.method], method_names[METHOD_NONE]);
	assert_string_equal(reason_names[x.answer.reason], reason_names[reason]);
	assert_int_equal(x.answer.deciding.nr, 0);
	assert_int_equal(x.paths.nr, 1);
	assert_int_equal(x.answer.scope, scope);
}

static void expect_nobody(enum reason reason)
{
	expect_nothing(reason, ANSWER_OF_SAMPLE);
}

static void ask_user(uint64_t ip, uint64_t time_ns)
{
	struct sample s = in_user_code(ip, time_ns);

	ask(&s);
}

static void ask_stack(uint64_t ip, uint64_t r13, const uint64_t *words, size_t nr)
{
	struct sample s = with_registers(ip, r13, words, nr);

	ask(&s);
}
#define ASK_STACK(ip, r13, ...) ask_stack(ip, r13, (uint64_t[]){ __VA_ARGS__ }, sizeof((uint64_t[]){ __VA_ARGS__ }) / 8)

/* ----------------------------------------------------------------------------------------------------------- the rules */

static void code_with_a_component_decides_alone(void **state)
{
	(void)state;
	finish();
	ask_user(A, 50);
	expect(METHOD_IP, "line 1", "scan", "select");
	assert_int_equal(x.answer.scope, ANSWER_OF_PLACE);
	assert_string_equal(world.a.function[world.locator.location[x.location].function].name, "compiled");
	assert_int_equal(x.code->address, A);
	ASK_STACK(A, TAGGED(2), 0); /* whatever the tag says */
	expect(METHOD_IP, "line 1", "scan", "select");
}

static void weights_of_links_share_a_sample(void **state)
{
	(void)state;
	finish();
	ask_user(AGAIN, 300);
	expect(METHOD_IP, "line 2", "probe", "join");
	assert_int_equal(x.paths.nr, 2);
	assert_true(x.paths.row[0].share > 0.7499 && x.paths.row[0].share < 0.7501);
	assert_string_equal(level_of(1, TASK), "build");
}

static void an_instruction_between_two_lines_is_half_of_each(void **state)
{
	struct deciding_components two = { .nr = 1 };
	struct expansion e;

	(void)state;
	finish();
	two.component[0] = dictionary_find_component(&model->dictionary, 0, dictionary_get_level(&model->dictionary, IR), 1);
	two.shared_half = dictionary_find_component(&model->dictionary, 0, dictionary_get_level(&model->dictionary, IR), 2);
	sample_expand_components(&model->dictionary, &two, 50, &e);
	assert_int_equal(e.nr, 3);
	assert_int_equal((int)(e.row[0].share * 1000 + .5), 500);
	assert_int_equal((int)(e.row[1].share * 1000 + .5), 375);
	assert_int_equal((int)(e.row[2].share * 1000 + .5), 125);
}

static void a_tag_decides_in_code_that_keeps_it(void **state)
{
	(void)state;
	put_tag(PID, 500, &in_r13);
	finish();
	ASK_STACK(RUNTIME + 5, TAGGED(2), 0);
	expect(METHOD_TAG, "", "probe", "join");
	assert_int_equal(x.answer.scope, ANSWER_OF_TAG);
	assert_int_equal(x.answer.tag_value, TAGGED(2));
	assert_int_equal(x.answer.from_ns, 10);
	assert_int_equal(x.answer.until_ns, 500);
}

/* As long as an object lives to which everything belongs, its component comes along, and the answer is not remembered beyond that. */
static void what_belongs_to_everything_is_asked_for_each_sample(void **state)
{
	static const uint64_t of_wait[][2] = { { IR + 1, 3 } };

	(void)state;
	put_level(PID, IR + 1, "wait");
	put_component(PID, IR + 1, 3, 0, "a lock");
	put_object(PID, 40, 3, 0, JITREG_OBJECT_CLASS | JITREG_OBJECT_EVERYWHERE, 0, NULL, 1, of_wait);
	put_object_end(PID, 60, 3);
	finish();
	for (uint64_t time_ns = 30; time_ns < 80; time_ns += 20) {
		ask_user(A, time_ns);
		expect(METHOD_IP, "line 1", "scan", "select");
		assert_string_equal(level_of(0, IR + 1), time_ns == 50 ? "a lock" : "");
		assert_int_equal(x.answer.scope, ANSWER_OF_SAMPLE);
	}
	ASK_STACK(RUNTIME + 5, TAGGED(2), 0);
	expect(METHOD_TAG, "", "probe", "join");
	assert_int_equal(x.answer.scope, ANSWER_OF_SAMPLE);
}

static void a_tag_is_in_force_from_its_time_on(void **state)
{
	struct sample s = with_registers(RUNTIME + 5, TAGGED(2), (uint64_t[]){ 0 }, 1);

	(void)state;
	finish();
	s.time_ns = 9;
	ask(&s);
	expect_nobody(REASON_HOST);
	s.time_ns = 10;
	ask(&s);
	expect(METHOD_TAG, "", "probe", "join");
}

static void both_fields_of_a_nested_tag_decide(void **state)
{
	(void)state;
	finish();
	ASK_STACK(RUNTIME + 5, TAGGED(2 | 1 << 8), 0);
	expect(METHOD_TAG, "", "probe", "select"); /* not the one that the task is linked to */
	assert_int_equal(x.answer.deciding.nr, 2);
	ASK_STACK(RUNTIME + 5, TAGGED(200 | 1 << 8), 0);
	expect(METHOD_TAG, "", "", "select");
}

static void a_value_whose_check_bits_do_not_fit_is_no_tag(void **state)
{
	(void)state;
	finish();
	ASK_STACK(RUNTIME + 5, 0x7b600002, A + 1, 0);
	expect(METHOD_TAG_UNWOUND, "line 1", "scan", "select");
	ASK_STACK(RUNTIME + 5, 0x7b600002, 0);
	expect_nobody(REASON_HOST);
}

static void a_tag_that_names_nobody_is_not_believed(void **state)
{
	(void)state;
	finish();
	ASK_STACK(RUNTIME + 5, TAGGED(0), A + 1, 0);
	expect(METHOD_TAG_UNWOUND, "line 1", "scan", "select");
	ASK_STACK(RUNTIME + 5, TAGGED(77), 0);
	expect_nobody(REASON_HOST);
}

static void code_that_does_not_keep_the_register_is_walked_through(void **state)
{
	(void)state;
	finish();
	ASK_STACK(OTHER + 5, TAGGED(2), A + 1, 0); /* a component before a frame that keeps the tag */
	expect(METHOD_TAG_UNWOUND, "line 1", "scan", "select");
	ASK_STACK(OTHER + 5, TAGGED(2), OTHER + 9, RUNTIME + 7, A + 1, 0);
	expect(METHOD_TAG_UNWOUND, "", "probe", "join");
	assert_int_equal(x.answer.scope, ANSWER_OF_SAMPLE);
}

static void a_stale_tag_is_passed_by_on_the_way(void **state)
{
	(void)state;
	finish();
	ASK_STACK(OTHER + 5, 0xdead, RUNTIME + 7, OTHER + 9, A + 1, 0);
	expect(METHOD_TAG_UNWOUND, "line 1", "scan", "select");
}

static void a_tag_of_ones_only_is_never_remembered(void **state)
{
	struct small_tag unchecked = in_r13;

	(void)state;
	unchecked.mask = unchecked.value = 0;
	unchecked.field[0].bits = 1;
	unchecked.nr_fields = 1;
	put_tag(PID, 20, &unchecked);
	finish();
	ASK_STACK(RUNTIME + 5, UINT64_MAX, 0);
	expect(METHOD_TAG, "", "scan", "select");
	assert_int_equal(x.answer.scope, ANSWER_OF_SAMPLE);
}

static void shared_code_is_whose_it_is_for(void **state)
{
	(void)state;
	finish();
	ASK_STACK(A_SHARED, TAGGED(2), A + 1, 0);
	expect(METHOD_TAG_UNWOUND, "line 1", "scan", "select");
	ASK_STACK(A_SHARED, TAGGED(2), RUNTIME + 7, 0);
	expect(METHOD_TAG_UNWOUND, "", "probe", "join");
	ASK_STACK(A_SHARED, TAGGED(2), A_SHARED + 1, 0);
	expect_nobody(REASON_HOST);
}

static void a_word_in_memory_is_believed_anywhere(void **state)
{
	struct small_tag in_memory = in_r13;
	struct sample s;

	(void)state;
	in_memory.where = JITREG_TAG_MEMORY;
	in_memory.nr_ranges = 0;
	put_tag(PID, 20, &in_memory);
	finish();
	s = with_registers(OTHER + 5, 0, (uint64_t[]){ A + 1, 0 }, 2);
	s.has_tag_word = true;
	s.tag_word = TAGGED(3);
	ask(&s);
	expect(METHOD_TAG, "", "build", "join");
	assert_int_equal(x.answer.scope, ANSWER_OF_TAG);
	s.has_tag_word = false;
	ask(&s);
	expect(METHOD_STACK, "line 1", "scan", "select");
}

static void without_tags_the_stack_decides(void **state)
{
	(void)state;
	finish();
	world.world.stack_only = true;
	ASK_STACK(RUNTIME + 5, TAGGED(2), OTHER + 9, A + 1, 0);
	expect(METHOD_STACK, "line 1", "scan", "select");
	assert_string_equal(world.a.function[x.answer.caller_function].name, "compiled");
	ASK_STACK(RUNTIME + 5, TAGGED(2), 0);
	expect_nobody(REASON_HOST);
}

static void return_addresses_decide_where_there_is_no_stack(void **state)
{
	static const uint64_t chain[] = { OTHER + 9, A_NOBODY + 1, A + 1 };
	static uint64_t long_chain[KERNEL_CHAIN_ADDRESSES];
	struct sample s = in_user_code(OTHER + 5, 50);

	(void)state;
	finish();
	for (unsigned i = 0; i < KERNEL_CHAIN_ADDRESSES; i++)
		long_chain[i] = OTHER + 9;
	s.chain = chain;
	s.chain_nr = 3;
	ask(&s);
	expect(METHOD_STACK, "line 1", "scan", "select");
	s.chain_nr = 2;
	ask(&s);
	expect_nobody(REASON_NO_FRAME_POINTERS);
	s.chain = long_chain; /* as long as the kernel makes them, with the sampled instruction */
	s.chain_nr = KERNEL_CHAIN_ADDRESSES - 1;
	ask(&s);
	expect_nobody(REASON_CHAIN_CUT);
	s.chain_nr = KERNEL_CHAIN_ADDRESSES - 2;
	ask(&s);
	expect_nobody(REASON_NO_FRAME_POINTERS);
	set_register(&s, 13, TAGGED(2));
	s.ip = s.user_ip = RUNTIME + 5;
	ask(&s);
	expect(METHOD_TAG, "", "probe", "join");
}

static void the_kernel_works_for_whom_it_was_called_by(void **state)
{
	struct sample s = with_registers(A, 0, NULL, 0);

	(void)state;
	put_kernel_functions(KERNEL, 256, 3);
	finish();
	s.mode = SAMPLE_MODE_KERNEL;
	s.ip = KERNEL + 300;
	ask(&s);
	expect(METHOD_IP, "line 1", "scan", "select");
	assert_null(x.code);
	assert_string_equal(world.a.function[world.locator.location[x.location].function].name, "kernel_1");
	s.leaves = true;
	ask(&s);
	assert_string_equal(world.a.function[world.locator.location[x.location].function].name, "compiled");
	s.leaves = false;
	s.mode = SAMPLE_MODE_OTHER;
	ask(&s);
	assert_string_equal(world.a.function[world.locator.location[x.location].function].name, "[kernel]");
	s.user_ip = 0;
	s.has_registers = false;
	ask(&s);
	expect_nobody(REASON_NO_REGISTERS);
}

static void a_register_that_is_not_known_is_no_tag(void **state)
{
	struct sample s = with_registers(RUNTIME + 5, TAGGED(2), (uint64_t[]){ 0 }, 1);

	(void)state;
	finish();
	s.input.registers.known &= ~(1u << 13);
	ask(&s);
	expect_nobody(REASON_HOST);
}

/* --------------------------------------------------------------------------------------------------------- the reasons */

static void who_finds_nobody_says_why(void **state)
{
	static const uint64_t words[] = { OTHER + 9, NO_FRAMES + 5 };
	struct sample s;

	(void)state;
	finish();
	ASK_STACK(OTHER + 5, TAGGED(2), 0);
	expect_nobody(REASON_HOST);
	ask_stack(OTHER + 5, 0, words, 1);
	expect_nobody(REASON_TRUNCATED);
	ask_stack(OTHER + 5, 0, words, 2);
	expect_nobody(REASON_NO_UNWIND_INFO);
	ASK_STACK(NO_FRAMES + 5, 0, 0);
	expect_nobody(REASON_NO_UNWIND_INFO);
	ASK_STACK(BAD_FRAMES + 5, 0, 0);
	expect_nobody(REASON_BROKEN);
	ask_stack(OTHER + 5, 0, NULL, 0);
	expect_nothing(REASON_NO_STACK, ANSWER_OF_PLACE_ALONE);
	ask_stack(NO_FRAMES + 5, 0, NULL, 0); /* unwind information would not help */
	expect_nothing(REASON_NO_STACK, ANSWER_OF_PLACE_ALONE);
	ask_stack(0x123456, 0, NULL, 0);
	expect_nothing(REASON_NO_CODE_OBJECT, ANSWER_OF_PLACE_ALONE);
	ask_stack(RUNTIME + 5, 0, NULL, 0); /* another tag would decide there */
	expect_nobody(REASON_NO_STACK);
	ASK_STACK(0x123456, 0, 0);
	expect_nobody(REASON_NO_CODE_OBJECT);
	s = in_user_code(OTHER + 5, 50);
	ask(&s);
	expect_nobody(REASON_NO_REGISTERS);
	s = in_user_code(0, 50);
	ask(&s);
	expect_nobody(REASON_NO_REGISTERS);
}

/* A copy of fewer bytes than were asked for ends where the stack does: nothing was cut off. */
static void a_whole_stack_is_not_too_short(void **state)
{
	static const uint64_t words[] = { OTHER + 9, OTHER + 9 };

	(void)state;
	put_event(0, "task-clock");
	finish();
	model->event[0].stack_bytes = 16;
	ask_stack(OTHER + 5, 0, words, 2);
	expect_nobody(REASON_TRUNCATED);
	model->event[0].stack_bytes = 24;
	ask_stack(OTHER + 5, 0, words, 2);
	expect_nobody(REASON_BROKEN);
}

/* The first function that belongs to one, on a stack that leads to no component, however that ends. */
static void what_the_host_does_by_itself_is_a_reason(void **state)
{
	static const uint64_t words[] = { COMPILER + 9, COLLECTOR + 9 }, to_component[] = { COMPILER + 9, A + 1 };
	struct sample s;

	(void)state;
	put_eh_frame(PID, 2, 0x730000, COMPILER, BYTES, UNWIND_RSP);
	put_eh_frame(PID, 2, 0x740000, COLLECTOR, BYTES, UNWIND_RSP);
	finish();
	ask_stack(OTHER + 5, 0, words, 2);
	expect_nobody(REASON_COMPILER);
	ask_stack(COLLECTOR + 5, 0, words, 1);
	expect_nobody(REASON_COLLECTOR);
	ASK_STACK(COMPILER + 5, 0, 0);
	expect_nobody(REASON_COMPILER);
	ask_stack(OTHER + 5, 0, to_component, 2);
	expect(METHOD_TAG_UNWOUND, "line 1", "scan", "select");
	s = in_user_code(COMPILER + 5, 50);
	ask(&s);
	expect_nobody(REASON_NO_REGISTERS);
}

static void a_host_without_a_dictionary_has_no_components(void **state)
{
	(void)state;
	put_mmap(PID, 1, OTHER, BYTES, "/host/libc");
	finish();
	ASK_STACK(OTHER + 5, 0, 0);
	expect_nobody(REASON_NO_DICTIONARY);
	ASK_STACK(0x123456, 0, 0);
	expect_nobody(REASON_NO_CODE_OBJECT);
}

/* -------------------------------------------------------------------------------------------------------- host levels */

static const char *host_level(enum host_level level)
{
	uint32_t c = x.paths.row[0].component[model->host_level[level]];

	return c ? model->dictionary.components.at[c].name : "";
}

static void functions_are_levels_where_the_host_has_no_others(void **state)
{
	(void)state;
	put_load(PID, 3, NAMED, 128, "helper");
	put_load(PID, 3, A, 128, "caller");
	put_mmap(PID, 1, OTHER, BYTES, "/host/libc");
	put_eh_frame(PID, 2, 0x700000, OTHER, BYTES, UNWIND_RSP);
	finish();
	ask_user(NAMED, 50);
	assert_int_equal(x.answer.method, METHOD_IP);
	assert_int_equal(x.answer.scope, ANSWER_OF_PLACE);
	assert_string_equal(host_level(HOST_LEVEL_FUNCTION), "helper");
	assert_string_equal(host_level(HOST_LEVEL_OBJECT), "helper");
	ASK_STACK(OTHER + 5, 0, A + 1, NAMED + 1, 0);
	assert_int_equal(x.answer.method, METHOD_STACK);
	assert_string_equal(host_level(HOST_LEVEL_FUNCTION), "caller");
}

/* The first function on the stack is the function, whatever further out works for the task. */
static void a_task_is_looked_for_beyond_the_first_function(void **state)
{
	const struct trace_plan_code_entry entry = { 0, 0, 2, trace_string("") };
	struct sample s;

	(void)state;
	put_process(CHILD, 1, "driver"); /* components of another process, for all */
	put_level(CHILD, OPERATOR, "operator");
	put_level(CHILD, TASK, "task");
	put_component(CHILD, OPERATOR, 2, JITREG_COMPONENT_COMMON, "join");
	put_component(CHILD, TASK, 2, JITREG_COMPONENT_COMMON, "probe");
	put_mmap(PID, 1, OTHER, BYTES, "/host/libc");
	put_load(PID, 3, NAMED, 128, "helper");
	put_load(PID, 3, A, 128, "Iterator.next");
	put_eh_frame(PID, 2, 0x700000, OTHER, BYTES, UNWIND_RSP);
	put_eh_frame(PID, 2, 0x710000, A, 128, UNWIND_RSP);
	put_eh_frame(PID, 2, 0x720000, NAMED, 128, UNWIND_RSP);
	PUT(plan_code, PID, 20, .context_level = TASK, .context = 2, .pattern = trace_string("Iterator"), .level = OPERATOR,
	    .entries = { &entry, 1 });
	PUT(mark, PID, 20, .action = JITREG_MARK_BEGIN, .level = TASK, .component = 2, .name = trace_string("task"), .mark = 1,
	    .covers = JITREG_COVERS_THREAD);
	finish();
	ASK_STACK(OTHER + 5, 0, NAMED + 1, A + 1, 0);
	assert_string_equal(level_of(0, TASK), "probe");
	assert_string_equal(level_of(0, OPERATOR), "join");
	assert_string_equal(host_level(HOST_LEVEL_FUNCTION), "helper");
	s = in_user_code(OTHER + 5, 50);
	set_register(&s, UNWIND_RIP, OTHER + 5);
	s.chain = (const uint64_t[]){ NAMED + 1, A + 1 };
	s.chain_nr = 2;
	ask(&s);
	assert_string_equal(level_of(0, OPERATOR), "join");
	s = in_user_code(NAMED, 50); /* where another thread is in no task */
	s.tid = CHILD;
	ask(&s);
	assert_int_equal(x.answer.scope, ANSWER_OF_SAMPLE);
}

static void functions_come_along_with_what_decides_elsewhere(void **state)
{
	(void)state;
	finish();
	ASK_STACK(NAMED, TAGGED(2), RUNTIME + 7, 0);
	expect(METHOD_TAG_UNWOUND, "", "probe", "join");
	assert_string_equal(host_level(HOST_LEVEL_FUNCTION), "helper");
	assert_int_equal(x.answer.scope, ANSWER_OF_SAMPLE);
	ASK_STACK(NAMED, 0, 0); /* nothing else decides */
	expect(METHOD_IP, "", "", "");
	assert_string_equal(host_level(HOST_LEVEL_FUNCTION), "helper");
	assert_int_equal(x.answer.scope, ANSWER_OF_SAMPLE);
	ASK_STACK(OTHER + 5, 0, NAMED + 1, 0);
	expect(METHOD_STACK, "", "", "");
	ask_user(NAMED, 50); /* without registers, too */
	expect(METHOD_IP, "", "", "");
}

/* Two versions of it, of which one begins with what is inlined there, from another file. */
static void a_method_is_of_its_own_file_whatever_is_inlined_first(void **state)
{
	const struct trace_line own = { A, 7, 0, trace_string("shop/Cart.java") };
	const struct trace_line lines[2] = { { NAMED, 3, 0, trace_string("java/List.java") },
					     { NAMED + 8, 7, 0, trace_string("shop/Cart.java") } };
	const struct trace_line inlined[3] = { { NAMED, 0, 0, trace_string("shop.Cart.add\nshop/Cart.java") },
					       { NAMED, 7, 1, trace_string("java.List.get\njava/List.java") },
					       { NAMED + 8, 0, 0, trace_string("shop.Cart.add\nshop/Cart.java") } };
	uint32_t first;

	(void)state;
	PUT(debug_info, PID, 2, .code_addr = A, .nr_entry = 1, .entries = { &own, 1 });
	put_load(PID, 3, A, 128, "shop.Cart.add");
	PUT(debug_info, PID, 2, .code_addr = NAMED, .nr_entry = 2, .entries = { lines, 2 });
	PUT(inlines, PID, 2, .code_addr = NAMED, .nr_entry = 3, .entries = { inlined, 3 });
	put_load(PID, 3, NAMED, 128, "shop.Cart.add");
	finish();
	ask_user(A, 50);
	first = x.paths.row[0].component[model->host_level[HOST_LEVEL_FUNCTION]];
	assert_string_equal(host_level(HOST_LEVEL_MODULE), "shop/Cart.java");
	ask_user(NAMED + 8, 50);
	assert_int_equal(x.paths.row[0].component[model->host_level[HOST_LEVEL_FUNCTION]], first);
	assert_string_equal(host_level(HOST_LEVEL_MODULE), "shop/Cart.java");
	ask_user(NAMED, 50);
	assert_string_equal(host_level(HOST_LEVEL_FUNCTION), "java.List.get");
	assert_string_equal(host_level(HOST_LEVEL_MODULE), "java/List.java");
}

#define PYTHON 0x7f1000004000ull    /* a trampoline of CPython's function, which begins on line 7 */
#define BYTECODES 0x555a00100000ull /* of the same function: 20 bytes of line 8, 20 of line 9 */

static void expect_python_line(const char *line, uint64_t word)
{
	static const uint64_t stack[] = { PYTHON + 6, 0 };
	struct sample s = with_registers(OTHER + 8, 0, stack, 2);

	set_register(&s, UNWIND_RBX, word);
	ask(&s);
	assert_string_equal(host_level(HOST_LEVEL_LINE), line);
	assert_int_equal(model->dictionary.components.at[x.paths.row[0].component[model->host_level[HOST_LEVEL_FUNCTION]]].id, 1);
}

static void a_frame_of_cpython_is_where_its_interpreter_is(void **state)
{
	const struct trace_span file = trace_string("/x.py");
	const struct trace_line lines[] = { { BYTECODES, 7, 0, file }, { BYTECODES + 1, 8, 0, file }, { BYTECODES + 20, 9, 0, file } };
	const struct trace_line begin = { PYTHON, 7, 0, file };

	(void)state;
	put_mmap(PID, 1, OTHER, BYTES, "/host/python");
	put_eh_frame(PID, 2, 0x700000, OTHER, BYTES, UNWIND_RSP);
	put_eh_frame(PID, 2, 0x710000, PYTHON, 11, UNWIND_RSP);
	PUT(debug_info, PID, 2, .code_addr = BYTECODES, .nr_entry = 3, .entries = { lines, 3 });
	put_load(PID, 2, BYTECODES, 40, "py::f:/x.py");
	PUT(debug_info, PID, 2, .code_addr = PYTHON, .nr_entry = 1, .entries = { &begin, 1 });
	PUT(load, PID, 2, .code_addr = PYTHON, .code_size = 11, .code_index = BYTECODES, .name = trace_string("py::f:/x.py"));
	finish();
	expect_python_line("x.py:8", BYTECODES + 2); /* behind the first bytecode, which runs */
	expect_python_line("x.py:9", BYTECODES + 22);
	expect_python_line("x.py:9", BYTECODES + 40);
	expect_python_line("x.py:7", BYTECODES); /* no bytecode runs */
	expect_python_line("x.py:7", BYTECODES + 42);
}

/* --------------------------------------------------------------------------------------------------------------- time */

static void an_address_is_what_was_there_at_the_time(void **state)
{
	(void)state;
	finish();
	ask_user(AGAIN, 99);
	expect_nobody(REASON_NO_REGISTERS);
	assert_null(x.code);
	ask_user(AGAIN, 100);
	expect(METHOD_IP, "line 1", "scan", "select");
	assert_int_equal(x.answer.from_ns, 100);
	assert_int_equal(x.answer.until_ns, 200);
	ask_user(AGAIN, 200);
	expect_nobody(REASON_NO_REGISTERS);
	assert_null(x.code);
	ask_user(AGAIN, 300);
	expect(METHOD_IP, "line 2", "probe", "join");
	assert_int_equal(x.answer.from_ns, 300);
}

static void frames_are_what_was_there_at_the_time(void **state)
{
	static const uint64_t words[] = { AGAIN + 1, 0 };
	struct sample s = with_registers(OTHER + 5, 0, words, 2);

	(void)state;
	finish();
	s.time_ns = 150;
	ask(&s);
	expect(METHOD_TAG_UNWOUND, "line 1", "scan", "select");
	s.time_ns = 350;
	ask(&s);
	expect(METHOD_TAG_UNWOUND, "line 2", "probe", "join");
}

static void links_that_were_taken_back_lead_nowhere(void **state)
{
	(void)state;
	put_unlink(PID, 40, IR, 1, TASK, 1);
	finish();
	ask_user(A, 39);
	expect(METHOD_IP, "line 1", "scan", "select");
	ask_user(A, 40);
	expect(METHOD_IP, "line 1", "", "");
}

static void a_forked_process_has_what_there_was_before(void **state)
{
	struct sample s = with_registers(AGAIN, TAGGED(2), (uint64_t[]){ 0 }, 1);

	(void)state;
	put_fork(CHILD, 150, PID);
	finish();
	s.pid = s.tid = CHILD;
	s.time_ns = 400; /* the other code is its parent's alone */
	ask(&s);
	expect(METHOD_IP, "line 1", "scan", "select");
	assert_int_equal(x.process->pid, CHILD);
	s.ip = s.user_ip = RUNTIME + 5;
	ask(&s);
	expect(METHOD_TAG, "", "probe", "join");
}

/* What its parent declares, or names anew, after the fork is not its own. */
static void a_forked_process_has_nothing_of_after_the_fork(void **state)
{
	struct sample s = with_registers(RUNTIME + 5, TAGGED(2), (uint64_t[]){ 0 }, 1);
	struct small_tag other = in_r13;

	(void)state;
	other.value = TAGGED(0) << 1;
	put_fork(CHILD, 150, PID);
	put_component_at(PID, 200, TASK, 2, 0, "probe of another query");
	put_tag(PID, 200, &other);
	put_tag(CHILD, 600, &other);
	finish();
	s.pid = s.tid = CHILD;
	s.time_ns = 400;
	ask(&s);
	expect(METHOD_TAG, "", "probe", "join");
	assert_int_equal(x.answer.from_ns, 150);
	assert_int_equal(x.answer.until_ns, 600);
	assert_int_equal(x.answer.tag_holds.from_ns, 150);
	assert_true(x.answer.tag_holds.until_ns == UINT64_MAX);
	s.time_ns = 140; /* as its parent had it */
	ask(&s);
	expect(METHOD_TAG, "", "probe", "join");
}

static void the_innermost_run_mark_is_the_phase(void **state)
{
	uint64_t until_ns;
	uint32_t outer;

	(void)state;
	put_mark(PID, 20, JITREG_MARK_BEGIN, "run", 1);
	put_mark(PID, 30, JITREG_MARK_BEGIN, "compile", 1);
	put_mark(PID, 40, JITREG_MARK_BEGIN, "run", 2);
	put_mark(PID, 50, JITREG_MARK_END, "run", 2);
	put_mark(PID, 90, JITREG_MARK_END, "run", 1);
	finish();
	ask_user(A, 19);
	assert_int_equal(x.phase, 0);
	ask_user(A, 35);
	outer = x.phase;
	assert_int_not_equal(outer, 0);
	ask_user(A, 40);
	assert_int_not_equal(x.phase, outer);
	ask_user(A, 50);
	assert_int_equal(x.phase, outer);
	ask_user(A, 90);
	assert_int_equal(x.phase, 0);
	sample_find_phase(model, x.process, 1, "run", 35, &until_ns);
	assert_int_equal(until_ns, 40);
	sample_find_phase(model, x.process, 1, "run", 45, &until_ns);
	assert_int_equal(until_ns, 50);
	sample_find_phase(model, x.process, 1, "run", 60, &until_ns);
	assert_int_equal(until_ns, 90);
}

static const char *interpreted_name(uint64_t rbp, uint64_t place, uint64_t function)
{
	struct sample s = with_registers(B + 8, 0, (uint64_t[]){ place, 0, function, 0, 0, 0, 0 }, 7);

	set_register(&s, UNWIND_RBP, rbp);
	ask(&s);
	return world.a.function[world.locator.location[x.location].function].name;
}

static void an_interpreted_frame_is_the_programs(void **state)
{
	const uint64_t rbp = STACK + 40;

	(void)state;
	PUT(interpreter, PID, 1, .address = B, .bytes = 128, .place = -40, .function = -24);
	finish();
	assert_string_equal(interpreted_name(rbp, NAMED + 3, A), "helper");
	assert_string_equal(interpreted_name(rbp, 0, A), "compiled"); /* one without a place */
	assert_string_equal(interpreted_name(rbp, 0, 1), "(no name)"); /* the interpreter's own */
	assert_string_equal(interpreted_name(STACK - 8, NAMED, A), "(no name)"); /* words that the copy does not have */
	assert_string_equal(interpreted_name(STACK + 4096, NAMED, A), "(no name)");
}

static void every_method_and_reason_was_given(void **state)
{
	(void)state;
	by[METHOD_PLAN_WALK] = given[REASON_QUERY_UNREAD] = given[REASON_SEVERAL_NODES] = true; /* by test_plan_walk.c */
	given[REASON_UNSAMPLED] = true; /* of no sample: live/short-threads-have-a-row */
	for (int i = 0; i < NR_METHODS; i++)
		if (!by[i])
			fail_msg("method %s", method_names[i]);
	for (int i = 0; i < NR_REASONS; i++)
		if (given[i] == (i == REASON_NO_COMPONENT)) /* the walk goes on to a caller, and ends with a reason of its own */
			fail_msg("reason %s", reason_names[i]);
}

#define WITH_ALL(test) cmocka_unit_test_setup_teardown(test, begin_with_all, end)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		WITH_ALL(code_with_a_component_decides_alone),
		WITH_ALL(weights_of_links_share_a_sample),
		WITH_ALL(an_instruction_between_two_lines_is_half_of_each),
		WITH_ALL(a_tag_decides_in_code_that_keeps_it),
		WITH_ALL(what_belongs_to_everything_is_asked_for_each_sample),
		WITH_ALL(a_tag_is_in_force_from_its_time_on),
		WITH_ALL(both_fields_of_a_nested_tag_decide),
		WITH_ALL(a_value_whose_check_bits_do_not_fit_is_no_tag),
		WITH_ALL(a_tag_that_names_nobody_is_not_believed),
		WITH_ALL(code_that_does_not_keep_the_register_is_walked_through),
		WITH_ALL(a_stale_tag_is_passed_by_on_the_way),
		WITH_ALL(a_tag_of_ones_only_is_never_remembered),
		WITH_ALL(shared_code_is_whose_it_is_for),
		WITH_ALL(a_word_in_memory_is_believed_anywhere),
		WITH_ALL(without_tags_the_stack_decides),
		WITH_ALL(return_addresses_decide_where_there_is_no_stack),
		WITH_ALL(the_kernel_works_for_whom_it_was_called_by),
		WITH_ALL(a_register_that_is_not_known_is_no_tag),
		WITH_ALL(who_finds_nobody_says_why),
		WITH_ALL(a_whole_stack_is_not_too_short),
		WITH_ALL(what_the_host_does_by_itself_is_a_reason),
		cmocka_unit_test_setup_teardown(a_host_without_a_dictionary_has_no_components, begin, end),
		cmocka_unit_test_setup_teardown(functions_are_levels_where_the_host_has_no_others, begin, end),
		cmocka_unit_test_setup_teardown(a_method_is_of_its_own_file_whatever_is_inlined_first, begin, end),
		cmocka_unit_test_setup_teardown(a_frame_of_cpython_is_where_its_interpreter_is, begin, end),
		cmocka_unit_test_setup_teardown(a_task_is_looked_for_beyond_the_first_function, begin, end),
		WITH_ALL(functions_come_along_with_what_decides_elsewhere),
		WITH_ALL(an_address_is_what_was_there_at_the_time),
		WITH_ALL(frames_are_what_was_there_at_the_time),
		WITH_ALL(links_that_were_taken_back_lead_nowhere),
		WITH_ALL(a_forked_process_has_what_there_was_before),
		WITH_ALL(a_forked_process_has_nothing_of_after_the_fork),
		WITH_ALL(the_innermost_run_mark_is_the_phase),
		WITH_ALL(an_interpreted_frame_is_the_programs),
		cmocka_unit_test(every_method_and_reason_was_given),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
