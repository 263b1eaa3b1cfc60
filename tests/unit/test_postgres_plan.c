/* SPDX-License-Identifier: MIT */
/* Plans of a PostgreSQL that is not there: in memory that the test has laid out. */
#include "tests/unit/postgres_memory.h"

#include "jitreg/engines/postgres_catalog.h"
#include "jitreg/engines/postgres_names.h"
#include "jitreg/engines/postgres_plan.h"
#include "jitreg/engines/sql_identity.h"
#include "jitreg/engines/sql_text.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

static struct postgres_query query(uint64_t root)
{
	struct postgres_query q;

	put8(query_address, l->query_root, root);
	assert_int_equal(postgres_query_read(&reader, query_address, &q), POSTGRES_OK);
	return q;
}

static int setup(void **unused)
{
	uint64_t statement;

	(void)unused;
	memset(memory, 0, sizeof(memory));
	memset(&code, 0, sizeof(code));
	used = 0;
	l = postgres_layout_of(15);
	assert_non_null(l);
	code.text = (struct postgres_range){ TEXT, TEXT + 0x100000 };
	reader = (struct postgres_reader){ .read = read_memory, .layout = l, .code = &code };
	state = take(512);
	put4(state, 0, l->tag_state);
	statement = take(256);
	put4(statement, 0, l->tag_statement);
	query_address = take(256);
	put4(query_address, l->query_operation, 1);
	put8(query_address, l->query_statement, statement);
	put8(query_address, l->query_state, state);
	put8(query_address, l->query_text, new_text("select 1"));
	return 0;
}

static struct postgres_node seen[8192];
static uint32_t nr_seen;

static char text[POSTGRES_TEXT_BYTES], work[POSTGRES_TEXT_BYTES], name[POSTGRES_NAME_BYTES];

static uint64_t id_of(const struct postgres_query *q, uint64_t salt, bool worker)
{
	return postgres_query_component(&reader, q, salt, worker, text, work, name);
}

static int visit(void *context, const struct postgres_node *n)
{
	(void)context;
	assert_true(nr_seen < 8192);
	seen[nr_seen++] = *n;
	return 0;
}

static enum postgres_end walk(uint64_t root)
{
	struct postgres_query q = query(root);

	nr_seen = 0;
	return postgres_plan_walk(&reader, &q, visit, NULL);
}

static void a_plan_is_visited_in_explains_order(void **unused)
{
	uint64_t aggregate = new_node(POSTGRES_AGGREGATE, 0), join = new_node(POSTGRES_HASH_JOIN, 1), scan = new_node(POSTGRES_SEQ_SCAN, 2);
	uint64_t hash = new_node(POSTGRES_HASH, 3), append = new_node(POSTGRES_APPEND, 4), inner[3], init = new_node(POSTGRES_RESULT, 8);
	uint64_t sub = new_node(POSTGRES_LIMIT, 9), one[1];
	char detail[POSTGRES_DETAIL_BYTES];
	struct postgres_query q;

	(void)unused;
	put4(plan_of(aggregate), l->agg_strategy, 2);
	put4(plan_of(aggregate), l->agg_split, 6);
	put4(plan_of(join), l->join_type, 1);
	put8(aggregate, l->node_left, join);
	one[0] = new_subplan(init, "InitPlan 1 (returns $0)");
	put8(aggregate, l->node_init_plans, new_list(one, 1));
	one[0] = new_subplan(sub, "SubPlan 2");
	put8(join, l->node_subplans, new_list(one, 1));
	put8(join, l->node_left, scan);
	put8(join, l->node_right, hash);
	put8(hash, l->node_left, append);
	for (int i = 0; i < 3; i++)
		inner[i] = new_node(POSTGRES_INDEX_SCAN, 5 + i);
	set_members(append, inner, 3);
	assert_int_equal(walk(aggregate), POSTGRES_OK);
	assert_int_equal(nr_seen, 10);
	assert_string_equal(seen[0].name, "Partial HashAggregate");
	assert_int_equal(seen[0].owner, 0);
	assert_int_equal(seen[0].upper, query_address);
	assert_string_equal(seen[1].name, "Result");
	assert_int_equal(seen[1].role, POSTGRES_INIT_PLAN);
	q = query(aggregate);
	seen[1].way = NULL;
	postgres_node_detail(&reader, &q, &seen[1], detail);
	assert_string_equal(detail, "InitPlan 1 (returns $0); cost=0.00..0.00 rows=42 width=0");
	assert_string_equal(seen[2].name, "Hash Left Join");
	assert_int_equal(seen[2].order, 1);
	assert_int_equal(seen[3].address, scan);
	assert_int_equal(seen[3].owner, join);
	assert_int_equal(seen[4].role, POSTGRES_INNER);
	assert_int_equal(seen[5].owner, hash);
	assert_int_equal(seen[8].address, inner[2]);
	assert_int_equal(seen[8].order, 2);
	assert_int_equal(seen[8].plan_node_id, 7);
	assert_true(seen[8].rows == 42);
	assert_int_equal(seen[9].address, sub);
	assert_int_equal(seen[9].role, POSTGRES_SUBPLAN);
	assert_int_equal(seen[9].functions[0], TEXT + 0x100 * POSTGRES_LIMIT);
}

