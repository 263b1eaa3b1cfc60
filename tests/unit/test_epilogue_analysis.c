/* SPDX-License-Identifier: MIT */
/*
 * epilogue_analysis.c: rows by hand, and those of whole programs against what their compilers wrote into .eh_frame, where the analysis
 * knows of no function where it begins or ends.  As `test_epilogue_analysis FILE...` it compares those files, and prints what differs.
 */
#include "tests/unit/unit.h"

#include "analyzer/symbols/elf_object.h"
#include "analyzer/symbols/insn.h"
#include "analyzer/unwind/eh_frame.h"
#include "analyzer/unwind/epilogue_analysis.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* -------------------------------------------------------------------------------------------------------- comparing */

#define NR_SAVED 6
static const uint8_t saved_register[NR_SAVED] = { 3, 6, 12, 13, 14, 15 };

struct comparison {
	struct elf_object *elf;
	struct elf_section frames;
	uint64_t every; /* of so many instructions one */
	uint64_t instructions, rows, agree, incomparable, wrong_frame, wrong_place;
	uint64_t last_printed; /* a function */
	int to_print;
};

static void differ(struct comparison *c, uint64_t address, uint64_t start, const char *what, int reg, int64_t told, int64_t read)
{
	if (c->last_printed == start || c->to_print == 0)
		return;
	c->last_printed = start;
	c->to_print--;
	printf("  %#" PRIx64 " (of %#" PRIx64 "): %s of %d: told %" PRId64 ", read %" PRId64 "\n", address, start, what, reg, told, read);
}

static bool are_places_right(struct comparison *c, const struct cfi_row *told, const struct cfi_row *row, uint64_t address, uint64_t start)
{
	for (unsigned i = 0; i < NR_SAVED; i++) {
		const struct cfi_place *t = &told->reg[saved_register[i]], *r = &row->reg[saved_register[i]];

		/* what is told is only due when the register changes */
		if (r->where == CFI_AT && t->where != CFI_SAME && (t->where != CFI_AT || t->value != r->value)) {
			c->wrong_place++;
			differ(c, address, start, "place", saved_register[i], t->where == CFI_AT ? t->value : 0, r->value);
			return false;
		}
	}
	return true;
}

static void compare_at(struct comparison *c, const struct elf_section *text, const struct cfi_program *p, uint64_t address)
{
	struct cfi_row told, row;

	c->instructions++;
	if (!cfi_row_at(p, address, &told) || told.cfa.where != CFI_REGISTER)
		return;
	if (!epilogue_analysis_row(text->data, text->bytes, address - text->address, false, &row))
		return;
	c->rows++;
	if (told.cfa.reg != row.cfa.reg) { /* both lead to the frame, perhaps */
		c->incomparable++;
		return;
	}
	if (told.cfa.value != row.cfa.value) {
		c->wrong_frame++;
		differ(c, address, p->start, "frame", (int)told.cfa.reg, told.cfa.value, row.cfa.value);
		return;
	}
	c->agree += are_places_right(c, &told, &row, address, p->start);
}

static bool compare_function(void *context, const struct eh_frame_fde *f)
{
	struct comparison *c = context;
	struct elf_section text;
	struct cfi_program p;
	uint64_t n = 0;

	if (!eh_frame_read_program(c->frames.data, c->frames.bytes, c->frames.address, f->offset, &p) || p.signal_frame)
		return true;
	for (size_t i = 0; elf_get_text(c->elf, i, &text); i++) {
		if (!text.data || p.start - text.address >= text.bytes || p.bytes > text.bytes - (p.start - text.address))
			continue;
		for (uint64_t offset = 0; offset < p.bytes; n++) {
			struct insn_step step;
			const unsigned char *at = (const unsigned char *)text.data + (p.start - text.address) + offset;

			if (!insn_read_step(at, p.bytes - offset, offset, &step))
				break;
			if ((n + f->offset) % c->every == 0 && !step.nothing)
				compare_at(c, &text, &p, p.start + offset);
			offset += step.bytes;
		}
	}
	return true;
}

