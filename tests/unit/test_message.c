/* SPDX-License-Identifier: MIT */
/* message.c: foreign text in a message is shown, and not obeyed by the terminal. */
#include "tests/unit/unit.h"

#include "jitreg/base/message.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_escaped(const char *text, const char *as)
{
	char *got = message_escape(text);

	assert_string_equal(got, as);
	free(got);
}

static void what_a_terminal_obeys_is_escaped(void **state)
{
	(void)state;
	expect_escaped("", "");
	expect_escaped("plain: 'name' 100 %", "plain: 'name' 100 %");
	expect_escaped("\33]0;title\7", "\\x1b]0;title\\x07");
	expect_escaped("a\nb\tc\rd\177", "a\\nb\\tc\\x0dd\\x7f");
	expect_escaped("\302\2333m", "\\xc2\\x9b3m"); /* a control character of two bytes */
	expect_escaped("\342\200\256txt", "\\xe2\\x80\\xaetxt"); /* what follows runs from right to left */
	expect_escaped("\377\300\257", "\\xff\\xc0\\xaf");
}

static void letters_stay_in_any_locale(void **state)
{
	(void)state;
	setlocale(LC_ALL, "C");
	expect_escaped("caf\303\251 \346\227\245", "caf\303\251 \346\227\245");
}

static void a_message_is_one_line(void **state)
{
	char *text = NULL;
	size_t bytes;
	FILE *to = open_memstream(&text, &bytes), *before = stderr;

	(void)state;
	program_invocation_name = "tailor test";
	stderr = to;
	message_print("there are: '%s'", "x\33[2J\ny");
	stderr = before;
	message_put(to, "%s", "\1");
	fclose(to);
	assert_string_equal(text, "tailor test: there are: 'x\\x1b[2J\\ny'\n\\x01\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_terminal_obeys_is_escaped),
		cmocka_unit_test(letters_stay_in_any_locale),
		cmocka_unit_test(a_message_is_one_line),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
