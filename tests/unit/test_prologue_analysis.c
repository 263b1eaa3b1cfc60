/* SPDX-License-Identifier: MIT */
/*
 * prologue_analysis.c: rows by hand, and those of whole programs against what their compilers wrote into .eh_frame, at every
 * instruction.  As `test_prologue_analysis FILE...` it compares those files, and prints what differs.
 */
#include "tests/unit/unit.h"

#include "analyzer/symbols/elf_object.h"
#include "analyzer/unwind/eh_frame.h"
#include "analyzer/unwind/prologue_analysis.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* -------------------------------------------------------------------------------------------------------- comparing */

static const uint8_t saved_register[CODE_NR_SAVED] = { 3, 6, 12, 13, 14, 15 };

struct comparison {
	struct elf_object *elf;
	struct elf_section frames;
	uint64_t functions, bytes, instructions; /* that ways lead to */
	uint64_t rows, agree, incomparable; /* rows: that there are */
	uint64_t wrong_cfa, wrong_saved, unknown_saved, not_understood;
	uint64_t last_printed; /* a function */
	int to_print;
};

/* Once a function. */
static void differ(struct comparison *c, uint64_t address, uint64_t start, const char *what, int reg, int64_t told, int64_t read)
{
	if (c->last_printed == start || c->to_print == 0)
		return;
	c->last_printed = start;
	c->to_print--;
	printf("  %#" PRIx64 " (of %#" PRIx64 "): %s of %d: told %" PRId64 ", read %" PRId64 "\n", address, start, what, reg, told, read);
}

/* The registers that calls preserve: does what was told agree with what was read? */
static bool compare_saved(struct comparison *c, const struct cfi_row *told, const struct cfi_row *row, uint64_t address, uint64_t start)
{
	for (unsigned i = 0; i < CODE_NR_SAVED; i++) {
		const struct cfi_place *t = &told->reg[saved_register[i]], *r = &row->reg[saved_register[i]];

		if (r->where == CFI_UNDEFINED)
			c->unknown_saved++;
		else if (r->where == CFI_AT && (t->where != CFI_AT || t->value != r->value)) {
			c->wrong_saved++;
			differ(c, address, start, "place", saved_register[i], t->where == CFI_AT ? t->value : 0, r->value);
			return false;
		}
	}
	return true;
}

static void compare_at(struct comparison *c, const struct prologue_rows *rows, const struct cfi_program *p, uint64_t offset)
{
	struct code_state state;
	struct cfi_row told, row;

	if (!prologue_rows_state(rows, offset, &state))
		return;
	c->instructions++;
	if (!prologue_rows_find(rows, offset, &row) || !cfi_row_at(p, p->start + offset, &told))
		return;
	c->rows++;
	if (told.cfa.where != CFI_REGISTER || told.cfa.reg >= 16 || state.reg[told.cfa.reg] == CODE_UNKNOWN ||
	    state.reg[told.cfa.reg] == CODE_CALLERS) {
		c->incomparable++;
	} else if (state.reg[told.cfa.reg] != -told.cfa.value) {
		c->wrong_cfa++;
		differ(c, p->start + offset, p->start, "frame", (int)told.cfa.reg, told.cfa.value, -state.reg[told.cfa.reg]);
		return;
	}
	c->agree += compare_saved(c, &told, &row, p->start + offset, p->start);
}

static bool begins_a_function(const struct cfi_program *p)
{
	struct cfi_row row;

	return cfi_row_at(p, p->start, &row) && row.cfa.where == CFI_REGISTER && row.cfa.reg == CFI_RSP && row.cfa.value == 8 &&
		row.reg[CFI_RETURN].where == CFI_AT && !p->signal_frame;
}

