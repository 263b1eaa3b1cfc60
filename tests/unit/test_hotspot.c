/* SPDX-License-Identifier: MIT */
/* A JVM's memory, honest and hostile, as this process's own: frames of its code, lines of its methods, and what random bytes lead to. */
#include "tests/unit/unit.h"

#include "agent/recorder/hotspot/internal.h"
#include "analyzer/unwind/eh_frame.h"
#include "jitreg/trace/writer.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CODE 0x7f0000001000ull
#define ARENA_WORDS 4096u
#define ROUNDS 1000

static struct hotspot_frames frames;

static bool take_program(void *context, const struct eh_frame_fde *f)
{
	return !eh_frame_read_program(frames.bytes, frames.writer.nr, CODE, f->offset, context);
}

/* How far the caller's stack pointer is above ours; rbp_at: where rbp is, below the caller's; 0: it is the caller's still. */
static int64_t frame_at(uint64_t offset, int64_t *rbp_at)
{
	struct cfi_program p = { 0 };
	struct cfi_row row;

	eh_frame_each(frames.bytes, frames.writer.nr, CODE, take_program, &p);
	assert_true(cfi_row_at(&p, CODE + offset, &row));
	assert_int_equal(row.cfa.where, CFI_REGISTER);
	assert_int_equal(row.cfa.reg, CFI_RSP);
	assert_int_equal(row.reg[CFI_RETURN].where, CFI_AT);
	assert_int_equal(row.reg[CFI_RETURN].value, -8);
	*rbp_at = row.reg[6].where == CFI_AT ? row.reg[6].value : 0;
	return row.cfa.value;
}

static void expect_frame(uint64_t offset, int64_t cfa, int64_t rbp_at)
{
	int64_t rbp;

	assert_int_equal(frame_at(offset, &rbp), cfa);
	assert_int_equal(rbp, rbp_at);
}

static void a_compiled_frame_is_known_at_each_instruction(void **state)
{
	static const unsigned char code[] = {
		0x89, 0x84, 0x24, 0, 0xc0, 0xfe, 0xff, /* 0: mov [rsp - 0x14000], eax */
		0x55,				       /* 7: push rbp */
		0x48, 0x83, 0xec, 0x20,		       /* 8: sub rsp, 32 */
		0x90,				       /* 12 */
		0x48, 0x83, 0xc4, 0x20,		       /* 13: add rsp, 32 */
		0x5d,				       /* 17: pop rbp */
		0x49, 0x3b, 0xa7, 0xc3, 3, 0, 0,       /* 18: cmp rsp, [r15 + 0x3c3] */
		0x0f, 0x87, 0xc3, 0, 0, 0,	       /* 25: ja */
		0xc3,				       /* 31: ret */
		0x90,				       /* 32 */
	};

	(void)state;
	hotspot_frames_of_code(&frames, CODE, sizeof(code), 6, 12, code);
	expect_frame(0, 8, 0);
	expect_frame(7, 8, 0);
	expect_frame(8, 16, -16);
	expect_frame(12, 48, -16);
	expect_frame(13, 48, -16);
	expect_frame(17, 16, -16);
	for (uint64_t at = 18; at < 32; at++)
		expect_frame(at, 8, 0);
	expect_frame(32, 48, -16);
}

