/* SPDX-License-Identifier: MIT */
#include "jitreg/engines/postgres_names.h"

#include "jitreg/engines/postgres_classes.h"

#include <string.h>

#define IDENTIFIER_BYTES 64 /* NAMEDATALEN */
#define NUMBER_MAX 9e15	    /* what is printed of costs and rows */

static const char *const type_texts[] = {
#define TEXT(NAME, server, text) text,
	POSTGRES_NODES(TEXT)
#undef TEXT
};

/* Text that grows up to its room; always ended. */
struct out {
	char *text;
	size_t at, room;
};

static void append_bytes(struct out *o, const char *text, size_t bytes)
{
	if (bytes > o->room - 1 - o->at)
		bytes = o->room - 1 - o->at;
	memcpy(o->text + o->at, text, bytes);
	o->at += bytes;
	o->text[o->at] = 0;
}

static void append_text(struct out *o, const char *text)
{
	append_bytes(o, text, strlen(text));
}

static void append_number(struct out *o, uint64_t value, int min_digits)
{
	char digits[24];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value || (int)(sizeof(digits) - at) < min_digits);
	append_bytes(o, digits + at, sizeof(digits) - at);
}

static bool is_plain_identifier(const char *name)
{
	const char *c = name;

	if ((*c >= '0' && *c <= '9') || *c == '$')
		return false;
	while ((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '_' || *c == '$')
		c++;
	return *c == 0 && c != name;
}

/* A name as SQL has it: in quotes where it needs them. */
static void append_identifier(struct out *o, const char *name)
{
	if (is_plain_identifier(name)) {
		append_text(o, name);
		return;
	}
	append_text(o, "\"");
	for (; *name; name++) {
		if (*name == '"')
			append_text(o, "\"");
		append_bytes(o, name, 1);
	}
	append_text(o, "\"");
}

/* -------------------------------------------------------------------------------------------------- what it works on */

static uint64_t read_u64_or_0(const struct postgres_reader *r, uint64_t address, uint16_t offset)
{
	uint64_t value;

	return address && offset != POSTGRES_ABSENT && r->read(r->context, address + offset, &value, sizeof(value)) == 0 ? value : 0;
}

static uint32_t read_u32_or_0(const struct postgres_reader *r, uint64_t address, uint16_t offset)
{
	uint32_t value;

	return address && offset != POSTGRES_ABSENT && r->read(r->context, address + offset, &value, sizeof(value)) == 0 ? value : 0;
}

static bool read_flag_byte(const struct postgres_reader *r, uint64_t address, uint16_t offset)
{
	uint8_t value;

	return address && offset != POSTGRES_ABSENT && r->read(r->context, address + offset, &value, sizeof(value)) == 0 && value;
}

/* A relation's name: of an open struct RelationData. */
static bool read_relation_name(const struct postgres_reader *r, uint64_t relation, char name[IDENTIFIER_BYTES])
{
	uint64_t row = read_u64_or_0(r, relation, r->layout->relation_class);
	bool cut;

	return row && postgres_read_text(r, row + r->layout->relation_name, name, IDENTIFIER_BYTES, &cut) > 0;
}

/* A table of the query, by its index from 1 on: struct RangeTblEntry, or 0. */
static uint64_t find_range_table_entry(const struct postgres_reader *r, const struct postgres_query *q, uint32_t index)
{
	const struct postgres_layout *l = r->layout;
	uint64_t list = read_u64_or_0(r, q->statement, l->statement_range_table), entry;

	if (!index || read_u32_or_0(r, list, 0) != l->tag_list || index > read_u32_or_0(r, list, l->list_nr))
		return 0;
	entry = read_u64_or_0(r, list, l->list_elements);
	if (!entry || r->read(r->context, entry + 8 * (uint64_t)(index - 1), &entry, sizeof(entry)))
		return 0;
	return read_u32_or_0(r, entry, 0) == l->tag_range ? entry : 0;
}

/* " on lineitem l" */
static void append_scan_target(struct out *o, const struct postgres_reader *r, const struct postgres_query *q,
			       const struct postgres_node *n, uint32_t index)
{
	const struct postgres_layout *l = r->layout;
	uint64_t entry = find_range_table_entry(r, q, index), alias = read_u64_or_0(r, entry, l->range_names), relation = 0;
	char object[IDENTIFIER_BYTES] = "", name[IDENTIFIER_BYTES] = "";
	bool cut;

	if (n->type == POSTGRES_CTE_SCAN || n->type == POSTGRES_WORK_TABLE_SCAN) {
		postgres_read_text(r, read_u64_or_0(r, entry, l->range_cte), object, sizeof(object), &cut);
	} else if (n->type != POSTGRES_SUBQUERY_SCAN && n->type != POSTGRES_VALUES_SCAN && n->type != POSTGRES_FUNCTION_SCAN &&
		   n->type != POSTGRES_TABLE_FUNCTION_SCAN && n->type != POSTGRES_NAMED_TUPLESTORE_SCAN) {
		if (index && index <= read_u32_or_0(r, q->state, l->state_nr_relations))
			relation = read_u64_or_0(r, q->state, l->state_relations);
		if (relation && r->read(r->context, relation + 8 * (uint64_t)(index - 1), &relation, sizeof(relation)))
			relation = 0;
		read_relation_name(r, relation, object);
	}
	if (read_u32_or_0(r, alias, 0) == l->tag_alias)
		postgres_read_text(r, read_u64_or_0(r, alias, l->alias_name), name, sizeof(name), &cut);
	if (!*object && !*name)
		return;
	append_text(o, " on ");
	if (*object)
		append_identifier(o, object);
	if (*name && strcmp(object, name) != 0) {
		if (*object)
			append_text(o, " ");
		append_identifier(o, name);
	}
}

static void append_index_name(struct out *o, const struct postgres_reader *r, const struct postgres_node *n, uint16_t offset,
			      const char *before)
{
	char name[IDENTIFIER_BYTES];

	if (!read_relation_name(r, read_u64_or_0(r, n->address, offset), name))
		return;
	append_text(o, before);
	append_identifier(o, name);
}

/* -------------------------------------------------------------------------------------------------------- kinds of nodes */

static void append_join_name(struct out *o, const struct postgres_reader *r, const struct postgres_node *n)
{
	static const char *const before_16[] = { "", " Left", " Full", " Right", " Semi", " Anti" };
	static const char *const since_16[] = { "", " Left", " Full", " Right", " Semi", " Anti", " Right Anti" };
	static const char *const since_18[] = { "", " Left", " Full", " Right", " Semi", " Anti", " Right Semi", " Right Anti" };
	const char *const *texts = r->layout->major < 16 ? before_16 : r->layout->major < 18 ? since_16 : since_18;
	uint32_t nr = r->layout->major < 16 ? 6 : r->layout->major < 18 ? 7 : 8, type = read_u32_or_0(r, n->plan, r->layout->join_type);

	append_text(o, n->type == POSTGRES_MERGE_JOIN ? "Merge" : n->type == POSTGRES_HASH_JOIN ? "Hash" : "Nested Loop");
	if (type > 0 && type < nr)
		append_text(o, texts[type]);
	if (type > 0 || n->type != POSTGRES_NESTED_LOOP)
		append_text(o, " Join");
}

static void append_aggregate_name(struct out *o, const struct postgres_reader *r, const struct postgres_node *n)
{
	static const char *const texts[] = { "Aggregate", "GroupAggregate", "HashAggregate", "MixedAggregate" };
	uint32_t strategy = read_u32_or_0(r, n->plan, r->layout->agg_strategy), split = read_u32_or_0(r, n->plan, r->layout->agg_split);

	if (split & 2)
		append_text(o, "Partial ");
	else if (split & 1)
		append_text(o, "Finalize ");
	append_text(o, texts[strategy < 4 ? strategy : 0]);
}

static void append_set_operation(struct out *o, const struct postgres_reader *r, const struct postgres_node *n)
{
	static const char *const texts[] = { " Intersect", " Intersect All", " Except", " Except All" };
	uint32_t command = read_u32_or_0(r, n->plan, r->layout->setop_command);

	append_text(o, read_u32_or_0(r, n->plan, r->layout->setop_strategy) == 1 ? "HashSetOp" : "SetOp");
	if (command < 4)
		append_text(o, texts[command]);
}

static const char *text_of_modify_operation(uint32_t operation)
{
	static const char *const texts[] = { NULL, NULL, "Update", "Insert", "Delete", "Merge" };

	return operation < sizeof(texts) / sizeof(texts[0]) ? texts[operation] : NULL;
}

static void append_custom_scan_name(struct out *o, const struct postgres_reader *r, const struct postgres_node *n)
{
	uint64_t methods = read_u64_or_0(r, n->plan, r->layout->custom_methods);
	char name[IDENTIFIER_BYTES];
	bool cut;

	append_text(o, "Custom Scan");
	if (postgres_read_text(r, read_u64_or_0(r, methods, r->layout->custom_name), name, sizeof(name), &cut) == 0)
		return;
	append_text(o, " (");
	append_text(o, name);
	append_text(o, ")");
}

static void append_node_type(struct out *o, const struct postgres_reader *r, const struct postgres_node *n)
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
		operation = text_of_modify_operation(read_u32_or_0(r, n->plan, l->modify_operation));
		append_text(o, operation ? operation : "ModifyTable");
		return;
	case POSTGRES_FOREIGN_SCAN:
		operation = text_of_modify_operation(read_u32_or_0(r, n->plan, l->foreign_operation));
		append_text(o, "Foreign ");
		append_text(o, operation ? operation : "Scan");
		return;
	default:
		append_text(o, type_texts[n->type]);
	}
}

