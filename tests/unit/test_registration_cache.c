/* SPDX-License-Identifier: MIT */
/* What a dormant recorder remembers, and what it forgets. */
#include "tests/unit/unit.h"

#include "agent/recorder/guests/registration_cache.h"
#include "jitreg/hosts/jit_hosts.h"

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static struct registration_cache *store;

/* The records that the header's own functions make, handed straight to the store. */
static int emit(const struct iovec *parts, int nr)
{
	static unsigned char record[1 << 16];
	struct schema_value values[SCHEMA_FIELDS_MAX];
	struct jitreg_prefix prefix;
	size_t bytes = 0;
	int nr_values;

	for (int i = 0; i < nr; i++) {
		if (parts[i].iov_len)
			memcpy(record + bytes, parts[i].iov_base, parts[i].iov_len);
		bytes += parts[i].iov_len;
	}
	memcpy(&prefix, record, sizeof(prefix));
	prefix.total_size = (uint32_t)bytes;
	prefix.timestamp = 1;
	memcpy(record, &prefix, sizeof(prefix));
	assert_int_equal(schema_parse(record, bytes, values, &nr_values), 0);
	registration_cache_add(store, 7, record, bytes, values);
	return 0;
}

static int setup(void **state)
{
	static const uint32_t recorders = 1;

	(void)state;
	jitreg_state_1_.emit = emit;
	jitreg_state_1_.recorders = &recorders;
	jitreg_state_1_.heard_by = jitreg_state_1_.greeted = recorders;
	jitreg_state_1_.agent.version = JITREG_VERSION;
	return registration_cache_create(1 << 20, &store);
}

static int teardown(void **state)
{
	(void)state;
	registration_cache_destroy(store);
	return 0;
}

struct seen {
	int nr;
	uint32_t id[64];
	uint64_t address[64]; /* of LOADs */
};

static void see(void *context, uint32_t tid, const void *record, size_t bytes)
{
	struct seen *s = context;
	struct jitreg_load_record load = { 0 };

	assert_int_equal(tid, 7);
	memcpy(&load, record, bytes < sizeof(load) ? bytes : sizeof(load));
	assert_true(s->nr < 64);
	s->address[s->nr] = load.prefix.id == JITREG_LOAD ? load.code_addr : 0;
	s->id[s->nr++] = load.prefix.id;
}

static void expect(int nr, const uint32_t *ids)
{
	struct seen s = { 0 };

	registration_cache_each_record(store, see, &s);
	assert_int_equal(s.nr, nr);
	assert_int_equal(registration_cache_nr_records(store), nr);
	for (int i = 0; i < nr; i++)
		assert_int_equal(s.id[i], ids[i]);
}
#define EXPECT(...) expect(sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), (uint32_t[]){ __VA_ARGS__ })

static void load(uint64_t address, uint64_t bytes)
{
	jitreg_code_load(address, bytes, address, "f", NULL);
}

static void code_goes_when_it_is_unloaded_or_replaced(void **state)
{
	(void)state;
	load(0x1000, 100);
	load(0x2000, 100);
	load(0x10000, 100);
	jitreg_code_unload(0x2000, 100);
	EXPECT(JITREG_LOAD, JITREG_LOAD);
	jitreg_code_unload(0x1000, 0); /* the whole object */
	EXPECT(JITREG_LOAD);
	load(0xfff0, 0x1000); /* over it */
	EXPECT(JITREG_LOAD);
	load(0x40000000, 10);
	jitreg_code_unload(0, UINT64_MAX); /* a range with more pages than there are records */
	expect(0, NULL);
}

static void what_belongs_to_code_goes_with_it(void **state)
{
	const struct jitreg_code_map_entry entry = { 0, 1, 5 };

	(void)state;
	jitreg_code_map(0x1000, &entry, 1); /* before its code */
	load(0x1000, 64);
	jitreg_code_map(0x3000, &entry, 1);
	load(0x3000, 64);
	EXPECT(JITREG_CODE_MAP, JITREG_LOAD, JITREG_CODE_MAP, JITREG_LOAD);
	load(0x1000, 32); /* other code, which has none */
	EXPECT(JITREG_CODE_MAP, JITREG_LOAD, JITREG_LOAD);
	jitreg_code_unload(0x3000, 64);
	EXPECT(JITREG_LOAD);
	jitreg_code_map(0x1000, &entry, 1); /* behind its code */
	load(0x1000, 32);
	EXPECT(JITREG_LOAD);
}