static void a_frame_of_a_later_jdk_is_known_at_each_instruction(void **state)
{
	static const unsigned char code[] = {
		0x89, 0x84, 0x24, 0, 0xc0, 0xfe, 0xff,	    /* 0: mov [rsp - 0x14000], eax */
		0x55,					    /* 7: push rbp */
		0x48, 0x8b, 0xec,			    /* 8: mov rbp, rsp */
		0x48, 0x83, 0xec, 0x20,			    /* 11: sub rsp, 32 */
		0x90,					    /* 15 */
		0x41, 0x81, 0x7f, 0x20, 1, 0, 0, 0,	    /* 16: cmp dword [r15 + 0x20], 1 */
		0x0f, 0x85, 0xe7, 0, 0, 0,		    /* 24: jne */
		0x90,					    /* 30 */
		0x48, 0x83, 0xc4, 0x20,			    /* 31: add rsp, 32 */
		0x5d,					    /* 35: pop rbp */
		0x49, 0x3b, 0x67, 0x28,			    /* 36: cmp rsp, [r15 + 0x28], as JDK 25 has it */
		0x0f, 0x87, 0x1d, 0, 0, 0,		    /* 40: ja */
		0xc3,					    /* 46: ret */
		0x90,					    /* 47 */
	};

	(void)state;
	hotspot_frames_of_code(&frames, CODE, sizeof(code), 6, 30, code);
	expect_frame(7, 8, 0);
	expect_frame(8, 16, -16);
	expect_frame(11, 16, -16);
	for (uint64_t at = 15; at < 35; at++)
		expect_frame(at, 48, -16);
	expect_frame(35, 16, -16);
	for (uint64_t at = 36; at < 47; at++)
		expect_frame(at, 8, 0);
	expect_frame(47, 48, -16);
}

static void a_frame_that_sub_makes_is_known_before_rbp_is_stored(void **state)
{
	static const unsigned char code[] = {
		0x48, 0x81, 0xec, 0x18, 0, 0, 0,       /* 0: sub rsp, 24 */
		0x48, 0x89, 0x6c, 0x24, 0x10,	       /* 7: mov [rsp + 16], rbp */
		0x48, 0x89, 0xe5,		       /* 12: mov rbp, rsp */
		0x48, 0x83, 0xc5, 0x10,		       /* 15: add rbp, 16 */
		0x90,				       /* 19 */
		0x48, 0x83, 0xc4, 0x10,		       /* 20: add rsp, 16 */
		0x5d,				       /* 24: pop rbp */
		0xc3,				       /* 25: ret */
	};

	(void)state;
	hotspot_frames_of_code(&frames, CODE, sizeof(code), 4, 19, code);
	expect_frame(0, 8, 0);
	expect_frame(7, 32, 0);
	expect_frame(12, 32, -16);
	expect_frame(15, 32, -16);
	expect_frame(19, 32, -16);
	expect_frame(24, 16, -16);
	expect_frame(25, 8, 0);
}

static void a_frame_that_makes_no_sense_is_a_leafs(void **state)
{
	(void)state;
	hotspot_frames_of_code(&frames, CODE, 16, 1, 4, NULL);
	expect_frame(8, 8, 0);
	hotspot_frames_of_code(&frames, CODE, 16, 4, 16, NULL);
	expect_frame(8, 8, 0);
}

static void frames_of_any_code_fit_their_room(void **state)
{
	static const unsigned char epilogue[] = { 0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3, 0x90, 0x90 };
	static unsigned char code[64u << 10];

	(void)state;
	for (size_t i = 0; i < sizeof(code); i++)
		code[i] = epilogue[i % sizeof(epilogue)];
	hotspot_frames_of_code(&frames, CODE, sizeof(code), 4, 4, code);
	assert_false(frames.writer.full);
	expect_frame(13, 8, 0);
	expect_frame(14, 32, -16);
}

/* ------------------------------------------------------------------------------------------------------- a method */

static uint64_t arena[ARENA_WORDS];

static uint64_t at_word(uint32_t i)
{
	return (uint64_t)(uintptr_t)&arena[i];
}

static struct hotspot_layout layout_of_arena(void)
{
	return (struct hotspot_layout){ .pid = getpid(), .major = 17, .method_const = 8, .const_pool = 8, .const_code_bytes = 32,
		.const_name = 34, .const_flags = 28, .const_bytes = 48, .pool_holder = 24, .pool_file = 54, .pool_bytes = 72,
		.class_name = 24, .class_pool = 232, .class_methods = 240, .methods_data = 8,
		.symbol_bytes = 4, .symbol_text = 6, .method_bytes = 88 };
}

static void put_symbol(uint32_t word, const char *text)
{
	uint16_t bytes = (uint16_t)strlen(text);

	memcpy((char *)&arena[word] + 4, &bytes, 2);
	memcpy((char *)&arena[word] + 6, text, bytes);
}

