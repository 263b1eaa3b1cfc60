/* SPDX-License-Identifier: MIT */
#include "jitreg/engines/postgres_names.h"

#include "jitreg/engines/postgres_classes.h"
#include "jitreg/engines/postgres_expression.h"
#include "jitreg/engines/postgres_read.h"

#include <string.h>

#define IDENTIFIER_BYTES 64 /* NAMEDATALEN */
#define NUMBER_MAX 9e15	    /* limit of costs and rows that are printed */
#define COSTS_BYTES 96

static const char *const type_texts[] = {
#define TEXT(NAME, server, text) text,
	POSTGRES_NODES(TEXT)
#undef TEXT
};

/* ----------------------------------------------------------------------------------------------- tables and indexes */

/* Read the name of the relation (table or index) that the struct RelationData at relation describes.  Returns false if it cannot be
 * read. */
static bool read_relation_name(const struct postgres_reader *r, uint64_t relation, char name[IDENTIFIER_BYTES])
{
	uint64_t row = postgres_read_u64(r, relation, r->layout->relation_class);
	bool cut;

	return row && postgres_read_text(r, row + r->layout->relation_name, name, IDENTIFIER_BYTES, &cut) > 0;
}

/* Append what a scan reads and its alias, " on lineitem l".  index: that of the scan's entry in the query's range table, from 1 on. */
static void append_scan_target(struct sql_out *o, const struct postgres_reader *r, const struct postgres_query *q,
			       const struct postgres_node *n, uint32_t index)
{
	const struct postgres_layout *l = r->layout;
	uint64_t entry = postgres_range_table_entry(r, q->statement, index), relation = 0;
	uint64_t alias = postgres_read_u64(r, entry, l->range_names);
	char object[IDENTIFIER_BYTES] = "", name[IDENTIFIER_BYTES] = "";
	bool cut;

	if (n->type == POSTGRES_CTE_SCAN || n->type == POSTGRES_WORK_TABLE_SCAN) {
		postgres_read_text(r, postgres_read_u64(r, entry, l->range_cte), object, sizeof(object), &cut);
	} else if (n->type != POSTGRES_SUBQUERY_SCAN && n->type != POSTGRES_VALUES_SCAN && n->type != POSTGRES_FUNCTION_SCAN &&
		   n->type != POSTGRES_TABLE_FUNCTION_SCAN && n->type != POSTGRES_NAMED_TUPLESTORE_SCAN) {
		if (index && index <= postgres_read_u32(r, q->state, l->state_nr_relations))
			relation = postgres_read_u64(r, q->state, l->state_relations);
		if (relation && r->read(r->context, relation + 8 * (uint64_t)(index - 1), &relation, sizeof(relation)))
			relation = 0;
		read_relation_name(r, relation, object);
	}
	if (postgres_read_u32(r, alias, 0) == l->tag_alias)
		postgres_read_text(r, postgres_read_u64(r, alias, l->alias_name), name, sizeof(name), &cut);
	if (!*object && !*name)
		return;
	sql_out_text(o, " on ");
	if (*object)
		sql_out_identifier(o, object);
	if (*name && strcmp(object, name) != 0) {
		if (*object)
			sql_out_text(o, " ");
		sql_out_identifier(o, name);
	}
}

static void append_index_name(struct sql_out *o, const struct postgres_reader *r, const struct postgres_node *n, uint16_t offset,
			      const char *before)
{
	char name[IDENTIFIER_BYTES];

	if (!read_relation_name(r, postgres_read_u64(r, n->address, offset), name))
		return;
	sql_out_text(o, before);
	sql_out_identifier(o, name);
}

/* -------------------------------------------------------------------------------------------------------- kinds of nodes */

