/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "analyzer/symbols/insn.h"

static void jumps_and_calls_have_a_target(void **state)
{
	static const unsigned char jump[] = { 0xeb, 0xfe }, branch[] = { 0x0f, 0x8d, 0x10, 0, 0, 0 };
	static const unsigned char call[] = { 0xe8, 0xfb, 0xff, 0xff, 0xff };
	static const unsigned char indirect[] = { 0xff, 0xd0 }, ret[] = { 0xc3 };
	struct insn i;

	(void)state;
	assert_true(insn_decode(jump, sizeof(jump), 0x1000, &i));
	assert_int_equal(i.kind, INSN_JUMP);
	assert_int_equal(i.target, 0x1000);
	assert_true(insn_decode(branch, sizeof(branch), 0x1000, &i));
	assert_int_equal(i.kind, INSN_BRANCH);
	assert_int_equal(i.bytes, 6);
	assert_int_equal(i.target, 0x1016);
	assert_true(insn_decode(call, sizeof(call), 0x1000, &i));
	assert_int_equal(i.kind, INSN_CALL);
	assert_int_equal(i.target, 0x1000);
	assert_true(insn_decode(indirect, sizeof(indirect), 0x1000, &i));
	assert_int_equal(i.kind, INSN_CALL);
	assert_int_equal(i.target, 0);
	assert_string_equal(i.text, "call rax");
	assert_true(insn_decode(ret, sizeof(ret), 0x1000, &i));
	assert_int_equal(i.kind, INSN_RETURN);
}

static void bytes_that_are_none_are_passed_one_by_one(void **state)
{
	static const unsigned char nonsense[] = { 0x06, 0x90 };
	static const unsigned char cut[] = { 0x0f, 0x8d, 0x10 };
	struct insn i;

	(void)state;
	assert_false(insn_decode(nonsense, sizeof(nonsense), 0, &i));
	assert_int_equal(i.bytes, 1);
	assert_string_equal(i.text, ".byte 0x06");
	assert_false(insn_decode(cut, sizeof(cut), 0, &i));
	assert_int_equal(i.bytes, 1);
	assert_false(insn_decode(cut, 0, 0, &i));
}

static void memory_is_found_by_base_index_and_displacement(void **state)
{
	static const unsigned char indexed[] = { 0x49, 0x8b, 0x84, 0xde, 0x00, 0xe0, 0x6e, 0x01 }; /* mov rax, [r14+rbx*8+0x16ee000] */
	static const unsigned char relative[] = { 0x48, 0x8b, 0x05, 0x10, 0, 0, 0 };		    /* mov rax, [rip+0x10] */
	static const unsigned char stack[] = { 0x48, 0x3b, 0x1c, 0x24 };			    /* cmp rbx, [rsp] */
	static const unsigned char down[] = { 0x48, 0x89, 0x45, 0xf8 };				    /* mov [rbp-8], rax */
	static const unsigned char none[] = { 0x48, 0x89, 0xe8 }, lea[] = { 0x48, 0x8d, 0x70, 0x20 }; /* mov rax,
			rbp; lea rsi, [rax+0x20] */
	static const unsigned char segment[] = { 0x64, 0x48, 0x8b, 0x04, 0x25, 0x28, 0, 0, 0 };	    /* mov rax, fs:[0x28] */
	struct insn_operand o;

	(void)state;
	assert_true(insn_find_operand(indexed, sizeof(indexed), 0x1000, &o));
	assert_int_equal(o.base, 14);
	assert_int_equal(o.index, 3);
	assert_int_equal(o.scale, 8);
	assert_int_equal(o.displacement, 0x16ee000);
	assert_true(insn_find_operand(relative, sizeof(relative), 0x1000, &o));
	assert_int_equal(o.base, INSN_NO_REGISTER);
	assert_int_equal(o.displacement, 0x1017);
	assert_true(insn_find_operand(stack, sizeof(stack), 0x1000, &o));
	assert_int_equal(o.base, 7);
	assert_int_equal(o.index, INSN_NO_REGISTER);
	assert_true(insn_find_operand(down, sizeof(down), 0x1000, &o));
	assert_int_equal(o.base, 6);
	assert_int_equal(o.displacement, -8);
	assert_false(insn_find_operand(none, sizeof(none), 0x1000, &o));
	assert_false(insn_find_operand(lea, sizeof(lea), 0x1000, &o));
	assert_false(insn_find_operand(segment, sizeof(segment), 0x1000, &o));
	assert_false(insn_find_operand(indexed, 3, 0x1000, &o));
}

static void work_is_what_a_processor_is_asked_for(void **state)
{
	static const struct {
		unsigned char bytes[8];
		struct insn_work work;
	} cases[] = {
		{ { 0x48, 0xf7, 0xf1 }, { 0, 0, true, false, 0 } },		   /* div rcx */
		{ { 0xf2, 0x0f, 0x51, 0xc1 }, { 0, 0, true, false, 0 } },	   /* sqrtsd xmm0, xmm1 */
		{ { 0x48, 0x8b, 0x00 }, { 1, 0, false, false, 8 } },		   /* mov rax, [rax] */
		{ { 0x48, 0x89, 0x07 }, { 0, 1, false, false, 1 } },		   /* mov [rdi], rax */
		{ { 0x48, 0x01, 0x07 }, { 1, 1, false, false, 8 } },		   /* add [rdi], rax */
		{ { 0x48, 0x8d, 0x04, 0x07 }, { 0, 0, false, false, 1 } },	   /* lea rax, [rdi + rax] */
		{ { 0xf3, 0xa4 }, { 1, 1, false, true, 8 } },			   /* rep movsb */
		{ { 0x0f, 0x1f, 0x40, 0x00 }, { 0, 0, false, false, 0 } },	   /* nop [rax] */
		{ { 0xf2, 0x0f, 0x58, 0xc1 }, { 0, 0, false, false, 6 } },	   /* addsd xmm0, xmm1 */
		{ { 0xf0, 0x48, 0x0f, 0xb1, 0x0f }, { 1, 1, false, false, 32 } }, /* lock cmpxchg [rdi], rcx */
	};
	struct insn_work w;

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_true(insn_read_work(cases[i].bytes, sizeof(cases[i].bytes), &w));
		assert_int_equal(w.loads, cases[i].work.loads);
		assert_int_equal(w.stores, cases[i].work.stores);
		assert_int_equal(w.divides, cases[i].work.divides);
		assert_int_equal(w.repeats, cases[i].work.repeats);
		assert_int_equal(w.latency, cases[i].work.latency);
	}
	assert_false(insn_read_work(cases[0].bytes, 0, &w));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jumps_and_calls_have_a_target),
		cmocka_unit_test(bytes_that_are_none_are_passed_one_by_one),
		cmocka_unit_test(memory_is_found_by_base_index_and_displacement),
		cmocka_unit_test(work_is_what_a_processor_is_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