enum { METHOD = 8, CONST = 32, POOL = 64, CLASS = 128, NAME = 200, CLASS_NAME = 220, FILE_NAME = 240, METHODS = 260 };

/* shop.Cart.total in Cart.java, ten bytes of code: bci 0 is line 7, bci 4 line 9, bci 6 line 40. */
static void put_method(void)
{
	const uint16_t code_bytes = 10, name = 1, file = 2, flags = 1;
	static const unsigned char lines[] = { 0x07, 4 << 3 | 2, 0xff, 4, 62, 0 };
	unsigned char *const inner = (unsigned char *)&arena[CONST], *const pool = (unsigned char *)&arena[POOL];

	memset(arena, 0, sizeof(arena));
	arena[METHOD + 1] = at_word(CONST);
	arena[CONST + 1] = at_word(POOL);
	memcpy(inner + 28, &flags, 2);
	memcpy(inner + 32, &code_bytes, 2);
	memcpy(inner + 34, &name, 2);
	memcpy(inner + 48 + code_bytes, lines, sizeof(lines));
	arena[POOL + 3] = at_word(CLASS);
	memcpy(pool + 54, &file, 2);
	arena[POOL + 9 + name] = at_word(NAME);
	arena[POOL + 9 + file] = at_word(FILE_NAME);
	arena[CLASS + 3] = at_word(CLASS_NAME);
	arena[CLASS + 29] = at_word(POOL);
	arena[CLASS + 30] = at_word(METHODS);
	arena[METHODS] = 2;
	arena[METHODS + 2] = at_word(METHOD);
	put_symbol(NAME, "total");
	put_symbol(CLASS_NAME, "shop/Cart");
	put_symbol(FILE_NAME, "Cart.java");
}

static void a_method_has_a_name_a_file_and_lines(void **state)
{
	struct hotspot_layout l = layout_of_arena();
	static struct hotspot_method m;

	(void)state;
	put_method();
	assert_true(hotspot_read_method(&l, at_word(METHOD), true, &m));
	assert_string_equal(m.name, "shop.Cart.total");
	assert_string_equal(m.file, "shop/Cart.java");
	assert_int_equal(m.code, at_word(CONST) + 48);
	assert_int_equal(m.code_bytes, 10);
	assert_int_equal(m.nr_lines, 3);
	assert_int_equal(m.line[1].address - m.code, 4);
	assert_int_equal(m.line[1].number, 9);
	assert_int_equal(m.line[2].address - m.code, 6);
	assert_int_equal(m.line[2].number, 40);
	arena[CLASS + 29] = 0; /* a class whose pool is another: it is none */
	assert_false(hotspot_read_method(&l, at_word(METHOD), true, &m));
}

/* Such words are met on stacks: they had a Method's name, and 65,535 bytes that were other methods'. */
static void what_is_not_among_its_classes_methods_is_none(void **state)
{
	struct hotspot_layout l = layout_of_arena();
	static struct hotspot_method m;

	(void)state;
	put_method();
	assert_true(hotspot_is_method(&l, at_word(METHOD)));
	arena[NAME - 8] = at_word(CONST);
	assert_true(hotspot_read_method(&l, at_word(NAME - 9), true, &m));
	assert_false(hotspot_is_method(&l, at_word(NAME - 9)));
	arena[METHODS] = 1;
	assert_false(hotspot_is_method(&l, at_word(METHOD)));
	arena[METHODS] = UINT32_MAX;
	assert_false(hotspot_is_method(&l, at_word(METHOD)));
	arena[CLASS + 30] = 0;
	assert_false(hotspot_is_method(&l, at_word(METHOD)));
}

/* -------------------------------------------------------------------------------------------------------- threads */

static char thread_name[HOTSPOT_THREAD_NAME_BYTES];

static void take_thread(void *context, uint32_t tid, const char *name)
{
	++*(uint64_t *)context;
	assert_true(strlen(name) < sizeof(thread_name));
	if (tid == 77)
		strcpy(thread_name, name);
}

