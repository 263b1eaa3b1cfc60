/* SPDX-License-Identifier: MIT */
/* Names of PostgreSQL's wait events, by version. */
#include "tests/unit/unit.h"

#include "agent/recorder/engines/postgres_waits.h"

static void waits_have_the_names_of_their_version(void **state)
{
	static const struct {
		unsigned major;
		uint32_t info;
		const char *text;
	} cases[] = {
		{ 15, 9u << 24 | 2, "Timeout:PgSleep" },
		{ 14, 3u << 24 | 5, "Lock:transactionid" },
		{ 16, 3u << 24 | 5, "Lock:transactionid" },
		{ 17, 1u << 24 | 13, "LWLock:MultiXactGen" },
		{ 17, 10u << 24 | 17, "IO:DataFileRead" },
		{ 14, 10u << 24 | 15, "IO:DataFileRead" },
		{ 18, 9u << 24 | 2, "Timeout:PgSleep" },
		{ 18, 10u << 24 | 21, "IO:DataFileRead" },
		{ 18, 3u << 24 | 5, "Lock:transactionid" },
		{ 18, 4u << 24, "BufferPin:BufferPin" },
		{ 19, 9u << 24 | 3, "Timeout:PgSleep" },
		{ 19, 10u << 24 | 23, "IO:DataFileRead" },
		{ 19, 3u << 24 | 5, "Lock:transactionid" },
		{ 19, 4u << 24 | 2, "Buffer:BufferShared" },
		{ 19, 1u << 24 | 99, "LWLock:ShmemIndex" },
		/* without a name: a number that is free, one behind the last, another version, an extension's, no class at all */
		{ 17, 1u << 24 | 10, "LWLock:event 10" },
		{ 15, 9u << 24 | 200, "Timeout:event 200" },
		{ 13, 9u << 24 | 2, "Timeout:event 2" },
		{ 15, 7u << 24 | 1, "Extension:event 1" },
		{ 19, 4u << 24 | 7, "Buffer:event 7" },
		{ 19, 1u << 24 | 100, "LWLock:event 100" },
		{ 19, 11u << 24 | 2, "InjectionPoint:event 2" },
		{ 15, 0xff000001u, "event 0xff000001" },
	};
	char text[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		postgres_wait_text(cases[i].major, cases[i].info, text, sizeof(text));
		assert_string_equal(text, cases[i].text);
	}
	postgres_wait_text(15, 9u << 24 | 2, text, 8);
	assert_string_equal(text, "Timeout");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_have_the_names_of_their_version),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
