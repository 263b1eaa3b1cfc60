/* SPDX-License-Identifier: MIT */
/* Writes the conditions and keys of a node, which EXPLAIN prints below the node. */
#include "jitreg/engines/postgres_catalog.h"
#include "jitreg/engines/postgres_expression.h"
#include "jitreg/engines/postgres_read.h"

#include <string.h>

#define RANGE_GROUP 9u /* RTE_GROUP */
#define KEYS_MAX 100u
#define ANY_NODE POSTGRES_NR_NODES

#define FIELD(field) offsetof(struct postgres_layout, field)
#define NO_FIELD SIZE_MAX

/* Nodes have these lists of expressions, here in the order of EXPLAIN. Columns: kind of node, member of the plan with the list, label in
 * EXPLAIN, text between two expressions. */
static const struct {
	int type;
	size_t list;
	const char *label, *between;
} lists[] = {
	{ POSTGRES_INDEX_SCAN, FIELD(index_condition), "Index Cond", " AND " },
	{ POSTGRES_INDEX_SCAN, FIELD(index_order), "Order By", ", " },
	{ POSTGRES_INDEX_ONLY_SCAN, FIELD(index_only_condition), "Index Cond", " AND " },
	{ POSTGRES_BITMAP_INDEX_SCAN, FIELD(bitmap_index_condition), "Index Cond", " AND " },
	{ POSTGRES_BITMAP_HEAP_SCAN, FIELD(bitmap_recheck), "Recheck Cond", " AND " },
	{ POSTGRES_TID_SCAN, FIELD(tid_condition), "TID Cond", " OR " },
	{ POSTGRES_TID_RANGE_SCAN, FIELD(tid_range_condition), "TID Cond", " AND " },
	{ POSTGRES_FUNCTION_SCAN, FIELD(function_calls), "Function Call", ", " },
	{ POSTGRES_MERGE_JOIN, FIELD(merge_condition), "Merge Cond", " AND " },
	{ POSTGRES_HASH_JOIN, FIELD(hash_condition), "Hash Cond", " AND " },
	{ POSTGRES_NESTED_LOOP, FIELD(join_filter), "Join Filter", " AND " },
	{ POSTGRES_MERGE_JOIN, FIELD(join_filter), "Join Filter", " AND " },
	{ POSTGRES_HASH_JOIN, FIELD(join_filter), "Join Filter", " AND " },
	{ POSTGRES_RESULT, FIELD(result_condition), "One-Time Filter", " AND " },
	{ POSTGRES_MEMOIZE, FIELD(memoize_keys), "Cache Key", ", " },
	{ ANY_NODE, FIELD(plan_filter), "Filter", " AND " },
};

/* Keys are arrays of numbers of columns. These are columns of the node's target list, or, with is_below, of that of the plan below it. */
static const struct {
	enum postgres_node_type type;
	bool is_below;
	size_t nr, keys, operators;
	const char *label;
} keys[] = {
	{ POSTGRES_SORT, false, FIELD(sort_nr_keys), FIELD(sort_keys), FIELD(sort_operators), "Sort Key" },
	{ POSTGRES_INCREMENTAL_SORT, false, FIELD(sort_nr_keys), FIELD(sort_keys), FIELD(sort_operators), "Sort Key" },
	{ POSTGRES_MERGE_APPEND, false, FIELD(merge_append_nr_keys), FIELD(merge_append_keys), FIELD(merge_append_operators), "Sort Key" },
	{ POSTGRES_GROUP, true, FIELD(group_nr_keys), FIELD(group_keys), NO_FIELD, "Group Key" },
	{ POSTGRES_AGGREGATE, true, FIELD(agg_nr_keys), FIELD(agg_keys), NO_FIELD, "Group Key" },
};

static uint16_t offset_at(const struct postgres_layout *l, size_t field)
{
	uint16_t offset;

	memcpy(&offset, (const char *)l + field, sizeof(offset));
	return offset;
}

static void begin_part(struct sql_out *o, const char *label)
{
	sql_out_text(o, o->at ? "; " : "");
	sql_out_text(o, label);
	sql_out_text(o, ": ");
}