static void names_are_explains(void **unused)
{
	uint64_t scan = new_node(POSTGRES_INDEX_SCAN, 1), entry[2], index = take(128), relation = take(128), relations = take(16);
	uint64_t alias = take(32), row = take(128), statement;

	(void)unused;
	put8(index, l->relation_class, row);
	put(row, l->relation_name, "orders_pkey", 12);
	put8(scan, l->index_scan_index, index);
	put4(plan_of(scan), l->index_direction, UINT32_MAX);
	put(plan_of(scan), l->plan_parallel_aware, "\1", 1);
	put4(plan_of(scan), l->scan_relation_index, 2);
	row = take(128);
	put8(relation, l->relation_class, row);
	put(row, l->relation_name, "Or\"ders", 8);
	put8(relations, 8, relation);
	put8(state, l->state_relations, relations);
	put4(state, l->state_nr_relations, 2);
	put4(alias, 0, l->tag_alias);
	put8(alias, l->alias_name, new_text("o"));
	entry[0] = entry[1] = take(256);
	put4(entry[1], 0, l->tag_range);
	put8(entry[1], l->range_names, alias);
	memcpy(&statement, memory + (query_address - address_of(memory)) + l->query_statement, 8);
	put8(statement, l->statement_range_table, new_list(entry, 2));
	assert_int_equal(walk(scan), POSTGRES_OK);
	assert_string_equal(seen[0].name, "Parallel Index Scan Backward using orders_pkey on \"Or\"\"ders\" o");
	put4(plan_of(scan), l->scan_relation_index, 3); /* there is none */
	assert_int_equal(walk(scan), POSTGRES_OK);
	assert_string_equal(seen[0].name, "Parallel Index Scan Backward using orders_pkey");
}

/* ---- conditions */

static uint64_t new_tagged(uint16_t tag)
{
	uint64_t at = take(128);

	put4(at, 0, tag);
	return at;
}

static uint64_t new_variable(int table, unsigned column)
{
	uint64_t at = new_tagged(l->tag_variable);

	put4(at, l->variable_table, (uint32_t)table);
	put(at, l->variable_column, &(uint16_t){ (uint16_t)column }, 2);
	return at;
}

static uint64_t new_constant(uint32_t type, uint64_t value)
{
	uint64_t at = new_tagged(l->tag_constant);

	put4(at, l->constant_type, type);
	put8(at, l->constant_value, value);
	return at;
}

static uint64_t new_operation(uint32_t operator, uint64_t left, uint64_t right)
{
	uint64_t at = new_tagged(l->tag_operation), both[2] = { left, right };

	put4(at, l->operation_operator, operator);
	put8(at, l->operation_arguments, new_list(both, 2));
	return at;
}

static uint64_t new_text_value(const char *value)
{
	uint64_t at = take(strlen(value) + 1);
	unsigned char head = (unsigned char)(2 * (strlen(value) + 1) + 1);

	put(at, 0, &head, 1);
	put(at, 1, value, strlen(value));
	return at;
}

/* Table t with the columns a and "B b", and one that is called u with the column c. */
static void set_tables(void)
{
	static const char *const names[] = { "t", "u" }, *const columns[] = { "a", "B b", "c", "d" };
	uint64_t entry[2], statement;

	for (int i = 0; i < 2; i++) {
		uint64_t alias = new_tagged(l->tag_alias), column[2];

		for (int n = 0; n < 2; n++) {
			column[n] = new_tagged(l->tag_string);
			put8(column[n], l->string_text, new_text(columns[2 * i + n]));
		}
		put8(alias, l->alias_name, new_text(names[i]));
		put8(alias, l->alias_columns, new_list(column, 2));
		entry[i] = take(256);
		put4(entry[i], 0, l->tag_range);
		put8(entry[i], l->range_names, alias);
	}
	memcpy(&statement, memory + (query_address - address_of(memory)) + l->query_statement, 8);
	put8(statement, l->statement_range_table, new_list(entry, 2));
}

/* A backend's cache with one block, in it the operator 4243. */
static void set_cache(struct postgres_catalog *catalog)
{
	uint64_t variable = take(8), context = take(256), block = take(1024), cached = block + 48, row = cached + 256;

	memset(catalog, 0, sizeof(*catalog));
	reader.catalog = catalog;
	code.symbol[POSTGRES_CACHE_CONTEXT] = variable;
	put8(variable, 0, context);
	put8(context, l->context_blocks, block);
	put8(block, 0, context);
	put8(block, 24, block + 1024);
	put8(block, 32, block + 1024);
	put4(cached, l->cached_magic, 0x57261502);
	put4(cached, (uint16_t)(l->cached_tuple + l->tuple_table), POSTGRES_CATALOG_OPERATORS);
	put8(cached, (uint16_t)(l->cached_tuple + l->tuple_header), row);
	put(row, l->header_bytes, "\30", 1);
	put4(row, 24, 4243);
	put(row, (uint16_t)(24 + l->operator_name), "@@", 3);
}

