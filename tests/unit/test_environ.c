/* SPDX-License-Identifier: MIT */
/* The agent's variables, which are read once, and the entries that it adds to the environment. */
#include "tests/unit/unit.h"

#include "agent/guest/environ.h"

static void a_variable_stays_set_when_its_text_is_overwritten(void **state)
{
	static char set[] = "TAILOR_NO_ADAPT=1", empty[] = "TAILOR_OFF=";

	(void)state;
	assert_int_equal(putenv(set), 0);
	assert_int_equal(putenv(empty), 0);
	environ_read();
	assert_string_equal(environ_get(ENVIRON_NO_ADAPT), "1");
	assert_null(environ_get(ENVIRON_OFF));
	assert_null(environ_get(ENVIRON_DORMANT));
	memset(set, 0, sizeof(set)); /* as PostgreSQL's process title does */
	memset(empty, 'x', sizeof(empty) - 1);
	assert_non_null(environ_get(ENVIRON_NO_ADAPT));
	assert_null(environ_get(ENVIRON_OFF));
}

static void an_entry_replaces_others_of_its_name_until_it_is_removed(void **state)
{
	static char entry[] = "TAILOR_UNIT=ours";
	char **before;

	(void)state;
	assert_int_equal(setenv("TAILOR_UNIT", "theirs", 1), 0);
	before = environ;
	assert_int_equal(environ_add_entry(entry), 0);
	assert_ptr_not_equal(environ, before);
	assert_string_equal(getenv("TAILOR_UNIT"), "ours");
	environ_remove_entry(entry);
	assert_null(getenv("TAILOR_UNIT"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_variable_stays_set_when_its_text_is_overwritten),
		cmocka_unit_test(an_entry_replaces_others_of_its_name_until_it_is_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
