/* SPDX-License-Identifier: MIT */
/* The part of a function that a compiler has put elsewhere is found by the jumps that lead there. */
#include "tests/unit/unit.h"

#include "agent/recorder/inject/internal.h"
#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/process/proc_mem.h"

#include <elf.h>

/* begin: five jumps lead to its other part, one to another function, and a number looks like a jump to that; whole has none. */
void planted_begin(void), planted_begin_end(void), planted_part(void), planted_part_end(void), planted_other(void), planted_whole(void);
void planted_whole_end(void);
__asm__(".text\n"
	".p2align 4\nplanted_other: .cfi_startproc\n nop\n ret\n .cfi_endproc\n"
	".p2align 4\nplanted_part: .cfi_startproc\n .rept 600\n nop\n .endr\n"
	"planted_middle: .rept 600\n nop\n .endr\n ret\n .cfi_endproc\nplanted_part_end:\n"
	".p2align 4\nplanted_begin: .cfi_startproc\n test %edi, %edi\n je planted_other\n je planted_part\n jne planted_middle\n"
	" js planted_part\n jg 1f\n .byte 0x0f, 0x84, 0x10, 0xf0, 0xff, 0xff\n1: jl planted_middle\n jmp planted_part\n jb planted_middle\n"
	" ret\n .cfi_endproc\nplanted_begin_end:\n"
	".p2align 4\nplanted_whole: .cfi_startproc\n test %edi, %edi\n je planted_other\n ret\n .cfi_endproc\nplanted_whole_end:\n"
	".p2align 4\n .cfi_startproc\n ret\n .cfi_endproc\n");

static int first_mapping(void *base, const struct proc_mapping *m)
{
	char magic[SELFMAG];

	if (m->inode == 0 || m->offset || proc_mem_read(getpid(), m->start, magic, sizeof(magic)) || memcmp(magic, ELFMAG, SELFMAG) != 0)
		return 0;
	*(uint64_t *)base = m->start;
	return 1;
}

static uint64_t base_of_program(void)
{
	uint64_t base = 0;

	assert_int_equal(proc_each_mapping(getpid(), first_mapping, &base), 1);
	return base;
}

static void a_function_has_a_part_elsewhere(void **state)
{
	struct inject_process p = { .pid = getpid() };

	(void)state;
	inject_learn_python(&p, base_of_program(), (uintptr_t)planted_begin);
	assert_true(p.python.start < (uintptr_t)planted_begin && p.python.end > (uintptr_t)planted_begin);
	assert_int_equal(p.evaluate[0].start, (uintptr_t)planted_begin);
	assert_in_range(p.evaluate[0].end, (uintptr_t)planted_begin_end, (uintptr_t)planted_whole);
	assert_int_equal(p.evaluate[1].start, (uintptr_t)planted_part);
	assert_in_range(p.evaluate[1].end, (uintptr_t)planted_part_end, (uintptr_t)planted_begin);
}

static void a_single_jump_elsewhere_is_none(void **state)
{
	struct inject_process p = { .pid = getpid() };

	(void)state;
	inject_learn_python(&p, base_of_program(), (uintptr_t)planted_whole);
	assert_int_equal(p.evaluate[0].start, (uintptr_t)planted_whole);
	assert_int_equal(p.evaluate[1].start, 0);
	assert_int_equal(p.evaluate[1].end, 0);
}

static void no_function_is_found_where_there_is_none(void **state)
{
	uint64_t base = base_of_program(), range[2];
	char no_object[4096] = "";

	(void)state;
	assert_false(proc_mem_find_function(getpid(), base, base, range));
	assert_false(proc_mem_find_function(getpid(), base, UINT64_MAX, range));
	assert_false(proc_mem_find_function(getpid(), (uintptr_t)no_object, (uintptr_t)planted_begin, range));
	assert_false(proc_mem_find_function(getpid(), 8, (uintptr_t)planted_begin, range));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_has_a_part_elsewhere),
		cmocka_unit_test(a_single_jump_elsewhere_is_none),
		cmocka_unit_test(no_function_is_found_where_there_is_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