static char detail_text[POSTGRES_DETAIL_BYTES];

static int visit_detail(void *context, const struct postgres_node *n)
{
	const struct postgres_query *q = context;

	postgres_node_detail(&reader, q, n, detail_text);
	return 0;
}

/* Of the node that is visited last. */
static const char *detail_of_last(uint64_t root)
{
	struct postgres_query q = query(root);

	assert_int_equal(postgres_plan_walk(&reader, &q, visit_detail, &q), POSTGRES_OK);
	*strstr(detail_text, "cost=") = 0;
	return detail_text;
}

static void conditions_are_explains(void **unused)
{
	static struct postgres_catalog catalog;
	uint64_t scan = new_node(POSTGRES_SEQ_SCAN, 1), join = new_node(POSTGRES_HASH_JOIN, 0), outer = new_node(POSTGRES_RESULT, 2);
	uint64_t target = new_tagged(l->tag_target), both[2], value;
	double half = 0.5;

	(void)unused;
	set_tables();
	set_cache(&catalog);
	memcpy(&value, &half, 8);
	both[0] = new_operation(96, new_variable(1, 1), new_constant(23, (uint32_t)-7));
	both[1] = new_operation(96, new_variable(1, 2), new_constant(25, new_text_value("it's")));
	put8(plan_of(scan), l->plan_filter, new_list(both, 2));
	assert_string_equal(detail_of_last(scan), "Filter: ((a = -7) AND (\"B b\" = 'it''s')); ");
	both[0] = new_operation(4242, new_variable(1, 1), new_constant(701, value));
	put8(plan_of(scan), l->plan_filter, new_list(both, 1));
	assert_string_equal(detail_of_last(scan), "Filter: (a operator_4242 0.5); ");
	both[0] = new_operation(4243, new_variable(1, 1), new_constant(701, value));
	put8(plan_of(scan), l->plan_filter, new_list(both, 1));
	assert_string_equal(detail_of_last(scan), "Filter: (a @@ 0.5); ");
	put8(target, l->target_expression, new_variable(2, 1));
	put8(plan_of(outer), l->plan_targets, new_list(&target, 1));
	put8(plan_of(join), l->plan_left, plan_of(outer));
	both[0] = new_operation(96, new_variable(-2, 1), new_variable(-2, 2)); /* of which there is none */
	put8(plan_of(join), l->hash_condition, new_list(both, 1));
	assert_string_equal(detail_of_last(join), "Hash Cond: (u.c = ...); ");
}

/* EXPLAIN prints columns of the only table without its name; since 18 the list of tables has an entry for GROUP BY, too. */
static void grouping_is_no_table(void **unused)
{
	uint64_t join = new_node(POSTGRES_HASH_JOIN, 0), condition, statement, tables, group;

	(void)unused;
	set_tables();
	condition = new_operation(96, new_variable(1, 1), new_variable(1, 2));
	put8(plan_of(join), l->hash_condition, new_list(&condition, 1));
	assert_string_equal(detail_of_last(join), "Hash Cond: (t.a = t.\"B b\"); ");
	memcpy(&statement, memory + (query_address - address_of(memory)) + l->query_statement, 8);
	memcpy(&tables, memory + (statement - address_of(memory)) + l->statement_range_table, 8);
	memcpy(&group, memory + (tables - address_of(memory)) + l->list_elements, 8);
	memcpy(&group, memory + (group - address_of(memory)) + 8, 8);
	put4(group, l->range_kind, 9);
	assert_string_equal(detail_of_last(join), "Hash Cond: (a = \"B b\"); ");
}

/* In 19 a cached row no longer begins with its magic number. */
static void names_are_in_the_cache_of_each_version(void **unused)
{
	static struct postgres_catalog catalog;

	(void)unused;
	for (unsigned major = 14; major <= 19; major++) {
		l = reader.layout = postgres_layout_of(major);
		set_cache(&catalog);
		assert_string_equal(postgres_catalog_name(&reader, POSTGRES_CATALOG_OPERATORS, 4243), "@@");
	}
}

static void constants_are_sqls(void **unused)
{
	static const struct {
		uint32_t type;
		uint64_t value;
		const char *text;
	} cases[] = {
		{ 16, 1, "true" }, { 20, (uint64_t)-5, "-5" }, { 1082, (uint32_t)-1, "'1999-12-31'" }, { 1082, 8825, "'2024-02-29'" },
		{ 1114, 86399000000, "'2000-01-01 23:59:59'" }, { 1700, 0, "1234567.05" }, { 1007, 0, "'{1,2}'" }, { 3802, 0, "?" },
	};
	static const unsigned char numeric[] = { 0x13, 0x01, 0x81, 123, 0, 0xd7, 0x11, 0xf4, 0x01 }; /* 123 4567 . 0500, two decimals */
	static const uint32_t array[] = { 32 << 2, 1, 0, 23, 2, 1, 1, 2 };
	uint64_t scan = new_node(POSTGRES_SEQ_SCAN, 1), one, at[2] = { take(16), take(64) };

	(void)unused;
	put(at[0], 0, numeric, sizeof(numeric));
	put(at[1], 0, array, sizeof(array));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t value = cases[i].type == 1700 ? at[0] : cases[i].type == 1007 ? at[1] : cases[i].value;
		char wanted[64];

		one = new_constant(cases[i].type, value);
		put8(plan_of(scan), l->plan_filter, new_list(&one, 1));
		snprintf(wanted, sizeof(wanted), "Filter: %s; ", cases[i].text);
		assert_string_equal(detail_of_last(scan), wanted);
	}
}

