/* SPDX-License-Identifier: MIT */
/* Every inline builder of jitreg.h makes a record that the parser accepts, with the same fields in it. */
#include "tests/unit/unit.h"

#define JITREG_AGENT 1 /* jitreg_emit is here, not to be found by dlsym */
#include "jitreg/jitreg.h"
#include "jitreg/trace/schema.h"

#include <string.h>

static unsigned char record[4096];
static struct schema_value value[SCHEMA_FIELDS_MAX];
static int nr_values, nr_records;

/* The agent, for this program: keep the record, as it does. */
int jitreg_emit(const struct iovec *parts, int nr_parts)
{
	uint32_t bytes = 0;

	for (int i = 0; i < nr_parts; i++) {
		if (parts[i].iov_len && !parts[i].iov_base)
			return -EINVAL;
		if (parts[i].iov_len) /* an empty part may have no address */
			memcpy(record + bytes, parts[i].iov_base, parts[i].iov_len);
		bytes += (uint32_t)parts[i].iov_len;
	}
	memcpy(record + 4, &bytes, 4);
	nr_records++;
	return schema_parse(record, bytes, value, &nr_values);
}

static uint32_t id(void)
{
	uint32_t v;

	memcpy(&v, record, 4);
	return v;
}

#define U(name, field) value[F(name, field)].u
static int text_is(const struct schema_value *v, const char *text)
{
	return v->bytes == strlen(text) && memcmp(v->p, text, v->bytes) == 0;
}
#define TEXT(name, field, text) assert_true(text_is(&value[F(name, field)], text))

static void code_keeps_its_name_and_bytes(void **state)
{
	(void)state;
	assert_int_equal(jitreg_code_load(0x1000, 4, 9, "f", "\1\2\3\4"), 0);
	assert_int_equal(id(), JITREG_LOAD);
	assert_int_equal(U(load, code_addr), 0x1000);
	assert_int_equal(U(load, code_size), 4);
	assert_int_equal(U(load, code_index), 9);
	TEXT(load, name, "f");
	assert_memory_equal(value[F(load, code)].p, "\1\2\3\4", 4);
	assert_int_equal(jitreg_code_move(0x1000, 0x2000, 4, 9), 0);
	assert_int_equal(U(move, new_code_addr), 0x2000);
	assert_int_equal(jitreg_code_unload(0x2000, 4), 0);
	assert_int_equal(U(code_unload, address), 0x2000);
	assert_int_equal(jitreg_eh_frame(0x3000, "abcd", 4), 0);
	assert_int_equal(value[F(eh_frame, frames)].bytes, 4);
	assert_int_equal(jitreg_unwinding_info("abcd", 4, 2, 4), 0);
	assert_int_equal(value[F(unwinding_info, unwinding_data)].bytes, 4);
}

static void lines_are_counted_and_checked(void **state)
{
	struct {
		uint64_t address;
		uint32_t line, discriminator;
		char file[4];
	} entries[] = { { 1, 2, 0, "a.c" }, { 3, 4, 0, "b.c" } };

	(void)state;
	_Static_assert(sizeof(entries[0]) == 24, "padded");
	/* packed: 20 bytes each */
	memmove((char *)entries + 20, &entries[1], 20);
	assert_int_equal(jitreg_debug_info(0x1000, 2, entries, 40), 0);
	assert_int_equal(U(debug_info, entries), 2);
	assert_int_equal(jitreg_debug_info(0x1000, 3, entries, 40), -EBADMSG);
}

static void the_dictionary_keeps_its_fields(void **state)
{
	(void)state;
	assert_int_equal(jitreg_level(2, "task", 1, 0), 0);
	TEXT(level, name, "task");
	assert_int_equal(value[F(level, upper)].u, 1);
	assert_int_equal(jitreg_component(1, 7, "join", "a = b", JITREG_COMPONENT_SHARED), 0);
	TEXT(component, name, "join");
	TEXT(component, detail, "a = b");
	assert_int_equal(U(component, component), 7);
	assert_int_equal(jitreg_link(2, 5, 1, 7, 3), 0);
	assert_int_equal(U(link, lower), 5);
	assert_int_equal(U(link, weight), 3);
	assert_int_equal(jitreg_unlink(2, 5, 1, 0), 0);
	assert_int_equal(id(), JITREG_UNLINK);
	assert_int_equal(jitreg_edge(1, 7, 8, 1, "rows"), 0);
	TEXT(edge, label, "rows");
	assert_int_equal(jitreg_counter(1, 7, "rows", -5), 0);
	assert_int_equal((int64_t)U(counter, value), -5);
}

