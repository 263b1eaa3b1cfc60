/* SPDX-License-Identifier: MIT */
#include "analyzer/fleet/clickhouse.h"
#include "analyzer/fleet/http.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void address_has_servers_and_database(void **state)
{
	struct clickhouse c;
	struct diag d = { "" };

	(void)state;
	assert_int_equal(clickhouse_init(&c, "clickhouse://me:p@ss@one,two:9/profiles@yesterday", &d), 0);
	assert_int_equal(c.nr, 2);
	assert_string_equal(c.url[0], "http://me:p@ss@one:8123/");
	assert_string_equal(c.url[1], "http://me:p@ss@two:9/");
	assert_string_equal(c.database, "profiles");
	clickhouse_fini(&c);
	assert_int_equal(clickhouse_init(&c, "clickhouses://one/d", &d), 0);
	assert_string_equal(c.url[0], "https://one:8443/");
	clickhouse_fini(&c);
}

static void password_is_in_no_message(void **state)
{
	static const char *const wrong[] = { "clickhouse://me:secret@one/a b", "clickhouse://me:secret@one",
					     "clickhouse://me:sec/ret@one/d;b", "clickhouse://me:secret@@@" };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct clickhouse c;
		struct diag d = { "" };

		assert_int_equal(clickhouse_init(&c, wrong[i], &d), -EINVAL);
		assert_null(strstr(d.text, "sec"));
	}
	assert_string_equal(http_shown_url("clickhouse://me:secret@one,two:9/d@yesterday"), "one,two:9/d@yesterday");
	assert_string_equal(http_shown_url("http://[::1]:8123/"), "[::1]:8123/");
	assert_string_equal(http_shown_url("http://one:8123/d@today"), "one:8123/d@today");
}

static void address_ends_before_the_window(void **state)
{
	(void)state;
	assert_int_equal(clickhouse_address_bytes("clickhouse://u@h/db@-2h..now"), strlen("clickhouse://u@h/db"));
	assert_int_equal(clickhouse_address_bytes("clickhouse://u@h/db"), strlen("clickhouse://u@h/db"));
	assert_true(clickhouse_is_named("clickhouse://h/d"));
	assert_false(clickhouse_is_named("clickhouse.tlrs"));
}

static void address_that_is_none_is_refused(void **state)
{
	static const char *const wrong[] = { "clickhouse://",	   "clickhouse:///db",	 "clickhouse://h",	   "clickhouse://h/",
					     "clickhouse://h/a b", "clickhouse://h/a;b", "clickhouse://h,,i/db", "clickhouse://h/@today",
					     "clickhouse://,/db",  "clickhouse://@/db" };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct clickhouse c;
		struct diag d = { "" };

		assert_int_equal(clickhouse_init(&c, wrong[i], &d), -EINVAL);
		assert_true(d.text[0]);
	}
}

static void line_comes_back_as_it_was_put(void **state)
{
	static const char text[] = "a\tb\\c\nd\re'f";
	char *line = NULL, *at, *column[3];
	size_t bytes;
	FILE *to = open_memstream(&line, &bytes);

	(void)state;
	clickhouse_put_text(to, text);
	fputs("\t\tx\n", to);
	clickhouse_put_text(to, "'");
	fclose(to);
	at = line;
	assert_int_equal(clickhouse_split(&at, column, 3), 3);
	assert_string_equal(column[0], text);
	assert_string_equal(column[1], "");
	assert_string_equal(column[2], "x");
	assert_int_equal(clickhouse_split(&at, column, 3), 1);
	assert_string_equal(column[0], "'");
	assert_int_equal(clickhouse_split(&at, column, 3), 0);
	free(line);
}

static void line_of_too_many_columns_is_cut(void **state)
{
	char line[] = "1\t2\t3\\\n4", *at = line, *column[2];

	(void)state;
	assert_int_equal(clickhouse_split(&at, column, 2), 2);
	assert_string_equal(column[1], "2");
	at = NULL;
	assert_int_equal(clickhouse_split(&at, column, 2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(address_has_servers_and_database), cmocka_unit_test(password_is_in_no_message),
		cmocka_unit_test(address_ends_before_the_window),
		cmocka_unit_test(address_that_is_none_is_refused),  cmocka_unit_test(line_comes_back_as_it_was_put),
		cmocka_unit_test(line_of_too_many_columns_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
