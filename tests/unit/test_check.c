/* SPDX-License-Identifier: MIT */
/*
 * Mistakes that a host can make in what it announces, one planted at a time into records that are right: exactly that one is found.
 * Where a trace does not know (it was cut, records were lost, the host ran before), nothing is said.
 */
#include "tests/unit/small_trace.h"

#include "analyzer/check/check.h"
#include "jitreg/base/leb128.h"
#include "jitreg/trace/record_stream.h"

enum { HOST = 100 };
enum { OPERATOR = 1, TASK = 2, IR = 3 };
#define CODE 0x7f0000001000ull
#define SHARED 0x500000ull
#define BYTES 0x100ull
#define R13_SAMPLED (1ull << 21 | 1ull << 7 | 1ull << 8)
#define TAG(id) (0x7a600000ull | (id))

static bool cut, late, lossy; /* what the trace does not know */
static uint32_t tag_column = 21; /* r13; or SAMPLE_TAG_WORD */

/* ------------------------------------------------------------------------------------------------------------- records */

static void put_uppers(uint32_t id, const char *name, uint32_t flags, uint32_t upper)
{
	const struct jitreg_level_ref ref = { upper };

	PUT(level, HOST, 10, .level = id, .flags = flags, .name = trace_string(name), .upper = { &ref, upper != 0 });
}

static void edge(uint64_t from, uint64_t to)
{
	PUT(edge, HOST, 12, .level = OPERATOR, .from = from, .to = to);
}

static void counter(uint64_t id, const char *name, int64_t value)
{
	PUT(counter, HOST, 13, .level = OPERATOR, .component = id, .value = value, .name = trace_string(name));
}

static void mark_that_covers(uint64_t time_ns, uint32_t tid, uint32_t action, const char *name, uint32_t level, uint64_t component,
			     uint64_t instance, uint32_t covers)
{
	PUT_OF(mark, HOST, tid, time_ns, .action = action, .level = level, .component = component, .instance = instance,
	       .name = trace_string(name), .mark = component ? 1000 + instance : 0, .covers = covers);
}

static void mark(uint64_t time_ns, uint32_t tid, uint32_t action, const char *name, uint32_t level, uint64_t component, uint64_t instance)
{
	mark_that_covers(time_ns, tid, action, name, level, component, instance, component ? JITREG_COVERS_THREAD : JITREG_COVERS_PROCESS);
}

static void line_table(uint64_t address, uint64_t row_address, uint32_t line, const char *file)
{
	const struct trace_line entry = { row_address, line, 0, trace_string(file) };

	PUT(debug_info, HOST, 14, .code_addr = address, .nr_entry = 1, .entries = { &entry, 1 });
}

static void source(const char *name, const char *text, uint64_t first)
{
	PUT(source, HOST, 11, .level = IR, .first_component = first, .name = trace_string(name), .text = trace_string(text));
}

static void load_bytes(uint64_t time_ns, uint64_t address, uint64_t bytes, const char *name, unsigned char byte)
{
	unsigned char code[BYTES];

	memset(code, byte, sizeof(code));
	code[1] ^= byte == 0x90; /* what is written is not all alike */
	PUT(load, HOST, time_ns, .pid = HOST, .tid = HOST, .vma = address, .code_addr = address, .code_size = bytes,
	    .name = trace_string(name), .code = { code, bytes });
}

static void loss(const char *reason, uint64_t count)
{
	PUT(loss, 0, 900, .reason = trace_string(reason), .count = count);
}

struct at {
	uint64_t time_ns, ip, r13, caller;
};