static void the_rest_keeps_its_fields(void **state)
{
	struct jitreg_tag_field fields[] = { { 1, 0, 10 }, { 2, 10, 10 } };
	struct jitreg_range preserving_range = { 0x1000, 0x2000 };
	struct jitreg_segment segment = { 0x400000, 0x1000, 0, 5 };
	struct jitreg_code_map_entry entry = { 0, 1, 7 };

	(void)state;
	assert_int_equal(jitreg_tag(13, 0, 0xff, 0x7a, fields, 2, &preserving_range, 1), 0);
	assert_int_equal(value[F(tag, fields)].u, 2);
	assert_int_equal(value[F(tag, keepers)].u, 1);
	assert_int_equal(jitreg_code_map(0x1000, &entry, 1), 0);
	assert_int_equal(value[F(code_map, entries)].u, 1);
	assert_int_equal(jitreg_image(0x400000, JITREG_IMAGE_MAIN, "/bin/x", &segment, 1, "id", 2, NULL, 0), 0);
	TEXT(image, path, "/bin/x");
	assert_int_equal(value[F(image, build_id)].bytes, 2);
	assert_int_equal(jitreg_image_unload(0x400000, "/bin/x"), 0);
	assert_int_equal(jitreg_region(0x1000, 0x2000, 5, "/bin/x", 0x99), 0);
	assert_int_equal(U(region, mapper_offset), 0x99);
	assert_int_equal(jitreg_mark(JITREG_MARK_BEGIN, "run", 1, 7, 3, 2, 0, "text"), 0);
	TEXT(mark, text, "text");
	assert_int_equal(U(mark, instance), 3);
	assert_int_equal(jitreg_control(JITREG_CONTROL_NOTE, "a note"), 0);
	TEXT(control, name, "a note");
	assert_int_equal(jitreg_control(JITREG_CONTROL_CUT, "part 2"), 0);
	assert_int_equal(jitreg_control(5, ""), -EINVAL);
	assert_int_equal(jitreg_source("q.ll", "line 1\nline 2", 4, 100, 0), 0);
	TEXT(source, text, "line 1\nline 2");
	assert_int_equal(U(source, first_component), 100);
	assert_int_equal(jitreg_source_text("q.ll", "one\0line", 8, 4, 100, 0), 0);
	assert_int_equal(U(source, first_component), 99); /* line 1 is 100 */
	assert_int_equal(value[F(source, text)].bytes, 8);
	assert_int_equal(jitreg_link_to(jitreg_at(2, 42), jitreg_at(1, 7), 3), 0);
	assert_int_equal(U(link, lower_level), 2);
	assert_int_equal(U(link, upper), 7);
	assert_int_equal(jitreg_scope(100, 20, "query 1", "select 1"), 0);
	assert_int_equal(U(scope, action), JITREG_SCOPE_BEGIN);
	assert_int_equal(U(scope, nr_ids), 20);
	TEXT(scope, text, "select 1");
	assert_int_equal(jitreg_scope_end(100, 20), 0);
	assert_int_equal(U(scope, first_id), 100);
}

static void objects_name_functions_and_components(void **state)
{
	const struct jitreg_function functions[] = { { 0x1000 }, { 0x2000 } };
	const struct jitreg_object_component of = { 1, 7 };
	uint64_t address[2];

	(void)state;
	assert_int_equal(jitreg_object(0x5000, 0x4000, JITREG_OBJECT_CLASS, functions, 2, &of, 1), 0);
	assert_int_equal(U(object, address), 0x5000);
	assert_int_equal(U(object, upper), 0x4000);
	assert_int_equal(U(object, flags), JITREG_OBJECT_CLASS);
	assert_int_equal(value[F(object, functions)].bytes, sizeof(address));
	memcpy(address, value[F(object, functions)].p, sizeof(address));
	assert_int_equal(address[1], 0x2000);
	assert_memory_equal(value[F(object, components)].p, &of, sizeof(of));
	assert_int_equal(jitreg_object(0x5000, 0, 0, NULL, 0, NULL, 0), 0);
	assert_int_equal(U(object, functions), 0);
	assert_int_equal(jitreg_object_end(0x5000), 0);
	assert_int_equal(U(object_end, address), 0x5000);
	assert_int_equal(jitreg_object_steps(0x5000, 0x6000, 24, 9, 1, 70), 0);
	assert_int_equal(U(object_steps, first), 0x6000);
	assert_int_equal(U(object_steps, stride), 24);
	assert_int_equal(U(object_steps, nr_steps), 9);
	assert_int_equal(U(object_steps, component), 70);
	assert_int_equal(jitreg_step_word(0x1000, 8), 0);
	assert_int_equal(U(step_word, function), 0x1000);
	assert_int_equal(U(step_word, offset), 8);
}

