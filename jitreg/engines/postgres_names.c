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

static void put_bytes(struct out *o, const char *text, size_t bytes)
{
	if (bytes > o->room - 1 - o->at)
		bytes = o->room - 1 - o->at;
	memcpy(o->text + o->at, text, bytes);
	o->at += bytes;
	o->text[o->at] = 0;
}

static void put(struct out *o, const char *text)
{
	put_bytes(o, text, strlen(text));
}

static void put_number(struct out *o, uint64_t value, int min_digits)
{
	char digits[24];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + value % 10);
		value /= 10;
	} while (value || (int)(sizeof(digits) - at) < min_digits);
	put_bytes(o, digits + at, sizeof(digits) - at);
}

static bool is_plain(const char *name)
{
	const char *c = name;

	if ((*c >= '0' && *c <= '9') || *c == '$')
		return false;
	while ((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '_' || *c == '$')
		c++;
	return *c == 0 && c != name;
}

/* A name as SQL has it: in quotes where it needs them. */
static void put_identifier(struct out *o, const char *name)
{
	if (is_plain(name)) {
		put(o, name);
		return;
	}
	put(o, "\"");
	for (; *name; name++) {
		if (*name == '"')
			put(o, "\"");
		put_bytes(o, name, 1);
	}
	put(o, "\"");
}

/* -------------------------------------------------------------------------------------------------- what it works on */

static uint64_t word_at(const struct postgres_reader *r, uint64_t address, uint16_t offset)
{
	uint64_t value;

	return address && offset != POSTGRES_ABSENT && r->read(r->context, address + offset, &value, sizeof(value)) == 0 ? value : 0;
}

static uint32_t number_at(const struct postgres_reader *r, uint64_t address, uint16_t offset)
{
	uint32_t value;

	return address && offset != POSTGRES_ABSENT && r->read(r->context, address + offset, &value, sizeof(value)) == 0 ? value : 0;
}

static bool byte_at(const struct postgres_reader *r, uint64_t address, uint16_t offset)
{
	uint8_t value;

	return address && offset != POSTGRES_ABSENT && r->read(r->context, address + offset, &value, sizeof(value)) == 0 && value;
}

/* A relation's name: of an open struct RelationData. */
static bool relation_name(const struct postgres_reader *r, uint64_t relation, char name[IDENTIFIER_BYTES])
{
	uint64_t row = word_at(r, relation, r->layout->relation_class);
	bool cut;

	return row && postgres_read_text(r, row + r->layout->relation_name, name, IDENTIFIER_BYTES, &cut) > 0;
}

/* A table of the query, by its index from 1 on: struct RangeTblEntry, or 0. */
static uint64_t range_entry(const struct postgres_reader *r, const struct postgres_query *q, uint32_t index)
{
	const struct postgres_layout *l = r->layout;
	uint64_t list = word_at(r, q->statement, l->statement_range_table), entry;

	if (!index || number_at(r, list, 0) != l->tag_list || index > number_at(r, list, l->list_nr))
		return 0;
	entry = word_at(r, list, l->list_elements);
	if (!entry || r->read(r->context, entry + 8 * (uint64_t)(index - 1), &entry, sizeof(entry)))
		return 0;
	return number_at(r, entry, 0) == l->tag_range ? entry : 0;
}

/* " on lineitem l" */
static void put_target(struct out *o, const struct postgres_reader *r, const struct postgres_query *q, const struct postgres_node *n,
		       uint32_t index)
{
	const struct postgres_layout *l = r->layout;
	uint64_t entry = range_entry(r, q, index), alias = word_at(r, entry, l->range_names), relation = 0;
	char object[IDENTIFIER_BYTES] = "", name[IDENTIFIER_BYTES] = "";
	bool cut;

	if (n->type == POSTGRES_CTE_SCAN || n->type == POSTGRES_WORK_TABLE_SCAN) {
		postgres_read_text(r, word_at(r, entry, l->range_cte), object, sizeof(object), &cut);
	} else if (n->type != POSTGRES_SUBQUERY_SCAN && n->type != POSTGRES_VALUES_SCAN && n->type != POSTGRES_FUNCTION_SCAN &&
		   n->type != POSTGRES_TABLE_FUNCTION_SCAN && n->type != POSTGRES_NAMED_TUPLESTORE_SCAN) {
		if (index && index <= number_at(r, q->state, l->state_nr_relations))
			relation = word_at(r, q->state, l->state_relations);
		if (relation && r->read(r->context, relation + 8 * (uint64_t)(index - 1), &relation, sizeof(relation)))
			relation = 0;
		relation_name(r, relation, object);
	}
	if (number_at(r, alias, 0) == l->tag_alias)
		postgres_read_text(r, word_at(r, alias, l->alias_name), name, sizeof(name), &cut);
	if (!*object && !*name)
		return;
	put(o, " on ");
	if (*object)
		put_identifier(o, object);
	if (*name && strcmp(object, name) != 0) {
		if (*object)
			put(o, " ");
		put_identifier(o, name);
	}
}

static void put_index(struct out *o, const struct postgres_reader *r, const struct postgres_node *n, uint16_t offset, const char *before)
{
	char name[IDENTIFIER_BYTES];

	if (!relation_name(r, word_at(r, n->address, offset), name))
		return;
	put(o, before);
	put_identifier(o, name);
}

/* -------------------------------------------------------------------------------------------------------- kinds of nodes */

static void put_join(struct out *o, const struct postgres_reader *r, const struct postgres_node *n)
{
	static const char *const before_16[] = { "", " Left", " Full", " Right", " Semi", " Anti" };
	static const char *const since_16[] = { "", " Left", " Full", " Right", " Semi", " Anti", " Right Anti" };
	static const char *const since_18[] = { "", " Left", " Full", " Right", " Semi", " Anti", " Right Semi", " Right Anti" };
	const char *const *texts = r->layout->major < 16 ? before_16 : r->layout->major < 18 ? since_16 : since_18;
	uint32_t nr = r->layout->major < 16 ? 6 : r->layout->major < 18 ? 7 : 8, type = number_at(r, n->plan, r->layout->join_type);

	put(o, n->type == POSTGRES_MERGE_JOIN ? "Merge" : n->type == POSTGRES_HASH_JOIN ? "Hash" : "Nested Loop");
	if (type > 0 && type < nr)
		put(o, texts[type]);
	if (type > 0 || n->type != POSTGRES_NESTED_LOOP)
		put(o, " Join");
}

static void put_aggregate(struct out *o, const struct postgres_reader *r, const struct postgres_node *n)
{
	static const char *const texts[] = { "Aggregate", "GroupAggregate", "HashAggregate", "MixedAggregate" };
	uint32_t strategy = number_at(r, n->plan, r->layout->agg_strategy), split = number_at(r, n->plan, r->layout->agg_split);

	if (split & 2)
		put(o, "Partial ");
	else if (split & 1)
		put(o, "Finalize ");
	put(o, texts[strategy < 4 ? strategy : 0]);
}

static void put_set_operation(struct out *o, const struct postgres_reader *r, const struct postgres_node *n)
{
	static const char *const texts[] = { " Intersect", " Intersect All", " Except", " Except All" };
	uint32_t command = number_at(r, n->plan, r->layout->setop_command);

	put(o, number_at(r, n->plan, r->layout->setop_strategy) == 1 ? "HashSetOp" : "SetOp");
	if (command < 4)
		put(o, texts[command]);
}

static const char *operation_text(uint32_t operation)
{
	static const char *const texts[] = { NULL, NULL, "Update", "Insert", "Delete", "Merge" };

	return operation < sizeof(texts) / sizeof(texts[0]) ? texts[operation] : NULL;
}

static void put_custom(struct out *o, const struct postgres_reader *r, const struct postgres_node *n)
{
	uint64_t methods = word_at(r, n->plan, r->layout->custom_methods);
	char name[IDENTIFIER_BYTES];
	bool cut;

	put(o, "Custom Scan");
	if (postgres_read_text(r, word_at(r, methods, r->layout->custom_name), name, sizeof(name), &cut) == 0)
		return;
	put(o, " (");
	put(o, name);
	put(o, ")");
}

static void put_type(struct out *o, const struct postgres_reader *r, const struct postgres_node *n)
{
	const struct postgres_layout *l = r->layout;
	const char *operation;

	switch (n->type) {
	case POSTGRES_NESTED_LOOP:
	case POSTGRES_MERGE_JOIN:
	case POSTGRES_HASH_JOIN:
		put_join(o, r, n);
		return;
	case POSTGRES_AGGREGATE:
		put_aggregate(o, r, n);
		return;
	case POSTGRES_SET_OP:
		put_set_operation(o, r, n);
		return;
	case POSTGRES_CUSTOM_SCAN:
		put_custom(o, r, n);
		return;
	case POSTGRES_MODIFY_TABLE:
		operation = operation_text(number_at(r, n->plan, l->modify_operation));
		put(o, operation ? operation : "ModifyTable");
		return;
	case POSTGRES_FOREIGN_SCAN:
		operation = operation_text(number_at(r, n->plan, l->foreign_operation));
		put(o, "Foreign ");
		put(o, operation ? operation : "Scan");
		return;
	default:
		put(o, type_texts[n->type]);
	}
}

/* Where the plan says which table of the query a node works on; POSTGRES_ABSENT: it works on no table. */
static uint16_t range_index_offset(const struct postgres_layout *l, enum postgres_node_type type)
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
	if (byte_at(r, n->plan, l->plan_parallel_aware))
		put(&o, "Parallel ");
	put_type(&o, r, n);
	if (n->type == POSTGRES_INDEX_SCAN || n->type == POSTGRES_INDEX_ONLY_SCAN) {
		bool only = n->type == POSTGRES_INDEX_ONLY_SCAN;

		if (number_at(r, n->plan, only ? l->index_only_direction : l->index_direction) == UINT32_MAX) /* -1 */
			put(&o, " Backward");
		put_index(&o, r, n, only ? l->index_only_scan_index : l->index_scan_index, " using ");
	}
	if (n->type == POSTGRES_BITMAP_INDEX_SCAN)
		put_index(&o, r, n, l->bitmap_index_scan_index, " on ");
	index = range_index_offset(l, n->type);
	if (index != POSTGRES_ABSENT)
		put_target(&o, r, q, n, number_at(r, n->plan, index));
}