static void expressions_end(void **unused)
{
	uint64_t scan = new_node(POSTGRES_SEQ_SCAN, 1), not = new_tagged(l->tag_boolean), many[300], list;

	(void)unused;
	put4(not, l->boolean_kind, 2);
	put8(not, l->boolean_arguments, new_list(&not, 1)); /* of itself */
	put8(plan_of(scan), l->plan_filter, new_list(&not, 1));
	assert_non_null(strstr(detail_of_last(scan), "(NOT (NOT (NOT "));
	for (int i = 0; i < 300; i++)
		many[i] = new_constant(25, new_text_value("\xc3\xa4\xc3\xa4\xc3\xa4"));
	list = new_list(many, 300);
	put8(not, l->boolean_arguments, list);
	nr_reads = 0;
	detail_of_last(scan);
	assert_string_equal(detail_text + strlen(detail_text) - 5, "...; ");
	assert_true(nr_reads < 5000);
	put8(plan_of(scan), l->plan_filter, 0xfffffffffffffff8);
	assert_string_equal(detail_of_last(scan), "");
}

static bool read_counts(uint64_t node, double *rows, double *loops)
{
	assert_int_equal(walk(node), POSTGRES_OK);
	return postgres_node_counts(&reader, &seen[0], rows, loops);
}

static void rows_are_of_all_loops(void **unused)
{
	uint64_t scan = new_node(POSTGRES_SEQ_SCAN, 1), counts = take(512);
	double rows = 70, loops = 3, now = 5, not_a_number = __builtin_nan("");

	(void)unused;
	assert_false(postgres_query_is_counted(&reader, query_address));
	assert_false(read_counts(scan, &rows, &loops));
	put4(query_address, l->query_counts, 4);
	assert_true(postgres_query_is_counted(&reader, query_address));
	put8(scan, l->node_counts, counts);
	assert_false(read_counts(scan, &rows, &loops)); /* it has not begun */
	rows = 70, loops = 3;
	put(counts, l->counts_rows, &rows, 8);
	put(counts, l->counts_loops, &loops, 8);
	put(counts, l->counts_rows_now, &now, 8);
	assert_true(read_counts(scan, &rows, &loops));
	assert_true(rows == 70 && loops == 3);
	put(counts, l->counts_running, "\1", 1);
	assert_true(read_counts(scan, &rows, &loops));
	assert_true(rows == 75 && loops == 4);
	put(counts, l->counts_rows, &not_a_number, 8);
	assert_false(read_counts(scan, &rows, &loops));
	put8(scan, l->node_counts, 0xfffffffffffffff8);
	assert_false(read_counts(scan, &rows, &loops));
}

static void requests_are_of_foreign_scans(void **unused)
{
	uint64_t append = new_node(POSTGRES_APPEND, 0), member[2] = { new_node(POSTGRES_SEQ_SCAN, 1), new_node(POSTGRES_FOREIGN_SCAN, 2) };
	uint64_t requests = take(16), request = take(64), functions[POSTGRES_REQUEST_FUNCTIONS];

	(void)unused;
	set_members(append, member, 2);
	assert_int_equal(walk(append), POSTGRES_OK);
	assert_int_equal(seen[2].request, 0);
	put8(append, l->append_requests, requests);
	put8(requests, 8, request);
	put8(request, l->request_node, member[1]);
	code.symbol[POSTGRES_ASYNC_NOTIFY] = TEXT + 8;
	assert_int_equal(walk(append), POSTGRES_OK);
	assert_int_equal(seen[1].request, 0);
	assert_int_equal(seen[2].request, request);
	assert_int_equal(postgres_request_functions(&reader, &seen[2], functions), seen[2].nr_functions + 1);
	assert_int_equal(functions[seen[2].nr_functions], TEXT + 8);
	put8(request, l->request_node, member[0]);
	assert_int_equal(walk(append), POSTGRES_OK);
	assert_int_equal(seen[2].request, 0);
	put8(append, l->append_requests, 0xfffffffffffffff8);
	assert_int_equal(walk(append), POSTGRES_OK);
	assert_int_equal(seen[2].request, 0);
}

static void a_cycle_ends(void **unused)
{
	uint64_t a = new_node(POSTGRES_SORT, 1), b = new_node(POSTGRES_LIMIT, 2), both[2] = { a, b };

	(void)unused;
	put8(a, l->node_left, b);
	put8(b, l->node_left, a);
	assert_int_equal(walk(a), POSTGRES_TOO_DEEP);
	assert_true(nr_seen <= POSTGRES_DEPTH_MAX);
	b = new_node(POSTGRES_APPEND, 3);
	both[1] = both[0] = b;
	set_members(b, both, 2);
	assert_int_equal(walk(b), POSTGRES_TOO_DEEP);
}

