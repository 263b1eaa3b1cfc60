/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "jitreg/engines/postgres_layout.h"
#include "jitreg/hosts/host_versions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct host_lack lack(enum host_version host, const char *version, const char *why)
{
	struct host_lack l;

	host_lack_set(&l, host, version, why);
	return l;
}

static const char *sentence(enum host_version host, const char *version, const char *why)
{
	static char text[HOST_SENTENCE_BYTES];
	const struct host_lack l = lack(host, version, why);

	return host_lack_sentence(&l, text);
}

static void a_sentence_says_what_is_missing_why_and_what_helps(void **state)
{
	(void)state;
	assert_string_equal(sentence(HOST_V8, "99.1.2-node.3", ""), "V8 99.1.2: names of JavaScript functions are missing, because it is "
			    "newer than the versions verified (9 to 14). Run node with --perf-basic-prof");
	assert_string_equal(sentence(HOST_DUCKDB, "v1.5.6", "its library lacks duckdb_x"), "DuckDB 1.5.6: queries, pipelines and operators "
			    "are missing, because its library lacks duckdb_x (verified: 1.2 to 2.0). EXPLAIN ANALYZE has times of "
			    "operators");
	assert_string_equal(sentence(HOST_LUAJIT, "", "it lacks x"), "LuaJIT: names of traces are missing, because it lacks x (verified: "
			    "2.1). `tailor report --view asm` lists their instructions");
	assert_string_equal(sentence(HOST_SQLITE_STEP, "3.46.1", "the frame"), "SQLite 3.46.1: instructions of statements are missing, "
			    "because it is newer than the version verified (3.40). Samples belong to statements; sqlite3's .scanstats vm "
			    "has times of instructions");
}

/* What helps versions that were verified, and later ones, need not be in earlier ones. */
static void nothing_is_advised_for_older_versions(void **state)
{
	(void)state;
	assert_string_equal(sentence(HOST_CPYTHON, "3.7.9", ""), "CPython 3.7.9: names of Python functions are missing, because it is "
			    "older than the versions verified (3.8 to 3.15)");
}

static void versions_are_compared_as_far_as_both_have_numbers(void **state)
{
	(void)state;
	assert_true(host_version_is_verified(HOST_V8, "14.6.202.34"));
	assert_false(host_version_is_verified(HOST_V8, "15"));
	assert_false(host_version_is_verified(HOST_V8, "8.4"));
	assert_true(host_version_is_verified(HOST_CPYTHON, "3.8"));
	assert_true(host_version_is_verified(HOST_CPYTHON, "3.14.2"));
	assert_false(host_version_is_verified(HOST_CPYTHON, "4.0"));
	assert_false(host_version_is_verified(HOST_CPYTHON, "3.99999999999999999999999"));
	assert_true(host_version_is_verified(HOST_CPYTHON, ""));
}

static bool parses(struct host_lack *l, const char *text)
{
	char *exact = malloc(strlen(text) + 1); /* a byte behind it is another's */
	bool ret;

	memcpy(exact, text, strlen(text));
	ret = host_lack_parse(l, exact, strlen(text));
	free(exact);
	return ret;
}

static void an_agents_text_is_parsed_and_not_believed(void **state)
{
	char large[4096];
	struct host_lack l;

	(void)state;
	assert_true(parses(&l, "V8\n99.1\n"));
	assert_true(l.host == HOST_V8 && strcmp(l.version, "99.1") == 0 && !*l.why);
	assert_true(parses(&l, "SQLITE_STEP\nv3.x\nno\033[31m frame\n"));
	assert_true(l.host == HOST_SQLITE_STEP);
	assert_string_equal(l.version, "3.");
	assert_string_equal(l.why, "no?[31m frame?");
	for (size_t i = 0; i < sizeof(large) - 1; i++)
		large[i] = i < 3 ? "V8\n"[i] : i < 2000 ? '9' : i == 2000 ? '\n' : 'y';
	large[sizeof(large) - 1] = 0;
	assert_true(parses(&l, large));
	assert_int_equal(strlen(l.version), HOST_VERSION_BYTES - 1);
	assert_int_equal(strlen(l.why), HOST_WHY_BYTES - 1);
	assert_false(parses(&l, ""));
	assert_false(parses(&l, "V8"));
	assert_false(parses(&l, "V8\n99"));
	assert_false(parses(&l, "V\n99\n"));
	assert_false(parses(&l, "V8 \n99\n"));
	assert_false(parses(&l, "\n\n"));
}

static void a_list_has_each_once(void **state)
{
	static struct host_lacks all;
	char version[16];

	(void)state;
	for (int i = 0; i < 2 * HOST_LACKS_MAX; i++) {
		const struct host_lack l = lack(HOST_V8, (snprintf(version, sizeof(version), "%d", i), version), "");

		assert_int_equal(host_lacks_add(&all, &l), i < HOST_LACKS_MAX);
		assert_false(host_lacks_add(&all, &l));
	}
}

/* A server's version has a table of offsets or is said to be unknown. */
static void the_versions_of_postgresql_are_those_with_a_layout(void **state)
{
	char version[16];

	(void)state;
	for (unsigned major = 9; major < 40; major++) {
		snprintf(version, sizeof(version), "%u", major);
		assert_int_equal(postgres_layout_of(major) != NULL, host_version_is_verified(HOST_POSTGRESQL, version));
	}
}

static void documents_have_the_list(void **state)
{
	FILE *f = fopen("docs/hosts.md", "r");
	char *text = calloc(1, 1 << 20), line[1024];
	bool complete = true;

	(void)state;
	assert_non_null(f);
	assert_true(text && fread(text, 1, (1 << 20) - 1, f) > 0);
	fclose(f);
	for (int i = 0; i < NR_HOST_VERSIONS; i++) {
		const struct host_versions *v = &host_versions[i];
		const bool one = strcmp(v->oldest, v->newest) == 0;

		snprintf(line, sizeof(line), "| %s | %s%s%s | %s | %s |\n", v->host, v->oldest, one ? "" : " to ", one ? "" : v->newest,
			 v->missing, v->helps);
		if (!strstr(text, line)) {
			complete = false;
			printf("docs/hosts.md lacks the line:\n%s", line);
		}
	}
	assert_true(complete);
	free(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_sentence_says_what_is_missing_why_and_what_helps),
		cmocka_unit_test(nothing_is_advised_for_older_versions),
		cmocka_unit_test(versions_are_compared_as_far_as_both_have_numbers),
		cmocka_unit_test(an_agents_text_is_parsed_and_not_believed),
		cmocka_unit_test(a_list_has_each_once),
		cmocka_unit_test(the_versions_of_postgresql_are_those_with_a_layout),
		cmocka_unit_test(documents_have_the_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
