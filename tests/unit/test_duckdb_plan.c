/* SPDX-License-Identifier: MIT */
/* DuckDB's plans from the text of its EXPLAIN, and its pipelines from their memory. */
#include "jitreg/engines/duckdb_explain.h"
#include "jitreg/engines/duckdb_plan.h"
#include "jitreg/engines/hash.h"

#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

static struct duckdb_explanation e;

static bool explain(const char *text)
{
	size_t n = strlen(text);
	char *copy = guarded(text, n);
	bool ok = duckdb_explain_read(copy, n, &e);

	guarded_free(copy, n);
	return ok;
}

static void expect_detail(uint32_t i, const char *detail)
{
	assert_int_equal(e.operator[i].detail_bytes, strlen(detail));
	assert_memory_equal(e.text + e.operator[i].detail, detail, strlen(detail));
}

static void operators_stand_before_those_below_them(void **state)
{
	(void)state;
	assert_true(explain("[\n {\"name\": \"HASH_JOIN\", \"children\": [\n"
			    "  {\"name\": \"SEQ_SCAN \", \"children\": [], \"extra_info\": {\"Table\": \"orders\","
			    " \"Type\": \"Sequential Scan\","
			    " \"Projections\": [\"o_orderkey\", \"o_custkey\"], \"Estimated Cardinality\": \"300000\"}},\n"
			    "  {\"name\": \"FILTER\", \"children\": [{\"name\": \"DUMMY_SCAN\", \"children\": [], \"extra_info\": {}}],"
			    " \"extra_info\": {\"Expression\": \"(x > '\\\"')\"}}],\n"
			    " \"extra_info\": {\"Join Type\": \"INNER\", \"Conditions\": \"a = b\","
			    " \"Estimated Cardinality\": \"0\"}}\n]\n"));
	assert_int_equal(e.nr, 4);
	assert_string_equal(e.operator[0].name, "HASH_JOIN");
	assert_string_equal(e.operator[1].name, "SEQ_SCAN orders");
	assert_string_equal(e.operator[2].name, "FILTER");
	assert_string_equal(e.operator[3].name, "DUMMY_SCAN");
	expect_detail(0, "Join Type: INNER; Conditions: a = b");
	expect_detail(1, "Type: Sequential Scan; Projections: o_orderkey, o_custkey");
	expect_detail(2, "Expression: (x > '\"')");
	expect_detail(3, "");
	assert_int_equal(e.operator[0].rows, 0);
	assert_int_equal(e.operator[1].rows, 300000);
	assert_int_equal(e.operator[2].rows, -1);
}

static void unknown_members_are_skipped(void **state)
{
	(void)state;
	assert_true(explain("[{\"timing\": 0.25, \"name\": \"LIMIT\","
			    " \"more\": {\"a\": [1, null, {\"b\": []}], \"c\": {}}, \"children\": []}]"));
	assert_int_equal(e.nr, 1);
	assert_string_equal(e.operator[0].name, "LIMIT");
}

static void what_is_no_plan_is_refused(void **state)
{
	static const char whole[] = "[{\"name\": \"A\", \"children\": [{\"name\": \"B\"}],"
				    " \"extra_info\": {\"k\": [\"v\", \"w\"], \"n\": {\"m\": 1}}}]";
	char text[sizeof(whole)];

	(void)state;
	assert_true(explain(whole));
	for (size_t n = 0; n < sizeof(whole) - 1; n++) {
		memcpy(text, whole, n);
		text[n] = 0;
		assert_false(explain(text));
	}
	assert_false(explain("[]"));
	assert_false(explain("[{}] x"));
	assert_false(explain("QUERY PLAN"));
}

static void long_and_deep_texts_have_bounds(void **state)
{
	static char text[64 * (DUCKDB_OPERATORS_MAX + 2)];

	(void)state;
	strcpy(text, "[");
	for (int i = 0; i < 300; i++)
		strcat(text, "{\"children\": [");
	assert_false(explain(text));
	strcpy(text, "[{\"extra_info\": ");
	for (int i = 0; i < 300; i++)
		strcat(text, "[");
	assert_false(explain(text));
	strcpy(text, "[{}");
	for (uint32_t i = 1; i < DUCKDB_OPERATORS_MAX; i++)
		strcat(text, ", {}");
	strcat(text, "]");
	assert_true(explain(text));
	assert_int_equal(e.nr, DUCKDB_OPERATORS_MAX);
	text[strlen(text) - 1] = 0;
	strcat(text, ", {}]");
	assert_false(explain(text));
}