static void the_dictionary_keeps_what_holds_now(void **state)
{
	(void)state;
	jitreg_level(1, "operator", 0, 0);
	jitreg_component(1, 5, "scan", "", 0);
	jitreg_component(1, 5, "scan again", "", 0);
	jitreg_link(2, 9, 1, 5, 1);
	jitreg_link(2, 9, 1, 5, 3);
	jitreg_link(2, 9, 1, 6, 1);
	jitreg_mark(JITREG_MARK_BEGIN, "run", 0, 0, 1, 0, 0, "");
	jitreg_mark(JITREG_MARK_END, "run", 0, 0, 1, 0, 0, "");
	jitreg_mark(JITREG_MARK_BEGIN, "run", 0, 0, 2, 0, 0, "");
	EXPECT(JITREG_LEVEL, JITREG_COMPONENT, JITREG_LINK, JITREG_LINK, JITREG_MARK);
	jitreg_unlink(2, 9, 1, 6);
	EXPECT(JITREG_LEVEL, JITREG_COMPONENT, JITREG_LINK, JITREG_MARK);
}

static void moved_code_is_where_it_went(void **state)
{
	struct jitreg_move_record m = { .prefix = { .id = JITREG_MOVE }, .old_code_addr = 0x1000, .new_code_addr = 0x5008,
					.code_size = 64 };
	struct iovec part = { &m, sizeof(m) };
	struct seen s = { 0 };

	(void)state;
	load(0x1000, 64);
	load(0x5010, 16); /* there, where the other one goes */
	emit(&part, 1);
	registration_cache_each_record(store, see, &s);
	assert_int_equal(s.nr, 1);
	assert_int_equal(s.address[0], 0x5008);
	jitreg_code_unload(0x5000, 0x100);
	expect(0, NULL);
	emit(&part, 1); /* what is not there cannot move */
	expect(0, NULL);
}

static void elf_objects_replace_each_other(void **state)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Shdr text;
	} elf = { .header = { .e_ident = ELFMAG "\2\1\1", .e_shentsize = sizeof(Elf64_Shdr), .e_shnum = 1,
			      .e_shoff = sizeof(Elf64_Ehdr) },
		  .text = { .sh_flags = SHF_EXECINSTR | SHF_ALLOC, .sh_addr = 0x7000, .sh_size = 0x100 } };

	(void)state;
	for (int i = 0; i < 3; i++)
		jitreg_image(0, JITREG_IMAGE_MEMORY_ELF, "", NULL, 0, NULL, 0, &elf, sizeof(elf));
	EXPECT(JITREG_IMAGE);
	elf.text.sh_addr = 0x6ff0;
	jitreg_image(0, JITREG_IMAGE_MEMORY_ELF, "", NULL, 0, NULL, 0, &elf, sizeof(elf));
	EXPECT(JITREG_IMAGE);
	elf.header.e_shoff = UINT64_MAX; /* nonsense is kept, for the analyzer to say so */
	jitreg_image(0, JITREG_IMAGE_MEMORY_ELF, "", NULL, 0, NULL, 0, &elf, sizeof(elf));
	EXPECT(JITREG_IMAGE, JITREG_IMAGE);
	jitreg_image(0x4000, 0, "/lib/x.so", NULL, 0, NULL, 0, NULL, 0);
	jitreg_image_unload(0x4000, "/lib/x.so");
	EXPECT(JITREG_IMAGE, JITREG_IMAGE);
}

static void a_million_pairs_leave_nothing(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 1000000; i++) {
		load(0x100000 + i % 5000 * 64, 32);
		jitreg_code_unload(0x100000 + i % 5000 * 64, 32);
	}
	assert_int_equal(registration_cache_nr_records(store), 0);
	assert_int_equal(registration_cache_bytes(store), 0);
	assert_int_equal(registration_cache_take_forgotten(store), 0);
}

static void the_oldest_are_forgotten_and_counted(void **state)
{
	(void)state;
	for (uint64_t i = 0; i < 100000; i++)
		load(0x100000 + i * 64, 32);
	assert_true(registration_cache_bytes(store) <= 1 << 20);
	assert_int_equal(registration_cache_nr_records(store) + registration_cache_take_forgotten(store), 100000);
	assert_int_equal(registration_cache_take_forgotten(store), 0);
}