/* So many alike, with registers and, where there is a caller, a chain of one. */
static void put_samples_at(uint32_t nr, struct at s)
{
	uint64_t value[64];
	unsigned char chain[64 + LEB128_MAX] = { 0 };
	const uint32_t ids[] = { SAMPLE_COLUMN_TIME, SAMPLE_COLUMN_PID, SAMPLE_COLUMN_TID, SAMPLE_COLUMN_IP,
				 SAMPLE_COLUMN_REGISTERS_ABI, SAMPLE_COLUMN_REGISTER_0 + tag_column, SAMPLE_COLUMN_REGISTER_0 + 7,
				 SAMPLE_COLUMN_REGISTER_0 + 8, SAMPLE_COLUMN_CHAIN_LENGTH };
	const uint64_t numbers[] = { s.time_ns, HOST, HOST, s.ip, 2, s.r13, 0x7ffe0000, s.ip, 1 };

	assert_true(nr <= 64);
	trace_samples_begin(small, s.time_ns, 0, nr, sizeof(ids) / sizeof(ids[0]) + 1);
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		for (uint32_t n = 0; n < nr; n++)
			value[n] = numbers[i];
		trace_samples_column(small, ids[i], SAMPLE_ENCODING_U64, value, nr * 8);
	}
	/* the first as a difference to 0, the others are none */
	trace_samples_column(small, SAMPLE_COLUMN_CHAIN, SAMPLE_ENCODING_DELTA, chain,
			     (size_t)(leb128_put(chain, s.caller << 1) - chain) + nr - 1);
	assert_int_equal(trace_record_end(small), 0);
}

static void tag(uint32_t where, uint64_t mask, uint64_t value, uint64_t level, uint64_t shift, uint64_t bits)
{
	put_tag(HOST, 15, &(struct small_tag){ .where = where, .mask = mask, .value = value, .nr_fields = 1, .nr_ranges = 1,
					       .field = { { level, shift, bits } }, .range = { { SHARED, SHARED + 0x1000 } } });
}

/* ------------------------------------------------------------------------------------------------------------- the host */

/* A plan of two operators, a task of each, lines of a text, code of these, a tag, marks: all as it should be. */
static void sound_host(void)
{
	PUT(event, 0, 2, .name = trace_string("cycles"), .unit = trace_string("cycles"), .period = 1000, .registers = R13_SAMPLED,
	    .scope = trace_string("cpu"));
	if (late)
		put_process(HOST, 3, "host");
	else
		put_exec(HOST, 3, "host");
	put_mmap(HOST, 4, SHARED, 0x1000, "/lib/shared.so");
	put_uppers(OPERATOR, "operator", JITREG_LEVEL_PLAN, 0);
	put_uppers(TASK, "task", 0, OPERATOR);
	put_uppers(IR, "ir", 0, TASK);
	put_component(HOST, OPERATOR, 1, 0, "output");
	put_component(HOST, OPERATOR, 2, 0, "scan");
	put_component(HOST, TASK, 1, 0, "write");
	put_component(HOST, TASK, 2, 0, "read");
	put_component(HOST, TASK, 9, JITREG_COMPONENT_SHARED, "hash table");
	put_link(HOST, TASK, 1, OPERATOR, 1, 1);
	put_link(HOST, TASK, 2, OPERATOR, 2, 1);
	edge(2, 1);
	counter(1, "rows", 10);
	counter(1, "estimated rows", 12);
	counter(1, "balance", -3);
	source("query.ll", "one\ntwo\nthree\n", 0);
	put_link(HOST, IR, 1, TASK, 1, 1);
	put_link(HOST, IR, 2, TASK, 2, 1);
	tag(13, 0xfff00000, 0x7a600000, TASK, 0, 20);
	line_table(CODE, CODE, 1, "query.ll");
	load_bytes(20, CODE, BYTES, "pipeline 1", 0x90);
	put_load(HOST, 21, CODE + 0x200, BYTES, "pipeline 2");
	put_code_map(HOST, 22, CODE + 0x200, 3, (struct jitreg_code_map_entry[]){ { 0, IR, 1 }, { 0x10, IR, 2 }, { BYTES, IR, 0 } });
	put_load(HOST, 23, CODE + 0x800, BYTES, "gone");
	put_unload(HOST, 24, CODE + 0x800, BYTES);
	put_load(HOST, 25, CODE + 0x880, BYTES, "instead");
	mark(30, HOST, JITREG_MARK_BEGIN, "run", 0, 0, 1);
	mark(31, HOST, JITREG_MARK_BEGIN, "task", TASK, 2, 1);
	put_samples_at(20, (struct at){ 40, CODE + 4, 0, 0 });
	put_samples_at(20, (struct at){ 41, SHARED + 8, TAG(2), CODE + 0x220 });
	mark(60, HOST, JITREG_MARK_END, "task", TASK, 2, 1);
	mark(61, HOST, JITREG_MARK_END, "run", 0, 0, 1);
	put_component_at(HOST, 62, TASK, 2, 0, "another's number, once work was done");
	put_link_at(HOST, 62, TASK, 2, OPERATOR, 2, 1);
	put_component_at(HOST, 63, TASK, 2, 0, "another's number, once work was done");
}