static void long_names_are_cut(void **state)
{
	char text[4096] = "[{\"name\": \"SEQ_SCAN\", \"extra_info\": {\"Table\": \"";
	size_t n = strlen(text);

	(void)state;
	memset(text + n, 't', 2000);
	strcpy(text + n + 2000, "\"}}]");
	assert_true(explain(text));
	assert_int_equal(strlen(e.operator[0].name), DUCKDB_NAME_BYTES - 1);
	assert_int_equal(strncmp(e.operator[0].name, "SEQ_SCAN ttt", 12), 0);
}

static bool is_operator(void *context, uint64_t address)
{
	(void)context;
	return address >= 0x5000 && address < 0x6000;
}

static void a_pipeline_has_its_members_side_by_side(void **state)
{
	uint64_t with[] = { 1, 0x7000, 0x5010, 0, 0x5020, 0x9000, 0x9010, 0x9040, 0x5030, 0x5040 };
	uint64_t without[] = { 7, 0x5010, 0, 0, 0, 0x5030 };
	uint64_t streaming[] = { 7, 0x5010, 0x9000, 0x9008, 0x9008, 0 };
	struct duckdb_pipeline p;

	(void)state;
	assert_true(duckdb_pipeline_find(with, 10, is_operator, NULL, &p));
	assert_int_equal(p.source, 4);
	assert_int_equal(p.first, 0x9000);
	assert_int_equal(p.end, 0x9010);
	assert_int_equal(p.sink, 0x5030);
	assert_true(duckdb_pipeline_find(without, 6, is_operator, NULL, &p));
	assert_int_equal(p.source, 1);
	assert_int_equal(p.end - p.first, 0);
	assert_true(duckdb_pipeline_find(streaming, 6, is_operator, NULL, &p));
	assert_int_equal(p.sink, 0);
}

static void memory_without_such_members_is_no_pipeline(void **state)
{
	uint64_t backwards[] = { 0x5010, 0x9010, 0x9000, 0x9040, 0x5030 }, odd[] = { 0x5010, 0x9000, 0x9001, 0x9040, 0x5030 };
	uint64_t huge[] = { 0x5010, 0x9000, 0x909000, 0x909000, 0x5030 }, other_sink[] = { 0x5010, 0x9000, 0x9010, 0x9040, 0x4000 };
	struct duckdb_pipeline p;

	(void)state;
	assert_false(duckdb_pipeline_find(backwards, 5, is_operator, NULL, &p));
	assert_false(duckdb_pipeline_find(odd, 5, is_operator, NULL, &p));
	assert_false(duckdb_pipeline_find(huge, 5, is_operator, NULL, &p));
	assert_false(duckdb_pipeline_find(other_sink, 5, is_operator, NULL, &p));
	assert_false(duckdb_pipeline_find(odd, 4, is_operator, NULL, &p));
}

static void hashes_are_no_zero_and_differ(void **state)
{
	uint64_t a = engine_hash(ENGINE_HASH_BEGIN, "a", 1), b = engine_hash(ENGINE_HASH_BEGIN, "b", 1);

	(void)state;
	assert_true(a && b && a != b);
	assert_int_equal(a, engine_hash(ENGINE_HASH_BEGIN, "a", 1));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(operators_stand_before_those_below_them),
		cmocka_unit_test(unknown_members_are_skipped),
		cmocka_unit_test(what_is_no_plan_is_refused),
		cmocka_unit_test(long_and_deep_texts_have_bounds),
		cmocka_unit_test(long_names_are_cut),
		cmocka_unit_test(a_pipeline_has_its_members_side_by_side),
		cmocka_unit_test(memory_without_such_members_is_no_pipeline),
		cmocka_unit_test(hashes_are_no_zero_and_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