/* Of version 17, or of 25: fields packed, each number one higher; where "name", "value" and "coder" are: 16, 24 and 32. */
static void put_fields(uint32_t word, bool packed)
{
	static const uint16_t old[] = { 0, 1, 0, 0, 0, 0, 0, 2, 0, 0, 16 << 2 | 1, 0, 0, 3, 0, 0, 24 << 2 | 1, 0,
					0, 4, 0, 0, 32 << 2 | 1, 0 };
	static const unsigned char packed_ones[] = { 5, 1, 2, 1, 1, 1, 2, 9, 3, 1, 17, 1, 1, 4, 1, 25, 1, 5, 7, 5, 1, 33, 1, 1, 0 };
	int32_t nr = packed ? (int32_t)sizeof(packed_ones) : (int32_t)(sizeof(old) / 2);

	memcpy(&arena[word], &nr, 4);
	memcpy((char *)&arena[word] + 4, packed ? (const void *)packed_ones : (const void *)old,
	       packed ? sizeof(packed_ones) : sizeof(old));
}

static void read_thread(bool packed)
{
	struct hotspot_layout l = layout_of_arena();
	struct hotspot_heap h = { .array_nr = 12 };
	const uint32_t tid = 77, letters = 13;
	uint64_t nr = 0;

	memset(arena, 0, sizeof(arena));
	l.thread_class = l.string_class = at_word(0);
	l.class_pool = 8;
	*(packed ? &l.class_stream : &l.class_fields) = 16;
	arena[0] = at_word(2);	/* the class: its pool, its fields */
	arena[3] = at_word(10);
	arena[4] = at_word(60);
	for (uint32_t i = 1; i <= 4; i++) /* the pool, its names */
		arena[10 + 9 + i] = at_word(30 + 4 * i);
	put_symbol(34, "other");
	put_symbol(38, "name");
	put_symbol(42, "value");
	put_symbol(46, "coder");
	put_fields(60, packed);
	assert_true(hotspot_heap_find_fields(&h, &(struct hotspot_layout){ 0 }) == false);
	l.threads = at_word(80); /* the list: how many, and where they are */
	l.threads_nr = 8;
	l.threads_data = 16;
	l.thread_os = 8;
	l.thread_object = 16;
	l.os_tid = 4;
	arena[80] = at_word(82);
	arena[83] = 2;
	arena[84] = at_word(90);
	arena[90] = 0xdeadbee8;
	arena[91] = at_word(92); /* a thread: what the system has of it, and its object */
	arena[93] = at_word(96);
	arena[94] = at_word(98);
	memcpy((char *)&arena[96] + 4, &tid, 4);
	arena[98] = at_word(100);
	arena[102] = at_word(110); /* its name, a string: its letters */
	arena[113] = at_word(120);
	memcpy((char *)&arena[120] + 12, &letters, 4);
	memcpy((char *)&arena[122], "worker \xe9 done", 13);
	assert_true(hotspot_heap_find_fields(&h, &l));
	assert_int_equal(h.name, 16);
	assert_int_equal(h.value, 24);
	assert_int_equal(h.coder, 32);
	hotspot_each_thread(&h, &l, take_thread, &nr);
	assert_int_equal(nr, 1);
	assert_string_equal(thread_name, "worker \xc3\xa9 done");
	arena[114] = 1; /* the same as letters of two bytes */
	hotspot_each_thread(&h, &l, take_thread, &nr);
	assert_int_equal(nr, 2);
}

static void a_threads_name_is_read_from_the_heap(void **state)
{
	(void)state;
	read_thread(false);
	read_thread(true);
}

/* -------------------------------------------------------------------------------------------------- random memory */

static void count_place(void *context, uint64_t address, const struct hotspot_scope *scope, uint32_t nr)
{
	(void)address;
	assert_true(nr > 0 && nr <= HOTSPOT_DEPTH_MAX);
	*(uint64_t *)context += scope[nr - 1].method != 1;
}

static bool count_blob(void *context, const struct hotspot_blob *b)
{
	assert_true(b->bytes > 0 && b->bytes <= INT32_MAX);
	return ++*(uint64_t *)context < 10000;
}