static struct trace_reader *end_of_trace(void)
{
	struct trace_reader *t;
	struct diag d;

	if (!cut)
		return small_end();
	assert_int_equal(trace_writer_close(small), 0);
	assert_int_equal(trace_open(small_path, &t, &d), 0);
	unlink(small_path);
	return t;
}

static struct findings found_with(void (*plant)(void))
{
	struct findings f = { 0 };
	struct attribution a = { .nr_samples = 40 };
	struct trace_reader *t;
	struct report r = { 0 };
	struct model *m;

	small_begin();
	sound_host();
	if (plant)
		plant();
	if (lossy)
		loss("log full", 3);
	t = end_of_trace();
	m = small_model(t);
	a.model = m;
	r.model = m;
	r.reader = t;
	r.a = &a;
	assert_int_equal(check_model(&f, m, NULL), 0);
	assert_int_equal(check_code_and_samples(&f, &r), 0);
	model_destroy(m);
	trace_close(t);
	return f;
}

static void print_found(const struct findings *f)
{
	for (int i = 0; i < NR_FINDINGS; i++)
		if (f->of[i].count)
			print_message("  %s: %llu, for example %s\n", finding_ids[i], (unsigned long long)f->of[i].count, f->of[i].example);
}

/* ------------------------------------------------------------------------------------------------------------ mistakes */

static void refused(void) { loss("log malformed", 2); }
static void dropped(void) { loss("log full", 2); }

static void too_many_levels(void)
{
	for (uint32_t i = 0; i < LEVELS_MAX; i++)
		put_uppers(20 + i, "more", 0, 0);
}

static void component_zero(void) { put_component(HOST, TASK, 0, 0, "zero"); }
static void level_again(void) { put_uppers(TASK, "pipeline", 0, OPERATOR); }
static void upper_itself(void) { put_uppers(TASK, "task", 0, TASK); }
static void upper_unknown(void) { put_uppers(TASK, "task", 0, 9); }
static void two_plans(void) { put_uppers(TASK, "task", JITREG_LEVEL_PLAN, OPERATOR); }
static void linked_late(void)
{
	put_load(HOST, 70, CODE + 0x4000, BYTES, "other");
	put_code_map(HOST, 71, CODE + 0x4000, 1, (struct jitreg_code_map_entry[]){ { 0, TASK, 5 } });
	put_component(HOST, TASK, 5, 0, "sort");
	put_samples_at(20, (struct at){ 80, CODE + 0x4004, 0, 0 });
	put_link_at(HOST, 90, TASK, 5, OPERATOR, 1, 1);
}
static void talks(void)
{
	put_mmap(HOST, 70, 0x600000, 0x1000, "/usr/lib/libtailor.so");
	for (int i = 0; i < 2; i++)
		put_samples_at(60, (struct at){ 80, 0x600010, 0, 0 });
	for (int i = 0; i < 1000; i++)
		counter(1, "balance", i);
}
static void unknown_level(void) { put_component(HOST, 8, 1, 0, "of no level"); }
static void nameless_level(void) { put_uppers(8, "", 0, 0); }
static void nameless_component(void) { put_component(HOST, OPERATOR, 1, 0, ""); }
static void two_of_one_id(void)
{
	put_component(HOST, OPERATOR, 1, 0, "join");
	put_component(HOST, OPERATOR, 1, 0, "sort");
}
static void unlinked(void) { put_component(HOST, TASK, 3, 0, "forgotten"); }
static void unlinked_shared(void) { put_component(HOST, TASK, 3, JITREG_COMPONENT_RUNTIME, "allocator"); }
static void link_to_nobody(void) { put_link(HOST, TASK, 1, OPERATOR, 77, 1); }
static void link_behind_text(void) { put_link(HOST, IR, 1000, TASK, 1, 1); }
static void swapped(void) { put_link(HOST, OPERATOR, 2, TASK, 1, 1); }
static void same_level(void) { put_link(HOST, TASK, 1, TASK, 2, 1); }
static void same_component(void) { put_link(HOST, TASK, 1, TASK, 1, 1); }

