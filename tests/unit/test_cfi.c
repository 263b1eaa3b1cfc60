/* SPDX-License-Identifier: MIT */
/* Call-frame information made by hand: what is read of it, what is refused before libunwind sees it, and walks by it. */
#include "tests/unit/unit.h"

#include "analyzer/unwind/cfi.h"
#include "analyzer/unwind/debug_frame.h"
#include "analyzer/unwind/eh_frame.h"
#include "analyzer/unwind/textrel.h"
#include "analyzer/unwind/unwind.h"

#include <stdlib.h>
#include <string.h>

#define FRAMES 0x500000ull /* where the section lies */
#define CODE 0x10000ull	   /* what its first FDE describes; each has CODE_BYTES */
#define CODE_BYTES 0x100ull
#define STACK 0x7ffd00000000ull

static unsigned char section[1024];
static size_t section_bytes, cie_at;

static void put(const void *bytes, size_t nr)
{
	memcpy(section + section_bytes, bytes, nr);
	section_bytes += nr;
}

static void put_u32(uint32_t v)
{
	put(&v, 4);
}

/* Length first; what follows is up to end_entry(). */
static size_t begin_entry(uint32_t id)
{
	size_t at = section_bytes;

	put_u32(0);
	put_u32(id);
	return at;
}

static void end_entry(size_t at)
{
	uint32_t bytes = (uint32_t)(section_bytes - at - 4);

	memcpy(section + at, &bytes, 4);
}

/* "zR", addresses absolute; the CFA is rsp + 8, the return address below it. */
static void put_cie(unsigned char return_register)
{
	const unsigned char body[] = { 1, 'z', 'R', 0, 1, 0x78, return_register, 1, 0, 0x0c, 7, 8, 0x90, 1 };

	cie_at = begin_entry(0);
	put(body, sizeof(body));
	end_entry(cie_at);
}

static void put_fde(uint64_t start, const void *program, size_t bytes)
{
	size_t at = section_bytes;
	uint64_t code_bytes = CODE_BYTES;

	begin_entry((uint32_t)(at + 4 - cie_at));
	put(&start, 8);
	put(&code_bytes, 8);
	put("", 1); /* no augmentation data */
	put(program, bytes);
	end_entry(at);
}

static int set_up(void **state)
{
	(void)state;
	section_bytes = 0;
	put_cie(16);
	return 0;
}

static bool count(void *context, const struct eh_frame_fde *f)
{
	(void)f;
	++*(int *)context;
	return true;
}

static int count_of(const void *frames, size_t bytes)
{
	int n = 0;

	eh_frame_each(frames, bytes, FRAMES, count, &n);
	return n;
}

static bool keep_last(void *context, const struct eh_frame_fde *f)
{
	*(struct eh_frame_fde *)context = *f;
	return true;
}

static void each_entry_says_which_code_it_describes(void **state)
{
	struct eh_frame_fde f = { 0 };

	(void)state;
	put_fde(CODE, "", 0);
	put_u32(0); /* a terminator between what a linker put together */
	put_fde(CODE + CODE_BYTES, "\x0f\x02\x77\x10", 4);
	assert_int_equal(count_of(section, section_bytes), 2);
	eh_frame_each(section, section_bytes, FRAMES, keep_last, &f);
	assert_int_equal(f.start, CODE + CODE_BYTES);
	assert_int_equal(f.bytes, CODE_BYTES);
	assert_true(f.expressions);
}

static void bytes_cut_anywhere_are_read_up_to_the_cut(void **state)
{
	(void)state;
	put_fde(CODE, "\x0e\x10", 2);
	put_fde(CODE + CODE_BYTES, "\x0e\x10", 2);
	for (size_t n = 0; n <= section_bytes; n++) {
		unsigned char *cut = guarded(section, n);
		int nr = count_of(cut, n);

		assert_uint_in_range(nr, n == section_bytes ? 2 : 0, n == section_bytes ? 2 : 1);
		guarded_free(cut, n);
	}
}

#define SAFE(program) (expressions = false, cfi_is_safe((const unsigned char *)(program), sizeof(program) - 1, &expressions))

