/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "analyzer/model/code_inlines.h"

#include <string.h>

static char a[] = "a", b[] = "b", c[] = "c", file_a[] = "a.c", file_b[] = "b.c", nobody[] = "";
static struct code_inline inlines[] = {
	{ 100, 0, 0, a, file_a },
	{ 110, 0, 0, a, file_a }, { 110, 1, 7, b, file_b },
	{ 120, 0, 0, a, file_a }, { 120, 1, 8, b, file_b }, { 120, 2, 9, c, file_a },
	{ 130, 0, 0, nobody, nobody },
	{ 140, 1, 5, b, file_b }, /* of whose caller nobody told */
};
#define NR (sizeof(inlines) / sizeof(inlines[0]))

static size_t find(uint64_t address, struct elf_inline out[8])
{
	memset(out, 0, 8 * sizeof(*out));
	return code_inlines_find(inlines, NR, address, out, 8);
}

static void the_innermost_comes_first(void **state)
{
	struct elf_inline out[8];

	(void)state;
	assert_int_equal(find(99, out), 0);
	assert_int_equal(find(100, out), 0);
	assert_int_equal(find(109, out), 0);
	assert_int_equal(find(110, out), 1);
	assert_string_equal(out[0].name, "b");
	assert_string_equal(out[0].call_file, "a.c");
	assert_int_equal(out[0].call_line, 7);
	assert_int_equal(find(125, out), 2);
	assert_string_equal(out[0].name, "c");
	assert_string_equal(out[0].call_file, "b.c");
	assert_int_equal(out[0].call_line, 9);
	assert_string_equal(out[1].name, "b");
	assert_int_equal(out[1].call_line, 8);
	assert_int_equal(find(135, out), 0);
	assert_int_equal(find(1000, out), 0);
}

static void there_is_never_more_than_fits(void **state)
{
	struct elf_inline out[1];

	(void)state;
	assert_int_equal(code_inlines_find(inlines, NR, 120, out, 1), 1);
	assert_string_equal(out[0].name, "c");
	assert_int_equal(code_inlines_find(inlines, 0, 120, out, 1), 0);
	assert_int_equal(code_inlines_find(NULL, 0, 120, out, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_innermost_comes_first),
		cmocka_unit_test(there_is_never_more_than_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
