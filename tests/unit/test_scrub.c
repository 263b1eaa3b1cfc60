/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "scrub.h"

#include <string.h>

static const char *literals(const char *text, bool numbers)
{
	static char copy[256];
	size_t n = strlen(text);

	memcpy(copy, text, n + 1);
	copy[scrub_literals(copy, n, numbers)] = 0;
	return copy;
}

static void literals_of_queries_go(void **state)
{
	(void)state;
	assert_string_equal(literals("where c_mktsegment = 'BUILDING' and o_date < '1995-03-15'", true),
			    "where c_mktsegment = '?' and o_date < '?'");
	assert_string_equal(literals("name = 'it''s mine' or x = \"a\\\"b\"", true), "name = '?' or x = \"?\"");
	assert_string_equal(literals("l_discount between 0.05 and 0.07 and q < 24", true), "l_discount between 0 and 0 and q < 0");
	assert_string_equal(literals("limit 100, 1e-5; 0xff", true), "limit 0, 0; 0");
	assert_string_equal(literals("''", true), "''");
}

static void names_and_labels_with_digits_stay(void **state)
{
	(void)state;
	assert_string_equal(literals("%17 = xor i64 %l_ord1, 2685821657736338717, !dbg !12", true), "%17 = xor i64 %l_ord1, 0, !dbg !12");
	assert_string_equal(literals("12:                 ; preds = %3", true), "12:                 ; preds = %3");
	assert_string_equal(literals("@t1_x.2 sha256 v1.2", true), "@t1_x.2 sha256 v1.2");
	assert_string_equal(literals("top 10 'x'", false), "top 10 '?'");
	/* a quote that nothing closes on its line is no literal */
	assert_string_equal(literals("don't\nstop", true), "don't\nstop");
	assert_string_equal(literals("5", true), "0");
	assert_string_equal(literals("'", true), "'");
	assert_string_equal(literals("'\\", true), "'\\");
}

static void directories_go(void **state)
{
	char path[] = "/home/ada/db/q3.ll", relative[] = "src/q.c", bare[] = "q.c", root[] = "/",
			sentence[] = "cannot read /home/ada/x: No such";

	(void)state;
	path[scrub_path(path, strlen(path))] = 0;
	assert_string_equal(path, "/q3.ll");
	relative[scrub_path(relative, strlen(relative))] = 0;
	assert_string_equal(relative, "/q.c");
	bare[scrub_path(bare, strlen(bare))] = 0;
	assert_string_equal(bare, "q.c");
	assert_int_equal(scrub_path(root, 1), 1);
	sentence[scrub_paths_in(sentence, strlen(sentence))] = 0;
	assert_string_equal(sentence, "cannot read /x: No such");
}

static void strings_of_files_keep_their_length(void **state)
{
	char bytes[] = "\0/home/ada/x.c\0a/b/c\0/tmp\0\x01/bin/no\0/home/no end";
	const char expected[] = "\0/xxxx/xxx/x.c\0a/b/c\0/tmp\0\x01/bin/no\0/home/no end";

	(void)state;
	scrub_strings(bytes, sizeof(bytes) - 1);
	assert_memory_equal(bytes, expected, sizeof(bytes));
}

static void what_is_no_elf_is_left_alone(void **state)
{
	char bytes[64] = "\177ELF";

	(void)state;
	memset(bytes + 4, 0xff, sizeof(bytes) - 4);
	scrub_elf_code(bytes, sizeof(bytes));
	scrub_elf_code(bytes, 3);
	assert_int_equal((unsigned char)bytes[63], 0xff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(literals_of_queries_go),
		cmocka_unit_test(names_and_labels_with_digits_stay),
		cmocka_unit_test(directories_go),
		cmocka_unit_test(strings_of_files_keep_their_length),
		cmocka_unit_test(what_is_no_elf_is_left_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