static void circle(void)
{
	put_uppers(5, "a", 0, 6);
	put_uppers(6, "b", 0, 5);
	put_component(HOST, 5, 1, 0, "a");
	put_component(HOST, 6, 1, 0, "b");
	put_link(HOST, 5, 1, 6, 1, 1);
	put_link(HOST, 6, 1, 5, 1, 1);
}

static void many_uppers(void)
{
	for (uint64_t i = 0; i < 20; i++) {
		put_component(HOST, OPERATOR, 50 + i, 0, "one of many");
		put_link(HOST, TASK, 1, OPERATOR, 50 + i, 1);
	}
}

static void edge_to_nobody(void) { edge(77, 1); }
static void edge_to_itself(void) { edge(2, 2); }
static void plan_in_a_circle(void)
{
	put_component(HOST, OPERATOR, 3, 0, "left");
	put_component(HOST, OPERATOR, 4, 0, "right");
	edge(3, 4);
	edge(4, 3);
	edge(4, 1);
}
static void two_roots(void)
{
	put_component(HOST, OPERATOR, 3, 0, "sink");
	edge(2, 3);
}
static void rows_nan(void) { counter(1, "estimated rows", INT64_MIN); }
static void counter_of_nobody(void) { counter(77, "rows", 1); }
static void mark_of_nobody(void)
{
	mark(70, HOST, JITREG_MARK_BEGIN, "task", OPERATOR, 77, 5);
	mark(71, HOST, JITREG_MARK_END, "task", OPERATOR, 77, 5);
}

static void empty_code(void) { put_load(HOST, 70, CODE + 0x4000, 0, "empty"); }
static void unwritten(void) { load_bytes(70, CODE + 0x4000, BYTES, "unwritten", 0); }
static void overlap(void)
{
	put_load(HOST, 70, CODE + 0x4000, BYTES, "live");
	put_load(HOST, 71, CODE + 0x4080, BYTES, "on it");
}
static void map_of_nothing(void)
{
	put_code_map(HOST, 24, CODE + 0x6000, 1, (struct jitreg_code_map_entry[]){ { 0, IR, 1 } });
	put_load(HOST, 70, CODE + 0x4000, BYTES, "other");
}
static void unsorted_map(void) { put_code_map(HOST, 70, CODE, 2, (struct jitreg_code_map_entry[]){ { 8, IR, 1 }, { 0, IR, 2 } }); }
static void map_outside(void) { put_code_map(HOST, 70, CODE, 1, (struct jitreg_code_map_entry[]){ { BYTES + 1, IR, 1 } }); }
static void map_of_nobody(void) { put_code_map(HOST, 70, CODE, 1, (struct jitreg_code_map_entry[]){ { 0, TASK, 77 } }); }
static void lines_of_nothing(void)
{
	line_table(CODE + 0x6000, CODE + 0x6000, 1, "query.ll");
	put_load(HOST, 70, CODE + 0x4000, BYTES, "other");
}
static void lines_as_offsets(void)
{
	line_table(CODE + 0x4000, 4, 1, "query.ll");
	put_load(HOST, 70, CODE + 0x4000, BYTES, "other");
}
static void line_behind_text(void)
{
	line_table(CODE + 0x4000, CODE + 0x4000, 50, "query.ll");
	put_load(HOST, 70, CODE + 0x4000, BYTES, "other");
	put_samples_at(20, (struct at){ 80, CODE + 0x4004, 0, 0 });
}
static void unload_of_nothing(void) { put_unload(HOST, 70, CODE + 0x9000, BYTES); }
static void move_of_nothing(void)
{
	PUT(move, HOST, 70, .pid = HOST, .tid = HOST, .old_code_addr = CODE + 0x9000, .new_code_addr = CODE + 0xa000, .code_size = BYTES);
}

static void put_region(uint64_t address)
{
	PUT(region, HOST, 26, .address = address, .bytes = 0x1000, .prot = 5, .mapper = trace_string("/usr/bin/host"));
}
static void unregistered(void)
{
	put_region(CODE + 0x20000);
	put_samples_at(20, (struct at){ 80, CODE + 0x20010, 0, 0 });
}
static void still_runs(void)
{
	put_load(HOST, 70, CODE + 0x4000, BYTES, "freed");
	put_unload(HOST, 71, CODE + 0x4000, BYTES);
	put_samples_at(20, (struct at){ 80, CODE + 0x4010, 0, 0 });
}