static void programs_of_compilers_are_accepted(void **state)
{
	bool expressions;

	(void)state;
	assert_true(SAFE("\x41\x0e\x10\x86\x02\x43\x0d\x06\x02\x7b\x0c\x07\x08"));
	assert_false(expressions);
	/* a linker's for .plt: rsp + 8 + ((rip & 15) >= 11) * 8 */
	assert_true(SAFE("\x0e\x10\x46\x0e\x18\x4a\x0f\x0b\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"));
	assert_true(expressions);
	/* glibc's for the return from a signal handler: *(rsp + 160) */
	assert_true(SAFE("\x0f\x04\x77\xa0\x01\x06\x10\x10\x03\x77\xa8\x01"));
	assert_true(SAFE(""));
}

static void registers_that_are_none_are_refused(void **state)
{
	bool expressions;

	(void)state;
	assert_true(SAFE("\x09\x03\x06"));		/* rbx is kept in rbp */
	assert_false(SAFE("\x09\x00\xbf\xf1\x10"));	/* rax is kept in register 276671 */
	assert_false(SAFE("\x09\x00\x11"));
	assert_false(SAFE("\x91\x01"));
	assert_false(SAFE("\xd1"));
	assert_false(SAFE("\x0d\x11"));
	assert_false(SAFE("\x10\x03\x02\x92\x40"));	/* DW_OP_bregx */
}

static void expressions_that_may_loop_or_trap_are_refused(void **state)
{
	bool expressions;

	(void)state;
	assert_false(SAFE("\x0f\x04\x30\x2f\xfc\xff"));	/* skip, to itself */
	assert_false(SAFE("\x0f\x05\x30\x30\x28\xfb\xff")); /* branch */
	assert_false(SAFE("\x0f\x03\x31\x30\x1b"));	/* 1 / 0 */
	assert_false(SAFE("\x0f\x01\x06"));		/* dereferences what is not there */
	assert_false(SAFE("\x0f\x00"));			/* an empty one has no value */
	assert_true(SAFE("\x10\x03\x01\x06"));		/* here the CFA is */
	assert_false(SAFE("\x0f\x7f\x77"));		/* longer than the program */
	assert_false(SAFE("\x3f"));
}

static void entries_that_libunwind_must_not_see_are_left_out(void **state)
{
	(void)state;
	put_fde(CODE, "\x09\x00\xbf\xf1\x10", 5);
	put_fde(CODE + CODE_BYTES, "\x0e\x10", 2);
	assert_int_equal(count_of(section, section_bytes), 1);
	section_bytes = 0;
	put_cie(17); /* the return address is in no register of ours */
	put_fde(CODE, "", 0);
	assert_int_equal(count_of(section, section_bytes), 0);
}

/* -------------------------------------------------------------------------------------------------------------- rows */

static struct cfi_row row_of(const char *program, size_t bytes, uint64_t offset)
{
	static const unsigned char initial[] = { 0x0c, 7, 8, 0x90, 1 };
	const unsigned char *at = (const unsigned char *)program;
	struct cfi_program p = { CODE, CODE_BYTES, 1, -8, initial, initial + sizeof(initial), at, at + bytes, false };
	struct cfi_row row;

	assert_true(cfi_row_at(&p, CODE + offset, &row));
	return row;
}

#define ROW(program, offset) row_of(program, sizeof(program) - 1, offset)

static void a_row_is_of_its_address(void **state)
{
	/* push %rbp; mov %rsp, %rbp; push %rbx; ...; pop both; ret */
	static const char program[] = "\x41\x0e\x10\x86\x02\x43\x0d\x06\x41\x83\x03\x48\x0a\x0c\x07\x08\x41\x0b";
	struct cfi_row row = ROW(program, 0);

	(void)state;
	assert_int_equal(row.cfa.reg, 7);
	assert_int_equal(row.cfa.value, 8);
	assert_int_equal(row.reg[6].where, CFI_SAME);
	assert_int_equal(row.reg[16].where, CFI_AT);
	assert_int_equal(row.reg[16].value, -8);
	assert_false(row.lowered);
	row = ROW(program, 1);
	assert_int_equal(row.cfa.value, 16);
	assert_int_equal(row.reg[6].value, -16);
	row = ROW(program, 4);
	assert_int_equal(row.cfa.reg, 6);
	assert_int_equal(row.cfa.value, 16);
	assert_int_equal(row.reg[3].where, CFI_SAME);
	row = ROW(program, 5);
	assert_int_equal(row.reg[3].value, -24);
	row = ROW(program, 13); /* remembered, and the stack is as at the beginning */
	assert_int_equal(row.cfa.reg, 7);
	assert_int_equal(row.cfa.value, 8);
	assert_true(row.lowered);
	row = ROW(program, 14); /* restored */
	assert_int_equal(row.cfa.reg, 6);
	assert_int_equal(row.cfa.value, 16);
}