static uint64_t handed_out[64];
static struct jitreg_counter_memory asked;

/* The agent's memory, for this program. */
int jitreg_counters(struct jitreg_counter_memory *m)
{
	asked = *m;
	if (m->block)
		return 0;
	if (m->nr_entries > 32)
		return -ENOBUFS;
	m->block = 5;
	m->place = 64;
	m->counters = handed_out;
	return 0;
}

static void counters_are_handed_out_and_announced(void **state)
{
	const struct jitreg_counter_entry entries[2] = { { JITREG_COUNTS_ENTRY, 1, 7, 0 }, { JITREG_COUNTS_EDGE, 2, 8, 9 } };
	const struct jitreg_count values[2] = { { 11 }, { 1ull << 63 } };
	uint64_t block;

	(void)state;
	assert_int_equal(JITREG_COUNTER_STRIDE(2), 8);
	assert_ptr_equal(jitreg_counter_block(entries, 2, 4, &block), handed_out);
	assert_int_equal(block, 5);
	assert_int_equal(id(), JITREG_COUNTER_BLOCK);
	assert_int_equal(U(counter_block, block), 5);
	assert_int_equal(U(counter_block, place), 64);
	assert_int_equal(U(counter_block, nr_copies), 4);
	assert_memory_equal(value[F(counter_block, entries)].p, entries, sizeof(entries));
	assert_int_equal(jitreg_counter_block_end(block), 0);
	assert_int_equal(asked.block, 5);
	assert_int_equal(jitreg_counter_block_end(0), 0);
	assert_null(jitreg_counter_block(entries, 40, 1, &block)); /* this agent has no more */
	assert_int_equal(block, 0);
	assert_null(jitreg_counter_block(entries, 2, UINT32_MAX, &block)); /* more than any has */
	assert_int_equal(jitreg_counter_entries(6, entries, 2), 0);
	assert_int_equal(U(counter_block, nr_copies), 0);
	assert_int_equal(jitreg_counter_values(6, values, 2), 0);
	assert_int_equal(U(counter_values, block), 6);
	assert_memory_equal(value[F(counter_values, values)].p, values, sizeof(values));
}

static void flows_keep_their_parts(void **state)
{
	const struct jitreg_flow_block blocks[2] = { { 3, 100, 4 }, { 3, 104, 1 } };
	const struct jitreg_flow_arc arcs[3] = { { JITREG_FLOW_OUTSIDE, 0, 1 }, { 0, 1, 1 }, { 1, JITREG_FLOW_OUTSIDE, 1 } };
	const struct jitreg_flow_call call = { 1, 1, 2, 9 };
	const struct jitreg_flow_execution execution = { 1, 7, 1 };
	const struct jitreg_flow_parts parts = { blocks, arcs, &call, &execution, 2, 3, 1, 1 };

	(void)state;
	assert_int_equal(jitreg_flow(2, 8, JITREG_FLOW_ESCAPES, &parts), 0);
	assert_int_equal(U(flow, component), 8);
	assert_int_equal(U(flow, flags), JITREG_FLOW_ESCAPES);
	assert_memory_equal(value[F(flow, blocks)].p, blocks, sizeof(blocks));
	assert_memory_equal(value[F(flow, arcs)].p, arcs, sizeof(arcs));
	assert_memory_equal(value[F(flow, calls)].p, &call, sizeof(call));
	assert_memory_equal(value[F(flow, executions)].p, &execution, sizeof(execution));
}

static void marks_have_handles(void **state)
{
	uint64_t one = jitreg_mark_begin(JITREG_COVERS_PROCESS, "run", jitreg_at(0, 0), 5, 0, "select"), two;

	(void)state;
	assert_int_not_equal(one, 0);
	assert_int_equal(U(mark, mark), one);
	assert_int_equal(U(mark, covers), JITREG_COVERS_PROCESS);
	assert_int_equal(U(mark, instance), 5);
	TEXT(mark, text, "select");
	two = jitreg_mark_begin(JITREG_COVERS_TASK, "morsel", jitreg_at(1, 7), 9, one, NULL);
	assert_int_not_equal(two, one);
	assert_int_equal(U(mark, parent), one);
	assert_int_equal(U(mark, component), 7);
	assert_int_equal(jitreg_mark_leave(two), 0);
	assert_int_equal(U(mark, action), JITREG_MARK_LEAVE);
	assert_int_equal(jitreg_mark_enter(two), 0);
	assert_int_equal(U(mark, mark), two);
	assert_int_equal(jitreg_mark_end(two, 17), 0);
	assert_int_equal(U(mark, action), JITREG_MARK_END);
	assert_int_equal(U(mark, units), 17);
	assert_int_equal(jitreg_mark_end(0, 0), -ENOSYS); /* of one that began when nobody listened */
	assert_int_equal(jitreg_mark(JITREG_MARK_BEGIN, "run", 0, 0, 1, 0, 0, NULL), 0);
	assert_int_equal(U(mark, mark), 0); /* an older record ends before it */
}