/* Where the plan says which table of the query a node works on; POSTGRES_ABSENT: it works on no table. */
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
	struct out o = { n->name, 0, sizeof(n->name) };
	uint16_t index;

	n->name[0] = 0;
	if (read_flag_byte(r, n->plan, l->plan_parallel_aware))
		append_text(&o, "Parallel ");
	append_node_type(&o, r, n);
	if (n->type == POSTGRES_INDEX_SCAN || n->type == POSTGRES_INDEX_ONLY_SCAN) {
		bool only = n->type == POSTGRES_INDEX_ONLY_SCAN;

		if (read_u32_or_0(r, n->plan, only ? l->index_only_direction : l->index_direction) == UINT32_MAX) /* -1 */
			append_text(&o, " Backward");
		append_index_name(&o, r, n, only ? l->index_only_scan_index : l->index_scan_index, " using ");
	}
	if (n->type == POSTGRES_BITMAP_INDEX_SCAN)
		append_index_name(&o, r, n, l->bitmap_index_scan_index, " on ");
	index = offset_of_range_index(l, n->type);
	if (index != POSTGRES_ABSENT)
		append_scan_target(&o, r, q, n, read_u32_or_0(r, n->plan, index));
}

static void append_decimal(struct out *o, const char *before, double value, int decimals)
{
	if (!(value >= 0 && value < NUMBER_MAX)) /* nor a NaN */
		return;
	append_text(o, before);
	if (!decimals) {
		append_number(o, (uint64_t)(value + 0.5), 1);
		return;
	}
	append_number(o, (uint64_t)(value * 100 + 0.5) / 100, 1);
	append_text(o, ".");
	append_number(o, (uint64_t)(value * 100 + 0.5) % 100, 2);
}

void postgres_node_detail(const struct postgres_reader *r, const struct postgres_node *n, char detail[POSTGRES_DETAIL_BYTES])
{
	const struct postgres_layout *l = r->layout;
	struct out o = { detail, 0, POSTGRES_DETAIL_BYTES };
	uint64_t subplan;
	char name[IDENTIFIER_BYTES];
	bool cut;

	detail[0] = 0;
	subplan = n->subplan ? read_u64_or_0(r, n->subplan, l->subplan_expression) : 0;
	if (subplan && read_u32_or_0(r, subplan, 0) == l->tag_subplan &&
	    postgres_read_text(r, read_u64_or_0(r, subplan, l->subplan_name), name, sizeof(name), &cut)) {
		append_text(&o, name);
		append_text(&o, "; ");
	}
	append_decimal(&o, "cost=", n->startup_cost, 2);
	append_decimal(&o, "..", n->total_cost, 2);
	append_decimal(&o, " rows=", n->rows, 0);
	append_text(&o, " width=");
	append_number(&o, n->width > 0 ? (uint64_t)n->width : 0, 1);
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