static bool compare_function(void *context, const struct eh_frame_fde *f)
{
	struct comparison *c = context;
	struct elf_section text;
	struct cfi_program p;
	struct prologue_rows *rows;
	struct code_state s;

	if (!eh_frame_read_program(c->frames.data, c->frames.bytes, c->frames.address, f->offset, &p) || !begins_a_function(&p))
		return true;
	for (size_t i = 0; elf_get_text(c->elf, i, &text); i++) {
		if (!text.data || p.start - text.address >= text.bytes || p.bytes > text.bytes - (p.start - text.address))
			continue;
		rows = prologue_rows_create((const unsigned char *)text.data + (p.start - text.address), p.bytes);
		assert_non_null(rows);
		c->functions++;
		c->bytes += p.bytes;
		c->not_understood += !prologue_rows_state(rows, 0, &s);
		for (uint64_t offset = 0; offset < p.bytes; offset++)
			compare_at(c, rows, &p, offset);
		prologue_rows_destroy(rows);
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
	printf("%s: %" PRIu64 " functions, %" PRIu64 " not understood; %" PRIu64 " instructions in %" PRIu64 " bytes, rows for %" PRIu64
	       "; the same %" PRIu64 ", incomparable %" PRIu64 ", wrong frame %" PRIu64 ", wrong place %" PRIu64
	       ", place unknown %" PRIu64 "\n",
	       path, c->functions, c->not_understood, c->instructions, c->bytes, c->rows, c->agree, c->incomparable,
	       c->wrong_cfa, c->wrong_saved, c->unknown_saved);
}

/* ---------------------------------------------------------------------------------------------------- whole programs */

static void compare_all(struct comparison *c, const char *path)
{
	if (!compare_file(path, c))
		skip();
	print(path, c);
}

/* This program, the command and the engine that were built with it. */
static void rows_are_those_that_compilers_wrote(void **state)
{
	static const char *const beside[] = { "../tailor", "../libtailor.so", "../engine" };
	struct comparison c = { .to_print = 10 };
	char self[4096], path[4200];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	(void)state;
	assert_true(n > 0);
	self[n] = 0;
	assert_true(compare_file(self, &c));
	*strrchr(self, '/') = 0;
	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", self, beside[i]);
		compare_file(path, &c); /* or it was not built */
	}
	print("FIGURE rows read from our own code", &c);
	assert_int_equal(c.wrong_cfa, 0);
	assert_int_equal(c.wrong_saved, 0);
	assert_true(c.instructions > 5000);
	assert_true(c.rows * 100 >= c.instructions * 95);
	assert_true(c.incomparable * 100 <= c.rows);
	assert_true(c.unknown_saved * 100 <= c.rows);
	assert_true(c.not_understood * 100 <= c.functions);
	assert_true(c.bytes <= c.instructions * 6); /* ways lead nearly everywhere */
}

/* What is written by hand in assembler comes with hand-written information, of which some leaves out what is between two
 * instructions of an entry or exit: one in a thousand may differ. */
static void rows_of_the_c_library_are_nearly_all_those_that_it_has(void **state)
{
	struct comparison c = { .to_print = 10 };

	(void)state;
	compare_all(&c, "/lib/x86_64-linux-gnu/libc.so.6");
	assert_true(c.instructions > 100000);
	assert_true(c.rows * 100 >= c.instructions * 95);
	assert_true((c.wrong_cfa + c.wrong_saved) * 1000 <= c.rows);
}

/* ------------------------------------------------------------------------------------------------------------ by hand */

#define ROW_OF(bytes, offset, row) row_of(bytes, sizeof(bytes), offset, row)
static bool row_of(const unsigned char *code, size_t bytes, uint64_t offset, struct cfi_row *row)
{
	struct prologue_rows *r = prologue_rows_create(code, bytes);
	bool found;

	assert_non_null(r);
	found = prologue_rows_find(r, offset, row);
	prologue_rows_destroy(r);
	return found;
}

static void assert_cfa(const struct cfi_row *row, uint32_t reg, int64_t value)
{
	assert_int_equal(row->cfa.where, CFI_REGISTER);
	assert_int_equal(row->cfa.reg, reg);
	assert_int_equal(row->cfa.value, value);
	assert_int_equal(row->reg[CFI_RETURN].where, CFI_AT);
	assert_int_equal(row->reg[CFI_RETURN].value, -8);
}

static void pushes_and_pops_move_the_frame(void **state)
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
	assert_int_equal(row.reg[3].where, CFI_SAME); /* it has it still */
	assert_true(ROW_OF(code, 8, &row)); /* in the middle of an instruction */
	assert_cfa(&row, CFI_RSP, 32);
	assert_int_equal(row.reg[3].where, CFI_AT);
	assert_int_equal(row.reg[3].value, -16);
	assert_true(ROW_OF(code, 12, &row));
	assert_cfa(&row, CFI_RSP, 8);
	assert_int_equal(row.reg[3].where, CFI_SAME);
	assert_false(ROW_OF(code, 13, &row));
}

/* As lld writes it: without unwind information. */
static void an_entry_of_a_plt_has_its_return_address_on_top(void **state)
{
	static const unsigned char code[] = { 0xff, 0x25, 0x9a, 0x2c, 0x0c, 0, 0x68, 1, 0, 0, 0, 0xe9, 0xd0, 0xff, 0xff, 0xff };
	struct cfi_row row;

	(void)state;
	assert_true(ROW_OF(code, 0, &row));
	assert_cfa(&row, CFI_RSP, 8);
}

static void an_aligned_stack_is_left_by_the_frame_pointer(void **state)
{
	/* push rbp; mov rbp, rsp; and rsp, -8; nop; mov rsp, rbp; pop rbp; ret */
	static const unsigned char code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xe4, 0xf8, 0x90, 0x48, 0x89, 0xec, 0x5d, 0xc3 };
	struct cfi_row row;

	(void)state;
	assert_true(ROW_OF(code, 8, &row));
	assert_cfa(&row, 6, 16);
	assert_int_equal(row.reg[6].where, CFI_AT);
	assert_int_equal(row.reg[6].value, -16);
	assert_true(ROW_OF(code, 12, &row));
	assert_cfa(&row, CFI_RSP, 16);
}