static void append_join_name(struct sql_out *o, const struct postgres_reader *r, const struct postgres_node *n)
{
	static const char *const before_16[] = { "", " Left", " Full", " Right", " Semi", " Anti" };
	static const char *const since_16[] = { "", " Left", " Full", " Right", " Semi", " Anti", " Right Anti" };
	static const char *const since_18[] = { "", " Left", " Full", " Right", " Semi", " Anti", " Right Semi", " Right Anti" };
	const char *const *texts = r->layout->major < 16 ? before_16 : r->layout->major < 18 ? since_16 : since_18;
	uint32_t nr = r->layout->major < 16 ? 6 : r->layout->major < 18 ? 7 : 8, type = postgres_read_u32(r, n->plan, r->layout->join_type);

	sql_out_text(o, n->type == POSTGRES_MERGE_JOIN ? "Merge" : n->type == POSTGRES_HASH_JOIN ? "Hash" : "Nested Loop");
	if (type > 0 && type < nr)
		sql_out_text(o, texts[type]);
	if (type > 0 || n->type != POSTGRES_NESTED_LOOP)
		sql_out_text(o, " Join");
}

static void append_aggregate_name(struct sql_out *o, const struct postgres_reader *r, const struct postgres_node *n)
{
	static const char *const texts[] = { "Aggregate", "GroupAggregate", "HashAggregate", "MixedAggregate" };
	uint32_t strategy = postgres_read_u32(r, n->plan, r->layout->agg_strategy);
	uint32_t split = postgres_read_u32(r, n->plan, r->layout->agg_split);

	if (split & 2)
		sql_out_text(o, "Partial ");
	else if (split & 1)
		sql_out_text(o, "Finalize ");
	sql_out_text(o, texts[strategy < 4 ? strategy : 0]);
}

static void append_set_operation(struct sql_out *o, const struct postgres_reader *r, const struct postgres_node *n)
{
	static const char *const texts[] = { " Intersect", " Intersect All", " Except", " Except All" };
	uint32_t command = postgres_read_u32(r, n->plan, r->layout->setop_command);

	sql_out_text(o, postgres_read_u32(r, n->plan, r->layout->setop_strategy) == 1 ? "HashSetOp" : "SetOp");
	if (command < 4)
		sql_out_text(o, texts[command]);
}

static const char *text_of_modify_operation(uint32_t operation)
{
	static const char *const texts[] = { NULL, NULL, "Update", "Insert", "Delete", "Merge" };

	return operation < sizeof(texts) / sizeof(texts[0]) ? texts[operation] : NULL;
}

static void append_custom_scan_name(struct sql_out *o, const struct postgres_reader *r, const struct postgres_node *n)
{
	uint64_t methods = postgres_read_u64(r, n->plan, r->layout->custom_methods);
	char name[IDENTIFIER_BYTES];
	bool cut;

	sql_out_text(o, "Custom Scan");
	if (postgres_read_text(r, postgres_read_u64(r, methods, r->layout->custom_name), name, sizeof(name), &cut) == 0)
		return;
	sql_out_text(o, " (");
	sql_out_text(o, name);
	sql_out_text(o, ")");
}

static void append_node_type(struct sql_out *o, const struct postgres_reader *r, const struct postgres_node *n)
{
	const struct postgres_layout *l = r->layout;
	const char *operation;

	switch (n->type) {
	case POSTGRES_NESTED_LOOP:
	case POSTGRES_MERGE_JOIN:
	case POSTGRES_HASH_JOIN:
		append_join_name(o, r, n);
		return;
	case POSTGRES_AGGREGATE:
		append_aggregate_name(o, r, n);
		return;
	case POSTGRES_SET_OP:
		append_set_operation(o, r, n);
		return;
	case POSTGRES_CUSTOM_SCAN:
		append_custom_scan_name(o, r, n);
		return;
	case POSTGRES_MODIFY_TABLE:
		operation = text_of_modify_operation(postgres_read_u32(r, n->plan, l->modify_operation));
		sql_out_text(o, operation ? operation : "ModifyTable");
		return;
	case POSTGRES_FOREIGN_SCAN:
		operation = text_of_modify_operation(postgres_read_u32(r, n->plan, l->foreign_operation));
		sql_out_text(o, "Foreign ");
		sql_out_text(o, operation ? operation : "Scan");
		return;
	default:
		sql_out_text(o, type_texts[n->type]);
	}
}