static void a_register_is_restored_to_what_the_common_part_says(void **state)
{
	struct cfi_row row = ROW("\x41\x07\x10\x83\x02\x41\xd0\xc3", 1);

	(void)state;
	assert_int_equal(row.reg[16].where, CFI_UNDEFINED);
	assert_int_equal(row.reg[3].where, CFI_AT);
	row = ROW("\x41\x07\x10\x83\x02\x41\xd0\xc3", 2);
	assert_int_equal(row.reg[16].where, CFI_AT);
	assert_int_equal(row.reg[3].where, CFI_SAME);
}

static bool read_word(void *context, uint64_t address, uint64_t *word)
{
	*word = address + 1;
	return address < *(uint64_t *)context;
}

static uint64_t evaluated(const char *expression, size_t bytes, bool *fits)
{
	static const uint64_t registers[CFI_REGISTERS] = { [7] = 0x1000, [16] = 0x2b };
	uint64_t limit = 0x2000, cfa = 0x3000, value = 0;
	struct cfi_machine m = { registers, 1u << 7 | 1u << 16, read_word, &limit };
	const unsigned char *at = (const unsigned char *)expression;

	*fits = cfi_evaluate(at, at + bytes, &cfa, &m, &value);
	return value;
}

#define EVALUATED(expression) evaluated(expression, sizeof(expression) - 1, &fits)

static void expressions_have_the_value_that_the_standard_says(void **state)
{
	bool fits;

	(void)state;
	assert_int_equal(EVALUATED("\x77\x08\x80\x00\x3f\x1a\x3b\x2a\x33\x24\x22"), 0x1010); /* .plt's, behind its push */
	assert_int_equal(EVALUATED("\x77\x78"), 0xff8); /* rsp - 8 */
	assert_int_equal(EVALUATED("\x77\xa0\x01\x06"), 0x10a1); /* *(rsp + 160) */
	assert_int_equal(EVALUATED("\x0d\xfe\xff\xff\xff\x0b\xff\xff\x1e"), 2); /* -2 * -1 */
	assert_int_equal(EVALUATED("\x09\x80\x33\x26"), (uint64_t)-16); /* -128 >> 3 */
	assert_int_equal(EVALUATED("\x23\x10"), 0x3010); /* the CFA was there */
	assert_int_equal(EVALUATED("\x0e\x11\x22\x33\x44\x55\x66\x77\x08\x20\x1f"), 0x0877665544332212);
	assert_true(fits);
	EVALUATED("\x70\x00"); /* rax is not known */
	assert_false(fits);
	EVALUATED("\x0a\x00\x70\x06"); /* nor is what lies at 0x7000 */
	assert_false(fits);
	EVALUATED("\x94\x09");
	assert_false(fits);
}