static bool compare_file(const char *path, struct comparison *c)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *data;
	bool found;

	if (fd < 0 || fstat(fd, &st))
		return false;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (data == MAP_FAILED || elf_object_create((uint64_t)st.st_size, NULL, &c->elf, NULL))
		return false;
	elf_object_add_part(c->elf, 0, data, (size_t)st.st_size);
	found = elf_object_open(c->elf, NULL) == 0 && elf_find_section(c->elf, ".eh_frame", &c->frames) && c->frames.data;
	if (found)
		eh_frame_each(c->frames.data, c->frames.bytes, c->frames.address, compare_function, c);
	elf_object_destroy(c->elf);
	munmap(data, (size_t)st.st_size);
	return found;
}

static void print(const char *path, const struct comparison *c)
{
	printf("%s: %" PRIu64 " instructions, rows for %" PRIu64 "; the same %" PRIu64 ", incomparable %" PRIu64 ", wrong frame %" PRIu64
	       ", wrong place %" PRIu64 "\n",
	       path, c->instructions, c->rows, c->agree, c->incomparable, c->wrong_frame, c->wrong_place);
}

/* ---------------------------------------------------------------------------------------------------- whole programs */

static void rows_are_those_that_compilers_wrote(void **state)
{
	static const char *const path[] = { "/proc/self/exe", "/lib/x86_64-linux-gnu/libc.so.6" };

	(void)state;
	for (size_t i = 0; i < sizeof(path) / sizeof(path[0]); i++) {
		struct comparison c = { .to_print = 10, .every = i ? 29 : 3 };

		if (!compare_file(path[i], &c))
			continue;
		print("FIGURE rows read forwards", &c);
		assert_true(c.rows * 100 >= c.instructions * 85); /* 89 of code in which sanitizers' reports stand, which do not return */
		assert_true((c.wrong_frame + c.wrong_place) * 500 <= c.rows);
	}
}

/* ------------------------------------------------------------------------------------------------------------ by hand */

#define ROW_OF(bytes, offset, row) epilogue_analysis_row(bytes, sizeof(bytes), offset, false, row)

static void assert_cfa(const struct cfi_row *row, uint32_t reg, int64_t value)
{
	assert_int_equal(row->cfa.where, CFI_REGISTER);
	assert_int_equal(row->cfa.reg, reg);
	assert_int_equal(row->cfa.value, value);
	assert_int_equal(row->reg[CFI_RETURN].where, CFI_AT);
	assert_int_equal(row->reg[CFI_RETURN].value, -8);
}

static void a_frame_is_as_large_as_what_is_left_of_the_function_takes_off(void **state)
{
	/* push rbx; sub rsp, 16; xor ebx, ebx; add rsp, 16; pop rbx; ret */
	static const unsigned char code[] = { 0x53, 0x48, 0x83, 0xec, 0x10, 0x31, 0xdb, 0x48, 0x83, 0xc4, 0x10, 0x5b, 0xc3 };
	struct cfi_row row;

	(void)state;
	assert_true(ROW_OF(code, 0, &row));
	assert_cfa(&row, CFI_RSP, 8);
	assert_int_equal(row.reg[3].where, CFI_SAME);
	assert_true(ROW_OF(code, 5, &row));
	assert_cfa(&row, CFI_RSP, 32);
	assert_int_equal(row.reg[3].where, CFI_AT);
	assert_int_equal(row.reg[3].value, -16);
	assert_true(ROW_OF(code, 12, &row));
	assert_cfa(&row, CFI_RSP, 8);
	assert_int_equal(row.reg[3].where, CFI_SAME);
	assert_false(ROW_OF(code, 13, &row));
}

