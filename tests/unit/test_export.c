/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "analyzer/export/export.h"
#include "analyzer/output/escape.h"

#include <stdlib.h>
#include <string.h>

static void check(void (*put)(FILE *to, const char *text), const char *text, const char *expected)
{
	char *got;
	size_t bytes;
	FILE *to = open_memstream(&got, &bytes);

	put(to, text);
	fclose(to);
	assert_string_equal(got, expected);
	free(got);
}

static void names_cannot_break_json(void **state)
{
	(void)state;
	check(escape_json, "plain", "plain");
	check(escape_json, "a\"b\\c\n\t\x7f", "a\\\"b\\\\c  ?");
	check(escape_json, "a\xc2\x9b" "31m\xc2\xa0", "a??31m\xc2\xa0"); /* CSI, which a terminal obeys; a space */
	check(escape_json, "</script>", "\\u003c/script>");
	check(escape_json, "gr\xc3\xbc\xc3\x9f \xe2\x86\x92", "gr\xc3\xbc\xc3\x9f \xe2\x86\x92");
	check(escape_json, "\xff\xc3(\xed\xa0\x80\xc0\xaf", "??" "(??" "???"); /* broken, half, a surrogate, too long */
	check(escape_json, NULL, "");
}

static void names_cannot_break_xml(void **state)
{
	(void)state;
	check(escape_xml, "a<b>&\"c\"", "a&lt;b&gt;&amp;&quot;c&quot;");
	check(escape_xml, "\x01]]>", "?]]&gt;");
	check(escape_xml, "\xf0\x9f\x98\x80\xf5", "\xf0\x9f\x98\x80?");
}

static void whole_numbers_add_up_to_the_rounded_sum(void **state)
{
	struct export_whole w = { 0 };
	uint64_t sum = 0;

	(void)state;
	for (int i = 0; i < 10; i++)
		sum += export_next_whole(&w, 0.25);
	assert_int_equal(sum, 3);
	assert_int_equal(export_next_whole(&w, 7), 7);
	assert_int_equal(export_next_whole(&w, 1e300), UINT64_MAX - 10);
	assert_int_equal(export_next_whole(&w, 1e300), 0);
}

static void formats_are_found_by_their_exact_name(void **state)
{
	(void)state;
	assert_ptr_equal(export_find("folded"), export_at(0));
	assert_null(export_find("fold"));
	assert_null(export_at(-1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_cannot_break_json),
		cmocka_unit_test(names_cannot_break_xml),
		cmocka_unit_test(whole_numbers_add_up_to_the_rounded_sum),
		cmocka_unit_test(formats_are_found_by_their_exact_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