static void add_expressions(struct postgres_expression *x, uint64_t list, const char *label, const char *between)
{
	uint32_t nr = postgres_list_nr(x->r, list, x->r->layout->tag_list);
	const bool is_joined = nr > 1 && *between == ' ';

	if (!nr || x->o->is_cut)
		return;
	begin_part(x->o, label);
	sql_out_text(x->o, is_joined ? "(" : "");
	for (uint32_t i = 0; i < nr && !x->o->is_cut; i++) {
		sql_out_text(x->o, i ? between : "");
		postgres_expression_add(x, postgres_list_element(x->r, list, i));
	}
	sql_out_text(x->o, is_joined ? ")" : "");
}

/* Is key n sorted by an operator ">", that is, in descending order?  An operator whose name is unknown counts as "<". */
static bool is_descending(const struct postgres_reader *r, uint64_t operators, uint32_t n)
{
	uint32_t number = operators ? postgres_read_u32(r, operators + 4 * (uint64_t)n, 0) : 0;
	const char *name = postgres_catalog_name(r, POSTGRES_CATALOG_ORDERINGS, number);

	return name && strcmp(name, ">") == 0;
}

static void add_keys(struct postgres_expression *x, size_t k)
{
	const struct postgres_reader *r = x->r;
	const struct postgres_layout *l = r->layout;
	const uint64_t node = x->plan, numbers = postgres_read_u64(r, node, offset_at(l, keys[k].keys));
	const uint64_t operators = keys[k].operators == NO_FIELD ? 0 : postgres_read_u64(r, node, offset_at(l, keys[k].operators));
	uint32_t nr = postgres_read_u32(r, node, offset_at(l, keys[k].nr));
	uint64_t targets;

	if (!nr || nr > KEYS_MAX || !numbers || x->o->is_cut)
		return;
	x->plan = keys[k].is_below ? postgres_read_u64(r, node, l->plan_left) : node;
	targets = postgres_read_u64(r, x->plan, l->plan_targets);
	begin_part(x->o, keys[k].label);
	for (uint32_t i = 0; i < nr && !x->o->is_cut; i++) {
		sql_out_text(x->o, i ? ", " : "");
		postgres_expression_add(x, postgres_target(r, targets, postgres_read_u16(r, numbers + 2 * i, 0)));
		sql_out_text(x->o, is_descending(r, operators, i) ? " DESC" : "");
	}
	x->plan = node;
}

/* Has the query more than one entry in its range table?  The entry that GROUP BY adds since version 18 does not count. */
static bool has_several_tables(const struct postgres_reader *r, const struct postgres_query *q)
{
	const uint64_t tables = postgres_read_u64(r, q->statement, r->layout->statement_range_table);
	const uint32_t nr = postgres_list_nr(r, tables, r->layout->tag_list);
	uint32_t nr_tables = 0;

	for (uint32_t i = 0; i < nr && nr_tables < 2; i++)
		nr_tables += postgres_read_u32(r, postgres_list_element(r, tables, i), r->layout->range_kind) != RANGE_GROUP;
	return nr_tables > 1;
}

void postgres_node_conditions(const struct postgres_reader *r, const struct postgres_query *q, const struct postgres_node *n,
			      struct sql_out *o)
{
	struct postgres_expression x = { .r = r, .q = q, .n = n, .o = o, .plan = n->plan };
	const bool is_scan = n->type >= POSTGRES_SEQ_SCAN && n->type <= POSTGRES_CUSTOM_SCAN;

	/* Columns have their table in front as in EXPLAIN: always in a Subquery Scan, not in other scans, and in other nodes if the query
	 * has several tables. */
	x.has_table = is_scan ? n->type == POSTGRES_SUBQUERY_SCAN : has_several_tables(r, q);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (keys[i].type == n->type)
			add_keys(&x, i);
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		if (lists[i].type == (int)n->type || lists[i].type == ANY_NODE)
			add_expressions(&x, postgres_read_u64(r, n->plan, offset_at(r->layout, lists[i].list)), lists[i].label,
					lists[i].between);
}
