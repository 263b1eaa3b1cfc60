/* SPDX-License-Identifier: MIT */
/* word_search.c against memmem(), on texts with many half words. */
#include "tests/unit/unit.h"

#include "agent/recorder/doctor/word_search.h"

#include <string.h>

#define BYTES 5000

static void says_what_memmem_says(void **state)
{
	static const char *const some[] = { "abab", "ababa", "bbbbbbbbbbbbbb", "abcd", "aaaaaaa", "cabcabc", "bcdbcd", "dddddddd" };
	static char text[BYTES];
	struct word w[sizeof(some) / sizeof(some[0])];
	int nr_found = 0, nr_not = 0;

	(void)state;
	for (size_t bytes = 0; bytes <= BYTES; bytes = bytes < 20 ? bytes + 1 : bytes * 3 / 2) {
		for (size_t i = 0; i < bytes; i++)
			text[i] = "abcd"[next_random() >> 20 & 3];
		for (size_t i = 0; i < sizeof(w) / sizeof(w[0]); i++)
			w[i] = (struct word){ some[i], strlen(some[i]), i % 2 };
		word_search(text, bytes, w, sizeof(w) / sizeof(w[0]));
		for (size_t i = 0; i < sizeof(w) / sizeof(w[0]); i++) {
			assert_int_equal(w[i].found, memmem(text, bytes, some[i], strlen(some[i])) != NULL);
			nr_found += w[i].found;
			nr_not += !w[i].found;
		}
	}
	assert_true(nr_found > 10 && nr_not > 10);
}

static void takes_the_last_bytes_and_the_zero_behind_a_symbol(void **state)
{
	const char text[] = "xxsymbol_long\0yysymbol";
	struct word w[] = { { "symbol", 7, false }, { "symbol", 6, false }, { "symbol_long", 12, false }, { "yysymbo\0", 8, true } };

	(void)state;
	word_search(text, sizeof(text) - 1, w, 4); /* without the last zero */
	assert_false(w[0].found);
	assert_true(w[1].found);
	assert_true(w[2].found);
	assert_false(w[3].found);
	word_search(text, sizeof(text), w, 4);
	assert_true(w[0].found);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(says_what_memmem_says),
		cmocka_unit_test(takes_the_last_bytes_and_the_zero_behind_a_symbol),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