/* Returns the offset in the plans of nodes of this type of the member with the range-table index of what the node works on, or
 * POSTGRES_ABSENT if they have none. */
static uint16_t offset_of_range_index(const struct postgres_layout *l, enum postgres_node_type type)
{
	if (type == POSTGRES_MODIFY_TABLE)
		return l->modify_relation_index;
	if (type == POSTGRES_BITMAP_INDEX_SCAN || type < POSTGRES_SEQ_SCAN || type > POSTGRES_CUSTOM_SCAN)
		return POSTGRES_ABSENT;
	return l->scan_relation_index;
}

void postgres_node_name(const struct postgres_reader *r, const struct postgres_query *q, struct postgres_node *n)
{
	const struct postgres_layout *l = r->layout;
	struct sql_out o = { n->name, 0, sizeof(n->name), false };
	uint16_t index;

	n->name[0] = 0;
	if (postgres_read_u8(r, n->plan, l->plan_parallel_aware))
		sql_out_text(&o, "Parallel ");
	if (postgres_read_u8(r, n->plan, l->plan_asynchronous))
		sql_out_text(&o, "Async ");
	append_node_type(&o, r, n);
	if (n->type == POSTGRES_INDEX_SCAN || n->type == POSTGRES_INDEX_ONLY_SCAN) {
		bool only = n->type == POSTGRES_INDEX_ONLY_SCAN;

		if (postgres_read_u32(r, n->plan, only ? l->index_only_direction : l->index_direction) == UINT32_MAX) /* -1 */
			sql_out_text(&o, " Backward");
		append_index_name(&o, r, n, only ? l->index_only_scan_index : l->index_scan_index, " using ");
	}
	if (n->type == POSTGRES_BITMAP_INDEX_SCAN)
		append_index_name(&o, r, n, l->bitmap_index_scan_index, " on ");
	index = offset_of_range_index(l, n->type);
	if (index != POSTGRES_ABSENT)
		append_scan_target(&o, r, q, n, postgres_read_u32(r, n->plan, index));
}

static void append_decimal(struct sql_out *o, const char *before, double value, int decimals)
{
	if (!(value >= 0 && value < NUMBER_MAX)) /* this is true for NaN as well */
		return;
	sql_out_text(o, before);
	if (!decimals) {
		sql_out_number(o, (uint64_t)(value + 0.5), 1);
		return;
	}
	sql_out_number(o, (uint64_t)(value * 100 + 0.5) / 100, 1);
	sql_out_text(o, ".");
	sql_out_number(o, (uint64_t)(value * 100 + 0.5) % 100, 2);
}

void postgres_node_detail(const struct postgres_reader *r, const struct postgres_query *q, const struct postgres_node *n,
			  char detail[POSTGRES_DETAIL_BYTES])
{
	struct sql_out o = { detail, 0, POSTGRES_DETAIL_BYTES - COSTS_BYTES, false };
	const uint64_t subplan = postgres_subplan_expression(r, n->subplan);
	char name[IDENTIFIER_BYTES];
	bool cut;

	detail[0] = 0;
	if (subplan && postgres_read_text(r, postgres_read_u64(r, subplan, r->layout->subplan_name), name, sizeof(name), &cut))
		sql_out_text(&o, name);
	postgres_node_conditions(r, q, n, &o);
	sql_out_end(&o);
	o.room = POSTGRES_DETAIL_BYTES;
	append_decimal(&o, o.at ? "; cost=" : "cost=", n->startup_cost, 2);
	append_decimal(&o, "..", n->total_cost, 2);
	append_decimal(&o, " rows=", n->rows, 0);
	sql_out_text(&o, " width=");
	sql_out_number(&o, n->width > 0 ? (uint64_t)n->width : 0, 1);
}

const char *postgres_class_name(enum postgres_class class)
{
	static const char *const names[] = {
#define NAME(NAME_, text) text,
		POSTGRES_CLASSES(NAME)
#undef NAME
	};

	return names[class];
}