static void a_frame_pointer_that_is_taken_back_leads_to_the_frame(void **state)
{
	/* push rbp; mov rbp, rsp; and rsp, -8; nop; leave; ret */
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xe4, 0xf8, 0x90, 0xc9, 0xc3 };
	struct cfi_row row;

	(void)state;
	assert_true(ROW_OF(code, 8, &row));
	assert_cfa(&row, 6, 16);
	assert_int_equal(row.reg[6].where, CFI_AT);
	assert_int_equal(row.reg[6].value, -16);
}

static void behind_a_call_that_does_not_return_is_another_function(void **state)
{
	/* test edi, edi; je 1f; call far away; (another function) push rbx; nop; pop rbx; ret; 1: add rsp, 24; ret */
	static const unsigned char code[] = { 0x85, 0xff, 0x74, 0x09, 0xe8, 0,	  0,	1,    0,
					      0x53, 0x90, 0x5b, 0xc3, 0x48, 0x83, 0xc4, 0x18, 0xc3 };
	struct cfi_row row;

	(void)state;
	assert_true(ROW_OF(code, 0, &row));
	assert_cfa(&row, CFI_RSP, 32);
}

static void a_jump_by_a_table_leads_to_what_stands_behind_it(void **state)
{
	/* jmp rax; nop; add rsp, 8; pop rbx; ret */
	static const unsigned char code[] = { 0xff, 0xe0, 0x90, 0x48, 0x83, 0xc4, 0x08, 0x5b, 0xc3 };
	struct cfi_row row;

	(void)state;
	assert_true(ROW_OF(code, 0, &row));
	assert_cfa(&row, CFI_RSP, 24);
}

static void a_jump_out_of_the_code_leaves_a_frame_that_is_gone(void **state)
{
	/* nop; add rsp, 8; jmp far away */
	static const unsigned char code[] = { 0x90, 0x48, 0x83, 0xc4, 0x08, 0xe9, 0, 0, 1, 0 };
	/* nop; add rsp, 8; jmp rax */
	static const unsigned char by_register[] = { 0x90, 0x48, 0x83, 0xc4, 0x08, 0xff, 0xe0 };
	struct cfi_row row;

	(void)state;
	assert_true(ROW_OF(code, 0, &row));
	assert_cfa(&row, CFI_RSP, 16);
	assert_true(ROW_OF(by_register, 0, &row));
	assert_cfa(&row, CFI_RSP, 16);
}

static void code_that_never_returns_has_no_row(void **state)
{
	static const unsigned char loop[] = { 0x90, 0xeb, 0xfd }, data[] = { 0, 0, 0, 0, 0, 0 }, trap[] = { 0x90, 0x0f, 0x0b, 0xc3 };
	struct cfi_row row;

	(void)state;
	assert_false(ROW_OF(loop, 0, &row));
	assert_false(ROW_OF(data, 0, &row));
	assert_false(ROW_OF(trap, 0, &row));
	assert_false(ROW_OF(trap, 4, &row));
	assert_false(ROW_OF(trap, UINT64_MAX, &row));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_those_that_compilers_wrote),
		cmocka_unit_test(a_frame_is_as_large_as_what_is_left_of_the_function_takes_off),
		cmocka_unit_test(a_frame_pointer_that_is_taken_back_leads_to_the_frame),
		cmocka_unit_test(behind_a_call_that_does_not_return_is_another_function),
		cmocka_unit_test(a_jump_by_a_table_leads_to_what_stands_behind_it),
		cmocka_unit_test(a_jump_out_of_the_code_leaves_a_frame_that_is_gone),
		cmocka_unit_test(code_that_never_returns_has_no_row),
	};

	for (int i = 1; i < argc; i++) {
		struct comparison c = { .to_print = 40, .every = 97 };

		if (!compare_file(argv[i], &c))
			printf("%s: not an ELF file with .eh_frame\n", argv[i]);
		else
			print(argv[i], &c);
	}
	return argc > 1 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