static void ten_thousand_children_are_too_many(void **unused)
{
	static uint64_t member[10000];
	uint64_t append = new_node(POSTGRES_APPEND, 0), leaf = new_node(POSTGRES_RESULT, 1);

	(void)unused;
	for (int i = 0; i < 10000; i++)
		member[i] = leaf;
	set_members(append, member, 10000);
	assert_int_equal(walk(append), POSTGRES_TOO_MANY);
	assert_int_equal(nr_seen, POSTGRES_NODES_MAX);
	put4(append, l->append_nr, 10001);
	assert_int_equal(walk(append), POSTGRES_NO_LIST);
	put4(append, l->append_nr, 4000);
	assert_int_equal(walk(append), POSTGRES_OK);
	assert_int_equal(nr_seen, 4001);
}

static void what_is_no_node_is_refused(void **unused)
{
	uint64_t root = new_node(POSTGRES_SORT, 1), bad = new_node(POSTGRES_SEQ_SCAN, 2), plan = plan_of(bad);

	(void)unused;
	put8(root, l->node_left, bad);
	assert_int_equal(walk(root), POSTGRES_OK);
	put4(bad, 0, 9999);
	assert_int_equal(walk(root), POSTGRES_NO_NODE);
	put4(bad, 0, l->tag_of_state[POSTGRES_LIMIT]); /* with the plan of a scan */
	assert_int_equal(walk(root), POSTGRES_NO_NODE);
	put4(bad, 0, l->tag_of_state[POSTGRES_SEQ_SCAN]);
	put8(bad, l->node_plan, 0x1234567812345678);
	assert_int_equal(walk(root), POSTGRES_NO_NODE);
	put8(bad, l->node_plan, plan);
	put8(bad, l->node_state, state + 8); /* another query's */
	assert_int_equal(walk(root), POSTGRES_NO_NODE);
	put8(bad, l->node_state, state);
	put8(bad, l->node_function, TEXT - 1);
	assert_int_equal(walk(root), POSTGRES_NO_FUNCTION);
	put8(bad, l->node_function, TEXT);
	assert_int_equal(walk(root), POSTGRES_OK);
	put8(root, l->node_left, 0xffffffffffffffff);
	assert_int_equal(walk(root), POSTGRES_NO_NODE);
	put8(root, l->node_left, 0xfffffffffffffff8);
	assert_int_equal(walk(root), POSTGRES_UNREADABLE);
	put8(root, l->node_left, address_of(memory) + sizeof(memory) - 8);
	assert_int_not_equal(walk(root), POSTGRES_OK);
	put8(root, l->node_left, 0);
	put8(root, l->node_subplans, root); /* a list that is none */
	assert_int_equal(walk(root), POSTGRES_NO_LIST);
}

static void what_is_no_query_is_refused(void **unused)
{
	struct postgres_query q;

	(void)unused;
	assert_int_equal(postgres_query_read(&reader, 0, &q), POSTGRES_NO_QUERY);
	assert_int_equal(postgres_query_read(&reader, query_address + 4, &q), POSTGRES_NO_QUERY);
	assert_int_equal(postgres_query_read(&reader, 8, &q), POSTGRES_UNREADABLE);
	assert_int_equal(postgres_query_read(&reader, state, &q), POSTGRES_NO_QUERY);
	put4(query_address, l->query_operation, 7);
	assert_int_equal(postgres_query_read(&reader, query_address, &q), POSTGRES_NO_QUERY);
}

/* Any byte of a plan changed to anything: the walk ends, within its bounds. */
static void random_damage_is_survived(void **unused)
{
	uint64_t root = new_node(POSTGRES_APPEND, 0), member[4];
	struct postgres_query q;

	(void)unused;
	for (int i = 0; i < 4; i++) {
		member[i] = new_node(i & 1 ? POSTGRES_SEQ_SCAN : POSTGRES_AGGREGATE, i + 1);
		put8(member[i], l->node_left, i & 1 ? 0 : new_node(POSTGRES_CTE_SCAN, i + 10));
	}
	set_members(root, member, 4);
	q = query(root);
	for (int i = 0; i < 20000; i++) {
		unsigned char *at = memory + next_random() % used, old = *at;

		*at = (unsigned char)next_random();
		nr_seen = 0;
		postgres_plan_walk(&reader, &q, visit, NULL);
		id_of(&q, 1, true);
		*at = old;
	}
	assert_int_equal(walk(root), POSTGRES_OK);
}