static void tag_in_stack_pointer(void) { tag(7, 0, 0, TASK, 0, 20); }
static void tag_not_sampled(void) { tag(14, 0, 0, TASK, 0, 20); }
static void tag_beyond_64(void) { tag(13, 0xff, 1, TASK, 60, 20); }
static void tag_overlap(void)
{
	put_tag(HOST, 90, &(struct small_tag){ .where = 13, .nr_fields = 2, .nr_ranges = 1, .range = { { SHARED, SHARED + 16 } },
					       .field = { { TASK, 0, 20 }, { OPERATOR, 16, 20 } } });
}
static void tag_check(void) { tag(13, 0xff000000, 0xff, TASK, 0, 20); }
static void tag_check_in_field(void) { tag(13, 0xff, 0x11, TASK, 0, 20); }
static void tag_of_no_level(void) { tag(13, 0xfff00000, 0x7a600000, 9, 0, 20); }
static void tag_without_code(void)
{
	put_tag(HOST, 90, &(struct small_tag){ .where = 13, .nr_fields = 1, .field = { { TASK, 0, 20 } } });
}
static void tag_backwards(void)
{
	put_tag(HOST, 90, &(struct small_tag){ .where = 13, .nr_fields = 1, .nr_ranges = 1, .field = { { TASK, 0, 20 } },
					       .range = { { SHARED + 16, SHARED } } });
}
static void tag_of_nobody(void) { put_samples_at(20, (struct at){ 80, SHARED + 8, TAG(77), CODE + 0x220 }); }
static void no_tag(void) { put_samples_at(20, (struct at){ 80, SHARED + 8, 0x1234, CODE + 0x205 }); }
static void others_tag(void) { put_samples_at(20, (struct at){ 80, SHARED + 8, TAG(2), CODE + 0x205 }); }
static void others_task(void)
{
	mark(70, HOST, JITREG_MARK_BEGIN, "task", TASK, 1, 2);
	put_samples_at(20, (struct at){ 80, SHARED + 8, TAG(2), CODE + 0x220 });
	mark(90, HOST, JITREG_MARK_END, "task", TASK, 1, 2);
}

/* From time 65 on the tag is in a thread-local word. */
static void word_samples(struct at s)
{
	put_tag(HOST, 65, &(struct small_tag){ .where = JITREG_TAG_MEMORY, .mask = 0xfff00000, .value = 0x7a600000, .nr_fields = 1,
					       .field = { { TASK, 0, 20 } } });
	tag_column = SAMPLE_TAG_WORD;
	put_samples_at(20, s);
	tag_column = 21;
}
static void word_of_nobody(void) { word_samples((struct at){ 80, SHARED + 8, TAG(77), 0 }); }
static void others_word(void) { word_samples((struct at){ 80, SHARED + 8, TAG(2), CODE + 0x205 }); }
static void others_task_in_word(void)
{
	mark(70, HOST, JITREG_MARK_BEGIN, "task", TASK, 1, 2);
	word_samples((struct at){ 80, SHARED + 8, TAG(2), 0 });
	mark(90, HOST, JITREG_MARK_END, "task", TASK, 1, 2);
}
/* Calls that are left to the call stack. */
static void no_word(void) { word_samples((struct at){ 80, SHARED + 8, 0, CODE + 0x205 }); }