/* As PHP hands it to debuggers: addresses count from the code. */
static void addresses_that_count_from_the_code_are_resolved(void **state)
{
	static const unsigned char cie[] = { 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x23, 0x0c, 7, 8, 0x90, 1, 0, 0 };
	struct eh_frame_fde last = { 0 };
	struct cfi_program p;
	unsigned char *made;
	size_t fde;

	(void)state;
	section_bytes = 0;
	cie_at = begin_entry(0);
	put(cie, sizeof(cie));
	end_entry(cie_at);
	for (uint32_t i = 0; i < 2; i++) {
		fde = begin_entry((uint32_t)(section_bytes + 4 - cie_at));
		put_u32(i * (uint32_t)CODE_BYTES);
		put_u32((uint32_t)CODE_BYTES);
		put("\0\x0e\x20\0", 4);
		end_entry(fde);
	}
	assert_int_equal(count_of(section, section_bytes), 0);
	made = textrel_resolve(section, section_bytes, FRAMES, CODE);
	assert_non_null(made);
	assert_int_equal(count_of(made, section_bytes), 2);
	eh_frame_each(made, section_bytes, FRAMES, keep_last, &last);
	assert_int_equal(last.start, CODE + CODE_BYTES);
	assert_int_equal(last.bytes, CODE_BYTES);
	assert_true(eh_frame_read_program(made, section_bytes, FRAMES, last.offset, &p));
	/* once is enough */
	assert_null(textrel_resolve(made, section_bytes, FRAMES, CODE));
	free(made);
	for (size_t n = 0; n < section_bytes; n++) { /* cut anywhere */
		unsigned char *cut = guarded(section, n);

		made = textrel_resolve(cut, n, FRAMES, CODE);
		assert_uint_in_range(made ? count_of(made, n) : 0, 0, 1);
		free(made);
		guarded_free(cut, n);
	}
}

/* A .debug_frame: one CIE of version 4, one of version 1, an FDE each, and one whose CIE has an augmentation. */
static void other_sections_say_the_same(void **state)
{
	static const unsigned char version4[] = { 4, 0, 8, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1 };
	static const unsigned char version1[] = { 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0 };
	static const unsigned char augmented[] = { 1, 'e', 'h', 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1 };
	const struct { const unsigned char *cie; size_t bytes; } entry[] = {
		{ version4, sizeof(version4) }, { version1, sizeof(version1) }, { augmented, sizeof(augmented) } };
	struct elf_section debug_frame = { .data = section };
	struct eh_frame_fde last = { 0 };
	struct cfi_program p;
	struct cfi_row row;
	unsigned char *made;
	uint64_t bytes = 0;

	(void)state;
	section_bytes = 0;
	for (uint64_t i = 0; i < 3; i++) {
		size_t cie = begin_entry(0xffffffff), fde;
		uint64_t start = CODE + i * CODE_BYTES, code_bytes = CODE_BYTES;

		put(entry[i].cie, entry[i].bytes);
		end_entry(cie);
		fde = begin_entry((uint32_t)cie);
		put(&start, 8);
		put(&code_bytes, 8);
		put("\x0e\x20", 2);
		end_entry(fde);
	}
	debug_frame.bytes = section_bytes;
	made = debug_frame_append(NULL, &bytes, &debug_frame);
	assert_non_null(made);
	assert_int_equal(count_of(made, bytes), 2);
	eh_frame_each(made, bytes, FRAMES, keep_last, &last);
	assert_int_equal(last.start, CODE + CODE_BYTES);
	assert_true(eh_frame_read_program(made, bytes, FRAMES, last.offset, &p));
	assert_true(cfi_row_at(&p, last.start, &row));
	assert_int_equal(row.cfa.value, 0x20);
	assert_int_equal(row.reg[16].value, -8);
	free(made);
	/* behind another section's entries */
	bytes = 0;
	made = debug_frame_append(NULL, &bytes, &debug_frame);
	{
		uint64_t both = bytes;
		unsigned char *twice = debug_frame_append(made, &both, &debug_frame);

		assert_int_equal(count_of(twice, both), 4);
		free(twice);
	}
	free(made);
	for (size_t n = 0; n < section_bytes; n++) { /* cut anywhere */
		unsigned char *cut = guarded(section, n);

		debug_frame = (struct elf_section){ .bytes = n, .data = cut };
		bytes = 0;
		made = debug_frame_append(NULL, &bytes, &debug_frame);
		assert_uint_in_range(count_of(made, bytes), 0, 2);
		free(made);
		guarded_free(cut, n);
	}
}

/* ------------------------------------------------------------------------------------------------------------- walks */

static void find(void *context, uint64_t address, struct unwind_object *out)
{
	(void)context;
	*out = (struct unwind_object){ .start = CODE, .end = CODE + 4 * CODE_BYTES, .key = 1, .until_ns = UINT64_MAX };
	if (address - CODE < 4 * CODE_BYTES) {
		out->eh_frame = section;
		out->eh_frame_bytes = section_bytes;
		out->eh_frame_address = FRAMES;
		out->code = true;
	}
}

