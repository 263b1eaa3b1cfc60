/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "insn.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(jumps_and_calls_have_a_target),
		cmocka_unit_test(bytes_that_are_none_are_passed_one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