static void nameless_mark(void)
{
	mark(70, HOST, JITREG_MARK_BEGIN, "", 0, 0, 7);
	mark(71, HOST, JITREG_MARK_END, "", 0, 0, 7);
}
static void open_marks(uint32_t covers)
{
	for (uint64_t i = 1; i <= 5; i++)
		mark_that_covers(70 + i, HOST, JITREG_MARK_BEGIN, "morsel", TASK, 1, 10 + i, covers);
}
static void open_marks_of_a_thread(void) { open_marks(JITREG_COVERS_THREAD); }
/* Several at a time are as it should be, while the host runs on. */
static void open_marks_of_tasks(void) { open_marks(JITREG_COVERS_TASK); }
static void open_mark(void) { mark(70, HOST, JITREG_MARK_BEGIN, "run", 0, 0, 2); }
static void ended_twice(void) { mark(70, HOST, JITREG_MARK_END, "run", 0, 0, 1); }
static void handle_ended_twice(void) { mark(70, HOST, JITREG_MARK_END, "task", TASK, 2, 1); }
static void ended_by_another_thread(void)
{
	mark(70, HOST, JITREG_MARK_BEGIN, "run", 0, 0, 2);
	mark(71, HOST + 1, JITREG_MARK_END, "run", 0, 0, 2);
}
static void never_begun(void) { mark(70, HOST, JITREG_MARK_END, "compile", 0, 0, 3); }
static void backwards(void)
{
	mark(70, HOST, JITREG_MARK_BEGIN, "run", 0, 0, 2);
	mark(65, HOST, JITREG_MARK_END, "run", 0, 0, 2);
}
static void other_clock(void)
{
	PUT(header, 0, 100000000000000ull, .version = TRACE_FORMAT_VERSION);
	put_component(HOST, OPERATOR, 2, 0, "scan"); /* at 2 ns */
}

/* As a LOAD of another writer may be: ours puts '?' in place of what is not UTF-8. */
static void name_in_latin1(void)
{
	static const unsigned char load[] = { 0x9c, JITREG_LOAD, 70, HOST, HOST, HOST, HOST, 0xce, 0x60, 0, 0, 0, 0xce, 0x60, 0, 0, 0,
					      16, 0, 0xa2, 'f', 0xfc, 0xc4, 0 };

	assert_int_equal(trace_record_copy(small, &(struct trace_record){ .id = JITREG_LOAD, .packed = (const char *)load,
									  .packed_bytes = sizeof(load) }), 0);
}

static void nothing(void) {}