static void random_damage_of_conditions_is_survived(void **unused)
{
	static const uint32_t array[] = { 32 << 2, 1, 0, 23, 2, 1, 1, 2 };
	static struct postgres_catalog catalog;
	uint64_t scan = new_node(POSTGRES_SEQ_SCAN, 1), loop = new_node(POSTGRES_NESTED_LOOP, 0), some[3], parameter, at = take(64);
	uint64_t not = new_tagged(l->tag_boolean);
	struct postgres_query q;

	(void)unused;
	set_tables();
	set_cache(&catalog);
	put(at, 0, array, sizeof(array));
	parameter = new_tagged(l->tag_parameter);
	put4(parameter, l->parameter_kind, 1);
	put8(loop, l->node_right, scan);
	some[0] = new_tagged(l->tag_loop_parameter);
	put8(some[0], l->loop_parameter_value, new_variable(1, 2));
	put8(plan_of(loop), l->loop_parameters, new_list(some, 1));
	some[0] = new_operation(4243, parameter, new_constant(25, new_text_value("text")));
	some[1] = new_operation(96, new_variable(1, 1), new_constant(1007, at));
	some[2] = not;
	put8(not, l->boolean_arguments, new_list(some, 2));
	put8(plan_of(scan), l->plan_filter, new_list(some, 3));
	q = query(loop);
	postgres_plan_walk(&reader, &q, visit_detail, &q);
	*strstr(detail_text, "cost=") = 0;
	assert_string_equal(detail_text, "Filter: ((t.\"B b\" @@ 'text') AND (a = '{1,2}') AND "
					 "((t.\"B b\" @@ 'text') AND (a = '{1,2}'))); ");
	for (int i = 0; i < 50000; i++) {
		unsigned char *byte = memory + next_random() % used, old = *byte;

		*byte = (unsigned char)next_random();
		memset(&catalog, 0, i % 64 ? 0 : sizeof(catalog));
		postgres_catalog_begin(&catalog, 1);
		postgres_plan_walk(&reader, &q, visit_detail, &q);
		assert_true(strlen(detail_text) < POSTGRES_DETAIL_BYTES);
		*byte = old;
	}
}

static void a_text_is_its_own_part_and_cut(void **unused)
{
	static char long_text[70000];
	struct postgres_query q = query(0);
	uint64_t whole;

	(void)unused;
	assert_int_equal(postgres_query_text(&reader, &q, text, sizeof(text)), 8);
	assert_string_equal(text, "select 1");
	whole = id_of(&q, 1, false);
	assert_int_not_equal(whole, 0);
	assert_int_not_equal(whole, id_of(&q, 2, false));
	q.text = new_text("set a=1; select 1 ; select 2");
	q.part_at = 8;
	q.part_bytes = 11;
	postgres_query_text(&reader, &q, text, sizeof(text));
	assert_string_equal(text, "select 1");
	q.part_at = 9;
	q.part_bytes = 8;
	assert_int_equal(id_of(&q, 1, false), whole);
	assert_string_equal(text, "select 1");
	assert_string_equal(name, "select ?");
	memset(long_text, 'x', sizeof(long_text) - 1);
	q.text = new_text(long_text);
	q.part_at = q.part_bytes = 0;
	assert_int_equal(postgres_query_text(&reader, &q, text, sizeof(text)), sizeof(text) - 1);
	assert_string_equal(text + sizeof(text) - 4, "...");
	q.text = address_of(memory) + sizeof(memory) - 20; /* it goes on where nothing can be read */
	memset(memory + sizeof(memory) - 20, 'y', 20);
	assert_uint_in_range(postgres_query_text(&reader, &q, text, sizeof(text)), 0, 20);
}

/* What is shared by a query and its worker: the whole text and the tables, not the part and the rest of the plan. */
static void a_workers_query_has_its_leaders_number(void **unused)
{
	struct postgres_query leader = query(0), worker = query(0);

	(void)unused;
	leader.text = worker.text = new_text("set x=1; select count(*) from t");
	leader.part_at = 9;
	leader.parallel = true;
	assert_int_equal(id_of(&leader, 5, false), id_of(&worker, 5, true));
}

static void put_displacement(unsigned char *at, int32_t displacement)
{
	memcpy(at, &displacement, sizeof(displacement));
}

/* A program of four functions. */
struct program {
	Elf64_Ehdr e;
	Elf64_Phdr p[2];
	unsigned char header[12];
	int32_t entry[8];
	unsigned char text[0x400];
};

static struct program *new_program(const uint32_t begins[4])
{
	uint64_t base = (take(sizeof(struct program) + 4096) + 4095) & ~4095ull;
	struct program *image = (void *)(memory + (base - address_of(memory)));

	memcpy(image->e.e_ident, ELFMAG, SELFMAG);
	image->e.e_ident[EI_CLASS] = ELFCLASS64;
	image->e.e_machine = EM_X86_64;
	image->e.e_phentsize = sizeof(image->p[0]);
	image->e.e_phnum = 2;
	image->e.e_phoff = offsetof(struct program, p);
	image->p[0] = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_memsz = sizeof(*image) };
	image->p[1] = (Elf64_Phdr){ .p_type = PT_GNU_EH_FRAME, .p_vaddr = offsetof(struct program, header) };
	memcpy(image->header, (const unsigned char[]){ 1, 0x1b, 0x03, 0x3b, 0, 0, 0, 0, 4, 0, 0, 0 }, 12);
	for (int i = 0; i < 4; i++)
		image->entry[2 * i] = (int32_t)(offsetof(struct program, text) - offsetof(struct program, header) + begins[i]);
	return image;
}

static void put_lea(unsigned char *code_bytes, int32_t at, int32_t target)
{
	memcpy(code_bytes + at, (const unsigned char[]){ 0x48, 0x8d, 0x05 }, 3);
	put_displacement(code_bytes + at + 3, target - at - 7);
}