static enum unwind_way way;
static uint64_t ips[8];
static int nr_ips;

static bool on_frame(void *context, const struct unwind_frame *f)
{
	(void)context;
	assert_int_equal(f->depth, nr_ips);
	ips[nr_ips++] = f->ip;
	return nr_ips < 8;
}

static enum unwind_end walk(struct unwinder *u, const uint64_t *stack, size_t words)
{
	struct unwind_space space = { .find = find, .generation = 1 };
	struct unwind_input input = { .stack = (const unsigned char *)stack, .stack_bytes = words * 8 };

	input.registers.known = (1u << UNWIND_REGISTERS) - 1;
	input.registers.value[UNWIND_RSP] = STACK;
	input.registers.value[UNWIND_RIP] = CODE + 0x10;
	nr_ips = 0;
	return unwind_walk(u, &space, &input, on_frame, NULL);
}

static const uint64_t whole_stack[] = { 0xaaaa, CODE + CODE_BYTES + 0x20, 0 };

static void a_stack_is_walked_to_its_end(void **state)
{
	struct unwinder *u;

	(void)state;
	put_fde(CODE, "\x0e\x10", 2); /* the CFA is rsp + 16 */
	put_fde(CODE + CODE_BYTES, "", 0);
	assert_int_equal(unwinder_create(way, &u, NULL), 0);
	assert_int_equal(walk(u, whole_stack, 3), UNWIND_COMPLETE);
	assert_int_equal(nr_ips, 2);
	assert_int_equal(ips[1], CODE + CODE_BYTES + 0x20);
	assert_int_equal(walk(u, whole_stack, 2), UNWIND_TRUNCATED);
	assert_int_equal(nr_ips, 2);
	unwinder_destroy(u);
}

static void code_without_information_ends_the_walk(void **state)
{
	static const uint64_t stack[] = { 0xaaaa, CODE + 2 * CODE_BYTES + 1, 0, 0 };
	struct unwinder *u;

	(void)state;
	put_fde(CODE, "\x0e\x10", 2);
	assert_int_equal(unwinder_create(way, &u, NULL), 0);
	assert_int_equal(walk(u, stack, 4), UNWIND_NO_INFO);
	assert_int_equal(nr_ips, 2);
	unwinder_destroy(u);
}

static void an_expression_is_not_read_from_a_cache(void **state)
{
	struct unwinder *u;

	(void)state;
	put_fde(CODE, "\x0f\x02\x77\x10", 4); /* the same CFA, as an expression */
	put_fde(CODE + CODE_BYTES, "", 0);
	assert_int_equal(unwinder_create(way, &u, NULL), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(walk(u, whole_stack, 3), UNWIND_COMPLETE);
		assert_int_equal(nr_ips, 2);
		assert_int_equal(ips[1], CODE + CODE_BYTES + 0x20);
	}
	unwinder_destroy(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(each_entry_says_which_code_it_describes, set_up),
		cmocka_unit_test_setup(bytes_cut_anywhere_are_read_up_to_the_cut, set_up),
		cmocka_unit_test(programs_of_compilers_are_accepted),
		cmocka_unit_test(registers_that_are_none_are_refused),
		cmocka_unit_test(expressions_that_may_loop_or_trap_are_refused),
		cmocka_unit_test(a_row_is_of_its_address),
		cmocka_unit_test(a_register_is_restored_to_what_the_common_part_says),
		cmocka_unit_test(expressions_have_the_value_that_the_standard_says),
		cmocka_unit_test_setup(addresses_that_count_from_the_code_are_resolved, set_up),
		cmocka_unit_test_setup(other_sections_say_the_same, set_up),
		cmocka_unit_test_setup(entries_that_libunwind_must_not_see_are_left_out, set_up),
		cmocka_unit_test_setup(a_stack_is_walked_to_its_end, set_up),
		cmocka_unit_test_setup(code_without_information_ends_the_walk, set_up),
		cmocka_unit_test_setup(an_expression_is_not_read_from_a_cache, set_up),
	};

	int failed = cmocka_run_group_tests_name("memo", tests, NULL, NULL);

	way = UNWIND_LIBUNWIND;
	return failed + cmocka_run_group_tests_name("libunwind", tests, NULL, NULL);
}