static void a_word_that_is_not_static_tls_is_refused(void **state)
{
	static __thread uint64_t word JITREG_STATIC_TLS;
	static uint64_t elsewhere;
	struct jitreg_tag_field field = { 1, 0, 32 };
	uintptr_t thread;

	(void)state;
	assert_int_equal(jitreg_tag_in_word(&word, 0, 0, &field, 1), 0);
	assert_int_equal(U(tag, where), JITREG_TAG_MEMORY);
	__asm__("movq %%fs:0, %0" : "=r"(thread));
	assert_ptr_equal((char *)thread + U(tag, address), &word);
	assert_int_equal(jitreg_tag_in_word(&elsewhere, 0, 0, &field, 1), -EINVAL);
	assert_int_equal(jitreg_task_switch(&word, 5), 0);
	assert_int_equal(jitreg_task_switch(&word, 6), 5);
	assert_int_equal(word, 6);
}

static void a_count_without_elements_is_malformed(void **state)
{
	(void)state;
	assert_int_equal(jitreg_code_map(0x1000, NULL, 2), -EINVAL);
	assert_int_equal(jitreg_tag(13, 0, 0, 0, NULL, 1, NULL, 0), -EINVAL);
	assert_int_equal(jitreg_image(0, 0, "x", NULL, 1, NULL, 0, NULL, 0), -EINVAL);
	assert_int_equal(jitreg_debug_info(0x1000, 1, NULL, 20), -EINVAL);
	assert_int_equal(jitreg_code_load(0x1000, 16, 1, "f", NULL), 0); /* which may come without */
}

static void the_tracker_links_to_its_top(void **state)
{
	struct jitreg_tracker t = { .lower_level = 2, .upper_level = 1 };

	(void)state;
	nr_records = 0;
	assert_int_equal(jitreg_tracker_link(&t, 1), 0);
	assert_int_equal(nr_records, 0); /* nobody is being lowered */
	jitreg_tracker_push(&t, 7);
	jitreg_tracker_push(&t, 8);
	jitreg_tracker_link(&t, 1);
	assert_int_equal(U(link, upper), 8);
	jitreg_tracker_pop(&t);
	jitreg_tracker_link(&t, 2);
	assert_int_equal(U(link, upper), 7);
	for (int i = 0; i < 100; i++)
		jitreg_tracker_push(&t, 9);
	for (int i = 0; i < 100; i++)
		jitreg_tracker_pop(&t);
	assert_int_equal(jitreg_tracker_top(&t), 7);
}

static void tags_nest_and_are_restored(void **state)
{
	static __thread uint64_t word;
	uint64_t inside = 0, nested = 0;

	(void)state;
	word = 1;
	JITREG_WITH_TAG_WORD(word, 2)
	{
		inside = word;
		JITREG_WITH_TAG_WORD(word, 3)
			nested = word;
		assert_int_equal(word, 2);
	}
	assert_int_equal(inside, 2);
	assert_int_equal(nested, 3);
	assert_int_equal(word, 1);
}

static void records_cut_anywhere_are_refused(void **state)
{
	uint32_t bytes;

	(void)state;
	jitreg_component(1, 7, "join", "a = b", 0);
	memcpy(&bytes, record + 4, 4);
	for (uint32_t n = 0; n < bytes; n++) {
		unsigned char cut[4096];

		memcpy(cut, record, n);
		if (n >= 8)
			memcpy(cut + 4, &n, 4);
		assert_int_equal(schema_parse(cut, n, value, &nr_values), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(code_keeps_its_name_and_bytes),
		cmocka_unit_test(lines_are_counted_and_checked),
		cmocka_unit_test(the_dictionary_keeps_its_fields),
		cmocka_unit_test(the_rest_keeps_its_fields),
		cmocka_unit_test(objects_name_functions_and_components),
		cmocka_unit_test(counters_are_handed_out_and_announced),
		cmocka_unit_test(flows_keep_their_parts),
		cmocka_unit_test(marks_have_handles),
		cmocka_unit_test(a_word_that_is_not_static_tls_is_refused),
		cmocka_unit_test(a_count_without_elements_is_malformed),
		cmocka_unit_test(the_tracker_links_to_its_top),
		cmocka_unit_test(tags_nest_and_are_restored),
		cmocka_unit_test(records_cut_anywhere_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