/* A provider hands on llvm_compile_expr(), whose code, longer than what is read at a time, hands on ExecRunCompiledExpr(). */
static void llvms_functions_are_found_without_symbols(void **unused)
{
	struct program *image = new_program((const uint32_t[]){ 0, 0x40, 0x340, 0x380 });
	uint64_t base = address_of(image), first = address_of(image->text), to[4];

	(void)unused;
	put_lea(image->text, 16, 0x40);
	put_lea(image->text, 32, 0x41); /* a string */
	put_lea(image->text, 0x40 + 509, 0x340);
	put_lea(image->text, 0x340 + 8, 0x380); /* beyond: what that one does is not asked */
	assert_int_equal(postgres_code_llvm_functions(&reader, base, first, to, 4), 2);
	assert_int_equal(to[0], first + 0x40);
	assert_int_equal(to[1], first + 0x340);
	assert_int_equal(postgres_code_llvm_functions(&reader, base, first, to, 1), 1);
	assert_int_equal(postgres_code_llvm_functions(&reader, base, 0, to, 4), 0);
	assert_int_equal(postgres_code_llvm_functions(&reader, base + 8, first, to, 4), 0);
}

/* A scan that passes the second one on and jumps to the third, ExecScan, which jumps to a fourth. */
static void functions_of_a_scan_are_found_in_its_code(void **unused)
{
	struct program *image = new_program((const uint32_t[]){ 0, 0x100, 0x200, 0x300 });
	uint64_t base = address_of(image), to[POSTGRES_FUNCTIONS_MAX], first;
	unsigned char *c;
	struct postgres_range f;

	(void)unused;
	c = image->text;
	memcpy(c + 16, (const unsigned char[]){ 0x48, 0x8d, 0x35 }, 3);
	put_displacement(c + 19, 0x100 - 23);
	memcpy(c + 23, (const unsigned char[]){ 0x48, 0x8d, 0x15 }, 3);
	put_displacement(c + 26, 0x101 - 30); /* no beginning */
	c[30] = 0xe9;
	put_displacement(c + 31, 0x200 - 35);
	c[0x210] = 0xe9;
	put_displacement(c + 0x211, 0x300 - 0x215);
	assert_true(postgres_code_init(&reader, base));
	first = address_of(image->text);
	assert_true(postgres_code_is_function_begin(&reader, first + 0x100));
	assert_false(postgres_code_is_function_begin(&reader, first + 0x101));
	assert_true(postgres_code_find_function(&reader, first + 0x1ff, &f));
	assert_int_equal(f.begin, first + 0x100);
	assert_int_equal(f.end, first + 0x200);
	code.symbol[POSTGRES_EXEC_SCAN] = first + 0x200;
	code.symbol[POSTGRES_MULTI_EXEC_HASH] = first + 0x300;
	for (int again = 0; again < 2; again++) {
		assert_int_equal(postgres_code_node_functions(&reader, POSTGRES_SEQ_SCAN, first, first, to), 4);
		assert_int_equal(to[0], first);
		assert_int_equal(to[1], first + 0x100);
		assert_int_equal(to[2], first + 0x200);
		assert_int_equal(to[3], first + 0x300);
	}
	assert_int_equal(code.nr_entries, 1);
	assert_int_equal(postgres_code_node_functions(&reader, POSTGRES_HASH, first + 0x100, first + 0x100, to), 2);
	assert_int_equal(to[1], first + 0x300);
	/* the executor's own, called for any node, takes the address of another one */
	memcpy(c + 0x220, (const unsigned char[]){ 0x48, 0x8d, 0x05 }, 3);
	put_displacement(c + 0x223, 0x300 - 0x227);
	code.nr_entries = 0;
	assert_int_equal(postgres_code_node_functions(&reader, POSTGRES_SORT, first + 0x100, first + 0x200, to), 3);
	assert_int_equal(to[0], first + 0x100);
	assert_int_equal(to[1], first + 0x200);
	assert_int_equal(to[2], first + 0x300);
	assert_int_equal(postgres_code_node_functions(&reader, POSTGRES_SORT, first + 0x100, first + 0x300, to), 2);
	assert_int_equal(postgres_code_node_functions(&reader, POSTGRES_SEQ_SCAN, first + 0x42, first, to), 0);
	image->e.e_phnum = 200;
	assert_false(postgres_code_init(&reader, base));
}