static void put_decimal(struct out *o, const char *before, double value, int decimals)
{
	if (!(value >= 0 && value < NUMBER_MAX)) /* nor a NaN */
		return;
	put(o, before);
	if (!decimals) {
		put_number(o, (uint64_t)(value + 0.5), 1);
		return;
	}
	put_number(o, (uint64_t)(value * 100 + 0.5) / 100, 1);
	put(o, ".");
	put_number(o, (uint64_t)(value * 100 + 0.5) % 100, 2);
}

void postgres_node_detail(const struct postgres_reader *r, const struct postgres_node *n, char detail[POSTGRES_DETAIL_BYTES])
{
	const struct postgres_layout *l = r->layout;
	struct out o = { detail, 0, POSTGRES_DETAIL_BYTES };
	uint64_t subplan;
	char name[IDENTIFIER_BYTES];
	bool cut;

	detail[0] = 0;
	subplan = n->subplan ? word_at(r, n->subplan, l->subplan_expression) : 0;
	if (subplan && number_at(r, subplan, 0) == l->tag_subplan &&
	    postgres_read_text(r, word_at(r, subplan, l->subplan_name), name, sizeof(name), &cut)) {
		put(&o, name);
		put(&o, "; ");
	}
	put_decimal(&o, "cost=", n->startup_cost, 2);
	put_decimal(&o, "..", n->total_cost, 2);
	put_decimal(&o, " rows=", n->rows, 0);
	put(&o, " width=");
	put_number(&o, n->width > 0 ? (uint64_t)n->width : 0, 1);
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