/* Words are small numbers, places in the arena, or anything. */
static uint64_t random_word(void)
{
	switch (rand() % 4) {
	case 0:
		return (uint64_t)rand() % 64;
	case 1:
		return (uint64_t)(rand() % 4096) << 32 | (uint64_t)(rand() % 4096);
	case 2:
		return (uint64_t)rand() << 33 ^ (uint64_t)rand();
	default:
		return at_word((uint32_t)rand() % ARENA_WORDS);
	}
}

static void random_memory_leads_nowhere(void **state)
{
	static struct hotspot_method m;
	struct hotspot_layout l;
	struct hotspot_heap h;
	uint64_t count = 0;

	(void)state;
	srand(1);
	for (int round = 0; round < ROUNDS; round++) {
		struct hotspot_blob b = { .address = at_word((uint32_t)rand() % 1024), .start = CODE, .bytes = 4096 };
		uint64_t *words = (uint64_t *)&l;

		for (uint32_t i = 0; i < ARENA_WORDS; i++)
			arena[i] = random_word();
		memset(&l, 0, sizeof(l));
		for (size_t i = 1; i < sizeof(l) / 8; i++)
			words[i] = 8 * ((uint64_t)rand() % 24);
		l.pid = getpid();
		l.major = rand() % 2 ? 17 : 25;
		l.block_bytes = rand() % 2 ? 8 : 16;
		l.blob_bytes = 256;
		l.heaps = at_word(0);
		l.has_code_begin = rand() % 2;
		hotspot_read_method(&l, at_word((uint32_t)rand() % 1024), true, &m);
		hotspot_is_method(&l, at_word((uint32_t)rand() % 1024));
		hotspot_each_place(&l, &b, count_place, &count);
		hotspot_each_blob(&l, count_blob, &count);
		l.thread_os = 8;
		l.threads = l.thread_class = l.string_class = at_word(0);
		*(rand() % 2 ? &l.class_fields : &l.class_stream) = 0;
		hotspot_heap_find_fields(&h, &l);
		h = (struct hotspot_heap){ .base = at_word(0), .is_narrow = rand() % 2, .name = 8, .value = 16, .coder = 24,
					   .array_nr = 8 };
		hotspot_each_thread(&h, &l, take_thread, &count);
	}
}

static void expect_compilation(const struct hotspot_compilation *k, uint64_t from_ns, uint64_t to_ns)
{
	assert_int_equal(k->from_ns, from_ns);
	assert_int_equal(k->to_ns, to_ns);
}

static void a_compilation_ends_after_it_begins_in_whatever_order_samples_come(void **state)
{
	struct hotspot_compilation none = { 0 }, k = { .method = 8, .from_ns = 5000, .to_ns = 5000 };

	(void)state;
	assert_false(hotspot_compilation_has(&none, 8, 5000));
	assert_true(hotspot_compilation_has(&k, 8, 4000));
	expect_compilation(&k, 4000, 5000);
	assert_true(hotspot_compilation_has(&k, 8, 4500));
	expect_compilation(&k, 4000, 5000);
	assert_true(hotspot_compilation_has(&k, 8, 6000));
	assert_true(hotspot_compilation_has(&k, 16, 3000)); /* of the one before */
	expect_compilation(&k, 4000, 6000);
	assert_false(hotspot_compilation_has(&k, 16, 7000));
	assert_false(hotspot_compilation_has(&k, 8, 6001 + HOTSPOT_PAUSE_NS));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_compiled_frame_is_known_at_each_instruction),
		cmocka_unit_test(a_frame_of_a_later_jdk_is_known_at_each_instruction),
		cmocka_unit_test(a_frame_that_sub_makes_is_known_before_rbp_is_stored),
		cmocka_unit_test(a_frame_that_makes_no_sense_is_a_leafs),
		cmocka_unit_test(frames_of_any_code_fit_their_room),
		cmocka_unit_test(a_method_has_a_name_a_file_and_lines),
		cmocka_unit_test(what_is_not_among_its_classes_methods_is_none),
		cmocka_unit_test(a_threads_name_is_read_from_the_heap),
		cmocka_unit_test(random_memory_leads_nowhere),
		cmocka_unit_test(a_compilation_ends_after_it_begins_in_whatever_order_samples_come),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