static void texts_are_normalised(void **unused)
{
	static const struct {
		const char *text, *normal;
	} cases[] = {
		{ "SELECT  1;\n", "SELECT ?" },
		{ "select a1, b from t1 where x = -1.5e-3 and y='it''s' -- why\n and z = E'\\'' /* a /* b */ c */ or \"A\"\"1\" = $1",
		  "select a1, b from t1 where x = ? and y=? and z = ? or \"A\"\"1\" = $1" },
		{ "select * from t where k in (1,2, 3) and f(1, 2) and j IN ('a')",
		  "select * from t where k in (?) and f(?, ?) and j IN (?)" },
		{ "select 1 - 2, a -1, b + -3, (-4), -5", "select ? - ?, a -?, b + ?, (?), ?" },
		{ "select -1 from t where a BETWEEN -2 and -3 or brand -4 = t.limit -5 limit -6",
		  "select ? from t where a BETWEEN ? and ? or brand -? = t.limit -? limit ?" },
		{ "do $x$ begin $$ end $x$ ; ;", "do ?" },
		{ "do $x$ begin", "do ?" },
		{ "select 'open", "select ?" },
		{ "select \"open", "select \"open" },
		{ "/* open", "" },
		{ "select U&'x', B'01', .5, 0x1F, 1_000, t.c1", "select ?, ?, ?, ?, ?, t.c1" },
		{ "", "" },
		{ ";", "" },
	};
	char shorter[12];

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		strcpy(text, cases[i].text);
		assert_int_equal(sql_text_normalise(text, strlen(text)), strlen(cases[i].normal));
		assert_string_equal(text, cases[i].normal);
	}
	assert_int_equal(sql_text_shorten("select \303\204\303\204", 11, shorter, sizeof(shorter)), 11);
	assert_int_equal(sql_text_shorten("select \303\204\303\204x", 12, shorter, sizeof(shorter)), 10);
	assert_string_equal(shorter, "select ...");
	for (int i = 0; i < 20000; i++) {
		static const char some[] = "a1'\"$ -/*\n\\(),.eE;in\303";
		size_t bytes = next_random() % 40;

		for (size_t k = 0; k < bytes; k++)
			text[k] = some[next_random() % (sizeof(some) - 1)];
		text[bytes] = 0;
		assert_true(sql_text_normalise(text, bytes) <= bytes);
	}
}

static void texts_are_reduced_to_what_all_executions_have(void **unused)
{
	static const struct {
		const char *text, *identity;
	} cases[] = {
		{ "insert into t values (1, 'a'),(2,'b')", "insert into t values (?),(?)" },
		{ "select f(?, ?, a, ?)", "select f(?, a, ?)" },
		{ "Filter: (cust = 1919); cost=0.00..5489.18 rows=47 width=4", "Filter: (cust = ?)" },
		{ "cost=5.04..280.31 rows=80 width=4", "" },
		{ "p1 3, p2 -1, p3 0, p5 16", "" },
		{ "Filters: k=5; Projections: k, v", "Filters: k=?; Projections: k, v" },
		{ "k=5", "k=?" },
		{ "?,", "?," },
		{ "", "" },
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		strcpy(text, cases[i].text);
		assert_int_equal(sql_text_identity(text, strlen(text)), strlen(cases[i].identity));
		assert_string_equal(text, cases[i].identity);
	}
	for (int i = 0; i < 20000; i++) {
		static const char some[] = "a1'\"$ -/*\n\\(),.eE;in\303=";
		size_t bytes = next_random() % 40;

		for (size_t k = 0; k < bytes; k++)
			text[k] = some[next_random() % (sizeof(some) - 1)];
		text[bytes] = 0;
		assert_true(sql_text_identity(text, bytes) <= bytes);
	}
}

static void unknown_versions_have_no_table(void **unused)
{
	(void)unused;
	assert_null(postgres_layout_of(9));
	for (unsigned major = 14; major <= 19; major++) {
		assert_non_null(postgres_layout_of(major));
		assert_int_equal(postgres_layout_of(major)->major, major);
		assert_int_equal(postgres_layout_of(major)->query_operation, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_plan_is_visited_in_explains_order, setup),
		cmocka_unit_test_setup(names_are_explains, setup),
		cmocka_unit_test_setup(conditions_are_explains, setup),
		cmocka_unit_test_setup(grouping_is_no_table, setup),
		cmocka_unit_test_setup(names_are_in_the_cache_of_each_version, setup),
		cmocka_unit_test_setup(constants_are_sqls, setup),
		cmocka_unit_test_setup(expressions_end, setup),
		cmocka_unit_test_setup(rows_are_of_all_loops, setup),
		cmocka_unit_test_setup(requests_are_of_foreign_scans, setup),
		cmocka_unit_test_setup(a_cycle_ends, setup),
		cmocka_unit_test_setup(ten_thousand_children_are_too_many, setup),
		cmocka_unit_test_setup(what_is_no_node_is_refused, setup),
		cmocka_unit_test_setup(what_is_no_query_is_refused, setup),
		cmocka_unit_test_setup(random_damage_is_survived, setup),
		cmocka_unit_test_setup(random_damage_of_conditions_is_survived, setup),
		cmocka_unit_test_setup(a_text_is_its_own_part_and_cut, setup),
		cmocka_unit_test_setup(a_workers_query_has_its_leaders_number, setup),
		cmocka_unit_test_setup(llvms_functions_are_found_without_symbols, setup),
		cmocka_unit_test_setup(functions_of_a_scan_are_found_in_its_code, setup),
		cmocka_unit_test_setup(texts_are_normalised, setup),
		cmocka_unit_test_setup(texts_are_reduced_to_what_all_executions_have, setup),
		cmocka_unit_test_setup(unknown_versions_have_no_table, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