static void where_ways_disagree_there_is_no_row(void **state)
{
	/* test edi, edi; je 1f; push rax; 1: nop; jmp 1b */
	static const unsigned char code[] = { 0x85, 0xff, 0x74, 0x01, 0x50, 0x90, 0xeb, 0xfd };
	struct cfi_row row;

	(void)state;
	assert_true(ROW_OF(code, 4, &row));
	assert_false(ROW_OF(code, 5, &row));
}

static void a_return_from_another_height_is_not_understood(void **state)
{
	static const unsigned char code[] = { 0x50, 0xc3 }; /* push rax; ret */
	struct cfi_row row;

	(void)state;
	assert_false(ROW_OF(code, 0, &row));
}

static void a_call_behind_which_the_frame_is_another_does_not_return(void **state)
{
	/* test edi, edi; je 1f; push rax; call far away; 1: nop; ret */
	static const unsigned char code[] = { 0x85, 0xff, 0x74, 0x06, 0x50, 0xe8, 0, 0, 1, 0, 0x90, 0xc3 };
	struct cfi_row row;

	(void)state;
	assert_true(ROW_OF(code, 5, &row));
	assert_cfa(&row, CFI_RSP, 16);
	assert_true(ROW_OF(code, 10, &row));
	assert_cfa(&row, CFI_RSP, 8);
}

static void a_jump_by_a_table_leads_to_what_nothing_else_leads_to(void **state)
{
	/* push rbx; jmp [rcx+rax*8]; nop; mov eax, 1; pop rbx; ret; int3; pop rbx; ret */
	static const unsigned char code[] = { 0x53, 0xff, 0x24, 0xc1, 0x90, 0xb8, 1, 0, 0, 0, 0x5b, 0xc3, 0xcc, 0x5b, 0xc3 };
	/* without the table: push rbx; pop rbx; ret; nop; mov eax, 1; pop rbx; ret */
	static const unsigned char none[] = { 0x53, 0x5b, 0xc3, 0x90, 0xb8, 1, 0, 0, 0, 0x5b, 0xc3 };
	struct cfi_row row;

	(void)state;
	assert_true(ROW_OF(code, 5, &row));
	assert_cfa(&row, CFI_RSP, 16);
	assert_true(ROW_OF(code, 13, &row));
	assert_cfa(&row, CFI_RSP, 16);
	assert_false(ROW_OF(none, 4, &row));
}

static void a_register_that_is_not_saved_is_unknown(void **state)
{
	static const unsigned char code[] = { 0x31, 0xdb, 0x90, 0xc3 }; /* xor ebx, ebx; nop; ret */
	struct cfi_row row;

	(void)state;
	assert_true(ROW_OF(code, 2, &row));
	assert_int_equal(row.reg[3].where, CFI_UNDEFINED);
	assert_int_equal(row.reg[6].where, CFI_SAME);
}

static void calls_are_found_by_their_end(void **state)
{
	static const unsigned char near[] = { 0x90, 0xe8, 1, 2, 3, 4 }, indirect[] = { 0x90, 0x41, 0xff, 0xd2 };
	static const unsigned char none[] = { 0x90, 0x90, 0x90 };

	(void)state;
	assert_true(code_ends_with_call(near, sizeof(near)));
	assert_false(code_ends_with_call(near, sizeof(near) - 1));
	assert_true(code_ends_with_call(indirect, sizeof(indirect)));
	assert_false(code_ends_with_call(none, sizeof(none)));
	assert_false(code_ends_with_call(none, 0));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_those_that_compilers_wrote),
		cmocka_unit_test(rows_of_the_c_library_are_nearly_all_those_that_it_has),
		cmocka_unit_test(pushes_and_pops_move_the_frame),
		cmocka_unit_test(an_entry_of_a_plt_has_its_return_address_on_top),
		cmocka_unit_test(an_aligned_stack_is_left_by_the_frame_pointer),
		cmocka_unit_test(where_ways_disagree_there_is_no_row),
		cmocka_unit_test(a_return_from_another_height_is_not_understood),
		cmocka_unit_test(a_call_behind_which_the_frame_is_another_does_not_return),
		cmocka_unit_test(a_jump_by_a_table_leads_to_what_nothing_else_leads_to),
		cmocka_unit_test(a_register_that_is_not_saved_is_unknown),
		cmocka_unit_test(calls_are_found_by_their_end),
	};

	for (int i = 1; i < argc; i++) {
		struct comparison c = { .to_print = 40 };

		if (!compare_file(argv[i], &c))
			printf("%s: not an ELF file with .eh_frame\n", argv[i]);
		else
			print(argv[i], &c);
	}
	return argc > 1 ? 0 : cmocka_run_group_tests(tests, NULL, NULL);
}
