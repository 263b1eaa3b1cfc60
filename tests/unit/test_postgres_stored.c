/* SPDX-License-Identifier: MIT */
/* Stored functions and statements without a plan, read from memory that may be anything. */
#include "tests/unit/unit.h"

#include "jitreg/engines/postgres_stored.h"
#include "jitreg/engines/postgres_utility.h"

#include <string.h>

static _Alignas(8) unsigned char memory[4096];
static struct postgres_code code;
static struct postgres_reader reader;
static const struct postgres_layout *l;

static int read_memory(void *context, uint64_t address, void *to, size_t bytes)
{
	uint64_t at = address - (uint64_t)(uintptr_t)memory;

	(void)context;
	if (at > sizeof(memory) || bytes > sizeof(memory) - at)
		return -1;
	memcpy(to, memory + at, bytes);
	return 0;
}

static uint64_t address_of(size_t at)
{
	return (uint64_t)(uintptr_t)(memory + at);
}

static void put(size_t at, uint64_t value, size_t bytes)
{
	memcpy(memory + at, &value, bytes);
}

static void put_text(size_t at, const char *text)
{
	memcpy(memory + at, text, strlen(text) + 1);
}

static void begin_version(unsigned major)
{
	memset(memory, 0, sizeof(memory));
	l = postgres_layout_of(major);
	assert_non_null(l);
	reader = (struct postgres_reader){ .read = read_memory, .layout = l, .code = &code };
}

enum { STRUCT = 64, SIGNATURE = 1024, PORTAL = 2048, LIST = 2560, ELEMENTS = 2624, STATEMENT = 3072, QUERY_TEXT = 512 };

static bool name_of(const char *signature, uint32_t trigger, char name[POSTGRES_NAME_BYTES])
{
	put(STRUCT + l->stored_signature, address_of(SIGNATURE), 8);
	put(STRUCT + l->stored_trigger, trigger, 4);
	put_text(SIGNATURE, signature);
	return postgres_stored_name(&reader, address_of(STRUCT), name);
}

static void a_function_has_the_name_that_the_server_gave_it(void **state)
{
	static const unsigned versions[] = { 14, 15, 16, 17, 18, 19 };
	char name[POSTGRES_NAME_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof(versions) / sizeof(versions[0]); i++) {
		begin_version(versions[i]);
		assert_true(name_of("shop.\"Loyalty\"(integer)", 2, name));
		assert_string_equal(name, "Function shop.\"Loyalty\"(integer)");
		assert_true(name_of("touch()", 0, name));
		assert_string_equal(name, "Trigger touch()");
		assert_true(name_of("inline_code_block", 2, name));
		assert_string_equal(name, "DO block");
	}
	assert_int_equal(postgres_stored_id(7, "a"), postgres_stored_id(7, "a"));
	assert_int_not_equal(postgres_stored_id(7, "a"), postgres_stored_id(8, "a"));
}

static void what_has_no_signature_is_no_function(void **state)
{
	char name[POSTGRES_NAME_BYTES], longest[2 * POSTGRES_NAME_BYTES];

	(void)state;
	begin_version(15);
	assert_false(name_of("", 2, name));
	assert_false(name_of("loyalty", 2, name));
	assert_false(name_of("loyalty)", 2, name));
	assert_false(name_of("loy\nalty()", 2, name));
	memset(longest, 'x', sizeof(longest));
	memcpy(longest + sizeof(longest) - 3, "()", 3);
	assert_false(name_of(longest, 2, name));
	assert_true(name_of("loyalty()", 2, name));
	assert_false(postgres_stored_name(&reader, address_of(STRUCT) + 1, name));
	assert_false(postgres_stored_name(&reader, 0, name));
	assert_false(postgres_stored_name(&reader, address_of(sizeof(memory)), name));
}

static void put_statement(const char *text, bool utility)
{
	put(PORTAL + l->portal_statements, address_of(LIST), 8);
	put(PORTAL + l->portal_text, address_of(QUERY_TEXT), 8);
	put(LIST, l->tag_list, 4);
	put(LIST + l->list_nr, 1, 4);
	put(LIST + l->list_elements, address_of(ELEMENTS), 8);
	put(ELEMENTS, address_of(STATEMENT), 8);
	put(STATEMENT, l->tag_statement, 4);
	put(STATEMENT + l->statement_utility, utility ? address_of(STRUCT) : 0, 8);
	put_text(QUERY_TEXT, text);
}

static void a_statement_without_a_plan_is_read_from_its_portal(void **state)
{
	static const char *const left_out[] = { "begin", "COMMIT;", " set x = 1", "execute one(5)", "Explain analyze select 1", "" };
	struct postgres_query q;
	char text[64];

	(void)state;
	begin_version(15);
	put_statement("vacuum t; copy t from stdin", true);
	assert_int_equal(postgres_utility_of_portal(&reader, address_of(PORTAL), &q), POSTGRES_OK);
	put(STATEMENT + l->statement_bytes, 8, 4);
	assert_int_equal(postgres_utility_of_portal(&reader, address_of(PORTAL), &q), POSTGRES_OK);
	postgres_query_text(&reader, &q, text, sizeof(text));
	assert_string_equal(text, "vacuum t");
	assert_int_equal(q.address, address_of(STATEMENT));
	assert_int_equal(q.root, 0);
	put(STATEMENT + l->statement_bytes, 0, 4);
	for (size_t i = 0; i < sizeof(left_out) / sizeof(left_out[0]); i++) {
		put_statement(left_out[i], true);
		assert_int_equal(postgres_utility_of_portal(&reader, address_of(PORTAL), &q), POSTGRES_NO_QUERY);
	}
	put_statement("settings_of_a_shop()", true); /* the whole word counts */
	assert_int_equal(postgres_utility_of_portal(&reader, address_of(PORTAL), &q), POSTGRES_OK);
	put_statement("select 1", false);
	assert_int_equal(postgres_utility_of_portal(&reader, address_of(PORTAL), &q), POSTGRES_NO_QUERY);
	assert_int_equal(postgres_utility_of_portal(&reader, 8, &q), POSTGRES_NO_QUERY);
	put(LIST + l->list_elements, 16, 8);
	assert_int_equal(postgres_utility_of_portal(&reader, address_of(PORTAL), &q), POSTGRES_NO_QUERY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_has_the_name_that_the_server_gave_it),
		cmocka_unit_test(what_has_no_signature_is_no_function),
		cmocka_unit_test(a_statement_without_a_plan_is_read_from_its_portal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