static void a_scope_takes_what_belongs_to_it_with_it(void **state)
{
	uint64_t one;

	(void)state;
	jitreg_level(1, "operator", 0, 0);
	jitreg_component(1, 5, "another query's", "", 0);
	for (int i = 0; i < 100; i++) {
		jitreg_scope(100, 10, "query", "select 1");
		jitreg_component(1, 100, "scan", "", 0);
		jitreg_component(1, 101, "join", "", 0);
		jitreg_link(2, 102, 1, 100, 1);
		jitreg_edge(1, 100, 101, 0, "");
		jitreg_counter(1, 101, "rows", 7);
		one = jitreg_mark_begin(JITREG_COVERS_TASK, "run", jitreg_at(0, 0), 1, 0, "");
		jitreg_mark_leave(one);
		if (i < 99) {
			jitreg_mark_end(one, 0);
			jitreg_scope_end(100, 10);
		}
	}
	expect(9, (uint32_t[]){ JITREG_LEVEL, JITREG_COMPONENT, JITREG_SCOPE, JITREG_COMPONENT, JITREG_COMPONENT, JITREG_LINK, JITREG_EDGE,
				JITREG_COUNTER, JITREG_MARK });
}

static void counter_blocks_go_with_their_last_values(void **state)
{
	const struct jitreg_counter_entry entry = { JITREG_COUNTS_ENTRY, 1, 7, 0 };
	const struct jitreg_count one = { 1 };
	const struct jitreg_flow_parts nothing = { 0 };
	struct jitreg_counter_values_record last = { .prefix.id = JITREG_COUNTER_VALUES, .flags = JITREG_VALUES_LAST };

	(void)state;
	for (uint64_t block = 1; block <= 100; block++) {
		jitreg_counter_entries(block, &entry, 1);
		jitreg_counter_values(block, &one, 1);
		jitreg_counter_values(block, &one, 1);
		jitreg_flow(1, 7, 0, &nothing);
		last.block = block;
		if (block < 100)
			emit(&(struct iovec){ &last, sizeof(last) }, 1);
	}
	expect(3, (uint32_t[]){ JITREG_COUNTER_BLOCK, JITREG_COUNTER_VALUES, JITREG_FLOW });
	jitreg_scope_end(7, 1);
	expect(2, (uint32_t[]){ JITREG_COUNTER_BLOCK, JITREG_COUNTER_VALUES });
}

static void an_object_takes_those_below_it_with_it(void **state)
{
	const struct jitreg_function run = { 0x1000 };

	(void)state;
	for (int i = 0; i < 100; i++) {
		jitreg_object(0x10, 0, 0, &run, 1, NULL, 0);
		jitreg_object(0x20, 0x10, 0, &run, 1, NULL, 0);
		jitreg_object(0x30, 0x20, 0, &run, 1, NULL, 0);
		jitreg_object(0x40, 0, 0, &run, 1, NULL, 0); /* a query inside of that one's functions */
		jitreg_object(0x50, 0x40, 0, &run, 1, NULL, 0);
		jitreg_object_steps(0x50, 0x1000, 24, 9, 1, 1); /* what they execute */
		jitreg_object_steps(0x50, 0x2000, 24, 9, 1, 10);
		jitreg_object_steps(0x30, 0x3000, 24, 9, 1, 20);
		jitreg_step_word(0x1000, 8);
		if (i < 99) {
			jitreg_object_end(0x40);
			jitreg_object_end(0x10);
		}
	}
	jitreg_object_end(0x10);
	jitreg_object_end(0x77);
	expect(5, (uint32_t[]){ JITREG_OBJECT, JITREG_OBJECT, JITREG_OBJECT_STEPS, JITREG_OBJECT_STEPS, JITREG_STEP_WORD });
}

static int name_thread(const char *name)
{
	struct iovec parts[1] = { { (void *)(uintptr_t)name, strlen(name) } };
	JITREG_BEGIN_(control, r);

	r.action = JIT_CONTROL_THREAD_NAME;
	r.name_bytes = (uint32_t)parts[0].iov_len;
	return JITREG_SEND_(JITREG_CONTROL, r, parts);
}

static void a_thread_has_its_last_name(void **state)
{
	(void)state;
	assert_int_equal(name_thread("worker of task 1"), 0);
	load(0x1000, 100);
	jitreg_control(JITREG_CONTROL_NOTE, "a note");
	assert_int_equal(name_thread("worker of task 2"), 0);
	EXPECT(JITREG_LOAD, JITREG_CONTROL);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(code_goes_when_it_is_unloaded_or_replaced),
		TEST(what_belongs_to_code_goes_with_it),
		TEST(the_dictionary_keeps_what_holds_now),
		TEST(moved_code_is_where_it_went),
		TEST(elf_objects_replace_each_other),
		TEST(a_million_pairs_leave_nothing),
		TEST(the_oldest_are_forgotten_and_counted),
		TEST(a_scope_takes_what_belongs_to_it_with_it),
		TEST(counter_blocks_go_with_their_last_values),
		TEST(an_object_takes_those_below_it_with_it),
		TEST(a_thread_has_its_last_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