/* needs: what a trace must know so that it is said. */
enum { NEEDS_ALL = 1, NEEDS_START = 2 };
static const struct {
	void (*plant)(void);
	enum finding_kind kind;
	unsigned needs;
} plants[] = {
	{ refused, FINDING_RECORD_REFUSED, 0 },
	{ dropped, FINDING_RECORD_DROPPED, 0 },
	{ too_many_levels, FINDING_LEVELS_FULL, 0 },
	{ component_zero, FINDING_NUMBER_ZERO, 0 },
	{ level_again, FINDING_LEVEL_RENAMED, 0 },
	{ upper_itself, FINDING_LEVEL_UPPER, 0 },
	{ upper_unknown, FINDING_LEVEL_UPPER, NEEDS_ALL },
	{ two_plans, FINDING_LEVEL_PLANS, 0 },
	{ linked_late, FINDING_LINK_LATE, NEEDS_ALL | NEEDS_START },
	{ talks, FINDING_COST, 0 },
	{ unknown_level, FINDING_LEVEL_UNKNOWN, NEEDS_ALL },
	{ nameless_level, FINDING_LEVEL_NAME, 0 },
	{ nameless_component, FINDING_COMPONENT_NAME, 0 },
	{ two_of_one_id, FINDING_COMPONENT_RENAMED, 0 },
	{ unlinked, FINDING_COMPONENT_UNLINKED, NEEDS_ALL },
	{ other_clock, FINDING_TIME_CLOCK, 0 },
	{ name_in_latin1, FINDING_CODE_NAME, 0 },
	{ link_to_nobody, FINDING_LINK_UNKNOWN, NEEDS_ALL },
	{ link_behind_text, FINDING_LINK_UNKNOWN, NEEDS_ALL },
	{ swapped, FINDING_LINK_REVERSED, 0 },
	{ same_level, FINDING_LINK_SAME_LEVEL, 0 },
	{ same_component, FINDING_LINK_SAME_LEVEL, 0 },
	{ circle, FINDING_LINK_CYCLE, 0 },
	{ many_uppers, FINDING_LINK_MANY, 0 },
	{ edge_to_nobody, FINDING_EDGE_UNKNOWN, NEEDS_ALL },
	{ edge_to_itself, FINDING_EDGE_SELF, 0 },
	{ plan_in_a_circle, FINDING_PLAN_CYCLE, 0 },
	{ two_roots, FINDING_PLAN_ROOTS, NEEDS_ALL },
	{ rows_nan, FINDING_ROWS_NEGATIVE, 0 },
	{ counter_of_nobody, FINDING_USE_UNKNOWN, NEEDS_ALL },
	{ mark_of_nobody, FINDING_USE_UNKNOWN, NEEDS_ALL },
	{ empty_code, FINDING_LOAD_EMPTY, 0 },
	{ unwritten, FINDING_LOAD_UNWRITTEN, 0 },
	{ overlap, FINDING_LOAD_OVERLAP, 0 },
	{ map_of_nothing, FINDING_CODE_MAP_UNKNOWN, NEEDS_ALL },
	{ unsorted_map, FINDING_CODE_MAP_UNSORTED, 0 },
	{ map_outside, FINDING_CODE_MAP_OUTSIDE, 0 },
	{ map_of_nobody, FINDING_CODE_MAP_COMPONENT, NEEDS_ALL },
	{ lines_of_nothing, FINDING_LINES_UNKNOWN, NEEDS_ALL },
	{ lines_as_offsets, FINDING_LINES_OUTSIDE, 0 },
	{ line_behind_text, FINDING_LINE_BEYOND, 0 },
	{ unload_of_nothing, FINDING_UNLOAD_UNKNOWN, NEEDS_ALL | NEEDS_START },
	{ move_of_nothing, FINDING_MOVE_UNKNOWN, NEEDS_ALL | NEEDS_START },
	{ unregistered, FINDING_CODE_UNREGISTERED, NEEDS_ALL | NEEDS_START },
	{ still_runs, FINDING_CODE_UNLOADED, 0 },
	{ tag_in_stack_pointer, FINDING_TAG_REGISTER, 0 },
	{ tag_not_sampled, FINDING_TAG_UNSAMPLED, 0 },
	{ tag_beyond_64, FINDING_TAG_FIELDS, 0 },
	{ tag_overlap, FINDING_TAG_FIELDS, 0 },
	{ tag_check, FINDING_TAG_CHECK, 0 },
	{ tag_check_in_field, FINDING_TAG_CHECK, 0 },
	{ tag_of_no_level, FINDING_TAG_LEVEL, NEEDS_ALL },
	{ tag_without_code, FINDING_TAG_CODE, 0 },
	{ tag_backwards, FINDING_TAG_CODE, 0 },
	{ tag_of_nobody, FINDING_TAG_ID, NEEDS_ALL },
	{ no_tag, FINDING_TAG_MISSING, 0 },
	{ others_tag, FINDING_TAG_OTHER, 0 },
	{ others_task, FINDING_TAG_TASK, 0 },
	{ word_of_nobody, FINDING_TAG_ID, NEEDS_ALL },
	{ others_word, FINDING_TAG_OTHER, 0 },
	{ others_task_in_word, FINDING_TAG_TASK, 0 },
	{ nameless_mark, FINDING_MARK_NAME, 0 },
	{ open_mark, FINDING_MARK_OPEN, NEEDS_ALL | NEEDS_START },
	{ open_marks_of_a_thread, FINDING_MARK_OPEN, NEEDS_ALL },
	{ open_marks_of_tasks, FINDING_MARK_OPEN, NEEDS_ALL | NEEDS_START },
	{ ended_twice, FINDING_MARK_UNBEGUN, NEEDS_ALL | NEEDS_START },
	{ never_begun, FINDING_MARK_UNBEGUN, NEEDS_ALL | NEEDS_START },
	{ handle_ended_twice, FINDING_MARK_UNBEGUN, NEEDS_ALL | NEEDS_START },
	{ backwards, FINDING_MARK_REVERSED, 0 },
};

static void expect_all(unsigned known)
{
	int bad = 0;

	for (size_t i = 0; i < sizeof(plants) / sizeof(plants[0]); i++) {
		struct findings f = found_with(plants[i].plant);
		bool expected = (plants[i].needs & ~known) == 0;
		uint32_t others = f.nr - (f.of[plants[i].kind].count != 0) - (lossy && f.of[FINDING_RECORD_DROPPED].count != 0 &&
									    plants[i].kind != FINDING_RECORD_DROPPED);

		if ((f.of[plants[i].kind].count != 0) == expected && others == 0 && (!expected || *f.of[plants[i].kind].example))
			continue;
		print_message("plant %zu: expected %s%s, and nothing else; found:\n", i, expected ? "" : "no ",
			      finding_ids[plants[i].kind]);
		print_found(&f);
		bad++;
	}
	cut = late = lossy = false;
	assert_int_equal(bad, 0);
}

static void each_mistake_is_found_and_no_other(void **state)
{
	(void)state;
	expect_all(NEEDS_ALL | NEEDS_START);
}

static void nothing_is_found_where_all_is_right(void **state)
{
	static void (*const right[])(void) = { nothing, unlinked_shared, ended_by_another_thread, no_word };

	(void)state;
	for (size_t i = 0; i < sizeof(right) / sizeof(right[0]); i++) {
		struct findings f = found_with(right[i]);

		print_found(&f);
		assert_int_equal(f.nr, 0);
	}
}

static void a_trace_that_was_cut_says_less(void **state)
{
	(void)state;
	cut = true;
	expect_all(NEEDS_START);
}

static void where_records_were_lost_less_is_said(void **state)
{
	(void)state;
	lossy = true;
	expect_all(NEEDS_START);
}

static void refused_with_a_tag_of_nobody(void)
{
	refused();
	tag_of_nobody();
}

/* What is refused is no component, whose number then stands in no tag. */
static void an_unknown_tag_is_said_whatever_was_refused(void **state)
{
	struct findings f = found_with(refused_with_a_tag_of_nobody);

	(void)state;
	assert_true(f.of[FINDING_TAG_ID].count && f.of[FINDING_RECORD_REFUSED].count);
	assert_int_equal(f.nr, 2);
}

static void of_a_host_that_ran_before_less_is_said(void **state)
{
	(void)state;
	late = true;
	expect_all(NEEDS_ALL);
}

#define DEEP 100000u

static void deep(void)
{
	put_uppers(5, "a", 0, 6);
	put_uppers(6, "b", 0, 5);
	for (uint64_t i = 1; i <= DEEP; i++) {
		put_component(HOST, 5 + i % 2, i, 0, "on a long way");
		put_component(HOST, OPERATOR, 1000 + i, 0, "in a long plan");
		put_link(HOST, 5 + i % 2, i, 5 + (i + 1) % 2, i + 1, 1);
		edge(1000 + i, 1001 + i);
	}
	put_component(HOST, 5 + (DEEP + 1) % 2, DEEP + 1, 0, "its end");
	put_link(HOST, 5 + (DEEP + 1) % 2, DEEP + 1, 5 + DEEP % 2, DEEP, 1);
	put_component(HOST, OPERATOR, 1001 + DEEP, 0, "its root");
}

static void ways_of_a_hundred_thousand_steps_are_walked(void **state)
{
	struct findings f = found_with(deep);

	(void)state;
	print_found(&f);
	assert_int_equal(f.of[FINDING_LINK_CYCLE].count, 1);
	assert_int_equal(f.nr, 1);
}

/* Each kind has a plant, but those that tests/live/check-names-what-is-wrong.sh plants in a host. */
static void each_kind_has_a_plant(void **state)
{
	static const enum finding_kind elsewhere[] = { FINDING_LINES_UNLINKED, FINDING_SOURCE_UNKNOWN };
	bool has[NR_FINDINGS] = { false };

	(void)state;
	for (size_t i = 0; i < sizeof(plants) / sizeof(plants[0]); i++)
		has[plants[i].kind] = true;
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		has[elsewhere[i]] = true;
	for (int i = 0; i < NR_FINDINGS; i++)
		if (!has[i])
			fail_msg("no plant of %s", finding_ids[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_found_where_all_is_right),
		cmocka_unit_test(each_mistake_is_found_and_no_other),
		cmocka_unit_test(a_trace_that_was_cut_says_less),
		cmocka_unit_test(where_records_were_lost_less_is_said),
		cmocka_unit_test(an_unknown_tag_is_said_whatever_was_refused),
		cmocka_unit_test(of_a_host_that_ran_before_less_is_said),
		cmocka_unit_test(ways_of_a_hundred_thousand_steps_are_walked),
		cmocka_unit_test(each_kind_has_a_plant),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
