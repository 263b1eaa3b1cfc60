/* SPDX-License-Identifier: MIT */
#include "jitreg/engines/postgres_expression.h"

#include "jitreg/engines/postgres_catalog.h"
#include "jitreg/engines/postgres_literal.h"
#include "jitreg/engines/postgres_names.h"
#include "jitreg/engines/postgres_read.h"

#include <string.h>

#define DEPTH_MAX 64u
#define PARTS_MAX 1000u /* maximum number of parts of the expressions of a node; further ones are "..." */
#define IDENTIFIER_BYTES 64

/* ---------------------------------------------------------------------------------------------------------- variables */

/* Special numbers of tables stand for the output of plans below (INNER_VAR, OUTER_VAR) or the columns of an index (INDEX_VAR). They are
 * -1, -2 and -3, and before version 15 were 65000, 65001 and 65002. */
enum special { INNER = 1, OUTER, INDEX };

static unsigned special_table(int32_t table)
{
	return table >= 65000 ? (unsigned)table - 65000 + INNER : table < 0 ? (unsigned)-table : 0;
}

/* Returns the plan below whose target list a special table stands for, or 0. */
static uint64_t plan_below(const struct postgres_reader *r, uint64_t plan, unsigned special)
{
	const struct postgres_layout *l = r->layout;
	const uint32_t tag = postgres_read_u32(r, plan, 0);

	if (special == OUTER && tag == l->tag_of_plan[POSTGRES_APPEND])
		return postgres_list_element(r, postgres_read_u64(r, plan, l->append_plans), 0);
	if (special == OUTER && tag == l->tag_of_plan[POSTGRES_MERGE_APPEND])
		return postgres_list_element(r, postgres_read_u64(r, plan, l->merge_append_plans), 0);
	if (special == INNER && tag == l->tag_of_plan[POSTGRES_SUBQUERY_SCAN])
		return postgres_read_u64(r, plan, l->subquery_scan_plan);
	return postgres_read_u64(r, plan, special == OUTER ? l->plan_left : l->plan_right);
}

uint64_t postgres_target(const struct postgres_reader *r, uint64_t list, uint32_t number)
{
	uint64_t target = 0;

	if (number && number <= postgres_list_nr(r, list, r->layout->tag_list))
		target = postgres_list_element(r, list, number - 1);
	return postgres_read_u32(r, target, 0) == r->layout->tag_target ? postgres_read_u64(r, target, r->layout->target_expression) : 0;
}

static void add_in_plan(struct postgres_expression *x, uint64_t plan, uint64_t expression)
{
	const uint64_t before = x->plan;

	x->plan = plan;
	postgres_expression_add(x, expression);
	x->plan = before;
}

/* Add a column of a table of the query: "l.l_orderkey".  Column 0 is the whole row, and negative ones are system columns. */
static void add_column(struct postgres_expression *x, uint32_t table, int column)
{
	static const char *const system[] = { "ctid", "xmin", "cmin", "xmax", "cmax", "tableoid" };
	const struct postgres_reader *r = x->r;
	const struct postgres_layout *l = r->layout;
	uint64_t names = postgres_read_u64(r, postgres_range_table_entry(r, x->q->statement, table), l->range_names), columns, text;
	char name[IDENTIFIER_BYTES];
	bool cut;

	if (postgres_read_u32(r, names, 0) != l->tag_alias) {
		sql_out_text(x->o, "...");
		return;
	}
	if ((x->has_table || !column) && postgres_read_text(r, postgres_read_u64(r, names, l->alias_name), name, sizeof(name), &cut)) {
		sql_out_identifier(x->o, name);
		sql_out_text(x->o, column ? "." : "");
	}
	if (column < 0 && -column <= (int)(sizeof(system) / sizeof(system[0])))
		sql_out_text(x->o, system[-column - 1]);
	if (column <= 0)
		return;
	columns = postgres_read_u64(r, names, l->alias_columns);
	text = (uint32_t)column <= postgres_list_nr(r, columns, l->tag_list) ? postgres_list_element(r, columns, (uint32_t)column - 1) : 0;
	text = postgres_read_u32(r, text, 0) == l->tag_string ? postgres_read_u64(r, text, l->string_text) : 0;
	if (postgres_read_text(r, text, name, sizeof(name), &cut))
		sql_out_identifier(x->o, name);
}

static void add_variable(struct postgres_expression *x, uint64_t at)
{
	const struct postgres_reader *r = x->r;
	const struct postgres_layout *l = r->layout;
	const int32_t table = (int32_t)postgres_read_u32(r, at, l->variable_table);
	const int16_t column = (int16_t)postgres_read_u16(r, at, l->variable_column);
	const unsigned special = special_table(table);
	uint64_t below = special == INDEX ? x->plan : plan_below(r, x->plan, special), list;

	if (!special) {
		add_column(x, (uint32_t)table, column);
		return;
	}
	if (special != INDEX)
		list = postgres_read_u64(r, below, l->plan_targets);
	else if (postgres_read_u32(r, below, 0) == l->tag_of_plan[POSTGRES_INDEX_ONLY_SCAN])
		list = postgres_read_u64(r, below, l->index_only_targets);
	else
		list = postgres_read_u32(r, below, 0) == l->tag_of_plan[POSTGRES_FOREIGN_SCAN] ?
			       postgres_read_u64(r, below, l->foreign_targets) : 0;
	add_in_plan(x, below, column > 0 ? postgres_target(r, list, (uint32_t)column) : 0);
}

/* --------------------------------------------------------------------------------------------------------- parameters */

uint64_t postgres_subplan_expression(const struct postgres_reader *r, uint64_t subplan_state)
{
	uint64_t subplan = postgres_read_u64(r, subplan_state, r->layout->subplan_expression);

	return postgres_read_u32(r, subplan, 0) == r->layout->tag_subplan ? subplan : 0;
}

/* Returns the expression that a nested loop passes to its inner side as this parameter, or 0 if the plan is no nested loop or has no such
 * parameter. */
static uint64_t value_of_loop(const struct postgres_reader *r, uint64_t plan, uint32_t number)
{
	const struct postgres_layout *l = r->layout;
	uint64_t list = postgres_read_u32(r, plan, 0) == l->tag_of_plan[POSTGRES_NESTED_LOOP] ?
				postgres_read_u64(r, plan, l->loop_parameters) : 0;
	uint32_t nr = postgres_list_nr(r, list, l->tag_list);

	for (uint32_t i = 0; i < nr; i++) {
		uint64_t parameter = postgres_list_element(r, list, i);

		if (postgres_read_u32(r, parameter, 0) == l->tag_loop_parameter &&
		    postgres_read_u32(r, parameter, l->loop_parameter_number) == number)
			return postgres_read_u64(r, parameter, l->loop_parameter_value);
	}
	return 0;
}

/* Returns the argument that a subplan is called with as this parameter, or 0 if there is none. */
static uint64_t value_of_subplan(const struct postgres_reader *r, uint64_t subplan_state, uint32_t number)
{
	const struct postgres_layout *l = r->layout;
	uint64_t subplan = postgres_subplan_expression(r, subplan_state);
	uint64_t list = postgres_read_u64(r, subplan, l->subplan_parameters);
	uint64_t arguments = postgres_read_u64(r, subplan, l->subplan_arguments);
	uint32_t nr = postgres_list_nr(r, list, l->tag_integers);

	for (uint32_t i = 0; i < nr && i < postgres_list_nr(r, arguments, l->tag_list); i++)
		if ((uint32_t)postgres_list_element(r, list, i) == number)
			return postgres_list_element(r, arguments, i);
	return 0;
}

/* Add a parameter as the expression of a node above that is passed as the parameter, as EXPLAIN does, or as "$N" if that is not found. */
static void add_parameter(struct postgres_expression *x, uint64_t at)
{
	const struct postgres_way *way = x->n->way;
	const uint32_t number = postgres_read_u32(x->r, at, x->r->layout->parameter_number);
	const bool is_internal = postgres_read_u32(x->r, at, x->r->layout->parameter_kind) == 1, had_table = x->has_table;
	uint64_t value = 0, plan = 0;

	for (uint32_t i = way && is_internal ? x->n->depth + 1 : 0; i-- > 0 && !value;) {
		value = value_of_loop(x->r, plan = way[i].plan, number);
		if (!value && i && way[i].subplan)
			value = value_of_subplan(x->r, way[i].subplan, number), plan = way[i - 1].plan;
	}
	if (!value) {
		sql_out_text(x->o, "$");
		sql_out_number(x->o, number, 1);
		return;
	}
	x->has_table = true;
	add_in_plan(x, plan, value);
	x->has_table = had_table;
}

/* ------------------------------------------------------------------------------------------------------------- calls */

static void add_list(struct postgres_expression *x, uint64_t list, const char *between)
{
	uint32_t nr = postgres_list_nr(x->r, list, x->r->layout->tag_list);

	for (uint32_t i = 0; i < nr && !x->o->is_cut; i++) {
		sql_out_text(x->o, i ? between : "");
		postgres_expression_add(x, postgres_list_element(x->r, list, i));
	}
}

static void add_call_of(struct postgres_expression *x, const char *name, const char *before, uint64_t arguments, const char *behind)
{
	sql_out_text(x->o, name);
	sql_out_text(x->o, before);
	add_list(x, arguments, ", ");
	sql_out_text(x->o, behind);
}

static void add_catalog_name(struct postgres_expression *x, enum postgres_catalog_table table, uint32_t number)
{
	const char *name = postgres_catalog_name(x->r, table, number);

	if (!name && table == POSTGRES_CATALOG_OPERATORS)
		name = postgres_catalog_name(x->r, POSTGRES_CATALOG_ORDERINGS, number);
	if (name && table == POSTGRES_CATALOG_FUNCTIONS) {
		sql_out_identifier(x->o, name);
	} else if (name) {
		sql_out_text(x->o, name);
	} else {
		sql_out_text(x->o, table == POSTGRES_CATALOG_FUNCTIONS ? "function_" : "operator_");
		sql_out_number(x->o, number, 1);
	}
}

static void add_call(struct postgres_expression *x, uint64_t at)
{
	enum { EXPLICIT_CAST = 1, IMPLICIT_CAST = 2 };
	const struct postgres_layout *l = x->r->layout;
	uint32_t form = postgres_read_u32(x->r, at, l->call_form);
	uint64_t arguments = postgres_read_u64(x->r, at, l->call_arguments);

	if (form == EXPLICIT_CAST || form == IMPLICIT_CAST) {
		postgres_expression_add(x, postgres_list_element(x->r, arguments, 0));
		return;
	}
	add_catalog_name(x, POSTGRES_CATALOG_FUNCTIONS, postgres_read_u32(x->r, at, l->call_function));
	add_call_of(x, "", "(", arguments, ")");
}

static void add_aggregate(struct postgres_expression *x, uint64_t at)
{
	enum { COMBINES = 1 };
	const struct postgres_layout *l = x->r->layout;
	uint64_t arguments = postgres_read_u64(x->r, at, l->aggregate_arguments);

	if (postgres_read_u32(x->r, at, l->aggregate_split) & COMBINES) { /* it combines partial aggregates of a node below */
		postgres_expression_add(x, postgres_target(x->r, arguments, 1));
		return;
	}
	add_catalog_name(x, POSTGRES_CATALOG_FUNCTIONS, postgres_read_u32(x->r, at, l->aggregate_function));
	sql_out_text(x->o, postgres_read_u64(x->r, at, l->aggregate_distinct) ? "(DISTINCT " : "(");
	add_call_of(x, postgres_read_u8(x->r, at, l->aggregate_star) ? "*" : "", "", arguments, ")");
}

static void add_window(struct postgres_expression *x, uint64_t at)
{
	add_catalog_name(x, POSTGRES_CATALOG_FUNCTIONS, postgres_read_u32(x->r, at, x->r->layout->window_function));
	add_call_of(x, "", "(", postgres_read_u64(x->r, at, x->r->layout->window_arguments), ") OVER (?)");
}

/* Add an operation: "(a = b)", "(- a)", "(a = ANY (b))".  operator: its OID, or 0 for IS DISTINCT FROM. */
static void add_operation(struct postgres_expression *x, uint32_t operator, uint64_t arguments, const char *quantifier)
{
	uint32_t nr = postgres_list_nr(x->r, arguments, x->r->layout->tag_list);

	sql_out_text(x->o, "(");
	if (nr > 1) {
		postgres_expression_add(x, postgres_list_element(x->r, arguments, 0));
		sql_out_text(x->o, " ");
	}
	if (operator)
		add_catalog_name(x, POSTGRES_CATALOG_OPERATORS, operator);
	else
		sql_out_text(x->o, "IS DISTINCT FROM");
	sql_out_text(x->o, " ");
	sql_out_text(x->o, quantifier);
	if (nr)
		postgres_expression_add(x, postgres_list_element(x->r, arguments, nr > 1));
	sql_out_text(x->o, *quantifier ? "))" : ")");
}

static void add_binary(struct postgres_expression *x, uint64_t at)
{
	add_operation(x, postgres_read_u32(x->r, at, x->r->layout->operation_operator),
		      postgres_read_u64(x->r, at, x->r->layout->operation_arguments), "");
}

static void add_distinct(struct postgres_expression *x, uint64_t at)
{
	add_operation(x, 0, postgres_read_u64(x->r, at, x->r->layout->operation_arguments), "");
}

static void add_any(struct postgres_expression *x, uint64_t at)
{
	const struct postgres_layout *l = x->r->layout;

	add_operation(x, postgres_read_u32(x->r, at, l->any_operator), postgres_read_u64(x->r, at, l->any_arguments),
		      postgres_read_u8(x->r, at, l->any_or) ? "ANY (" : "ALL (");
}

static void add_boolean(struct postgres_expression *x, uint64_t at)
{
	enum { AND, OR, NOT };
	uint32_t kind = postgres_read_u32(x->r, at, x->r->layout->boolean_kind);

	sql_out_text(x->o, kind == NOT ? "(NOT " : "(");
	add_list(x, postgres_read_u64(x->r, at, x->r->layout->boolean_arguments), kind == OR ? " OR " : " AND ");
	sql_out_text(x->o, ")");
}

/* ------------------------------------------------------------------------------------------------------------- others */

static void add_constant(struct postgres_expression *x, uint64_t at)
{
	postgres_literal(x->r, at, x->o);
}

/* Add the argument of a cast, or of another node with one argument that is not written itself.  All these structs have the member at the
 * same offset. */
static void add_argument(struct postgres_expression *x, uint64_t at)
{
	postgres_expression_add(x, postgres_read_u64(x->r, at, x->r->layout->relabel_argument));
}

static void add_target(struct postgres_expression *x, uint64_t at)
{
	postgres_expression_add(x, postgres_read_u64(x->r, at, x->r->layout->target_expression));
}

static void add_range_function(struct postgres_expression *x, uint64_t at)
{
	postgres_expression_add(x, postgres_read_u64(x->r, at, x->r->layout->function_call));
}

static void add_subplan(struct postgres_expression *x, uint64_t at)
{
	char name[IDENTIFIER_BYTES];
	bool cut;

	postgres_read_text(x->r, postgres_read_u64(x->r, at, x->r->layout->subplan_name), name, sizeof(name), &cut);
	sql_out_text(x->o, postgres_read_u8(x->r, at, x->r->layout->subplan_hashed) ? "(hashed " : "(");
	sql_out_text(x->o, name);
	sql_out_text(x->o, ")");
}

static void add_case(struct postgres_expression *x, uint64_t at)
{
	const struct postgres_layout *l = x->r->layout;
	uint64_t list = postgres_read_u64(x->r, at, l->case_whens), otherwise = postgres_read_u64(x->r, at, l->case_else);
	uint32_t nr = postgres_list_nr(x->r, list, l->tag_list);

	sql_out_text(x->o, "CASE");
	for (uint32_t i = 0; i < nr && !x->o->is_cut; i++) {
		uint64_t when = postgres_list_element(x->r, list, i);

		if (postgres_read_u32(x->r, when, 0) != l->tag_when)
			break;
		sql_out_text(x->o, " WHEN ");
		postgres_expression_add(x, postgres_read_u64(x->r, when, l->when_condition));
		sql_out_text(x->o, " THEN ");
		postgres_expression_add(x, postgres_read_u64(x->r, when, l->when_result));
	}
	if (otherwise) {
		sql_out_text(x->o, " ELSE ");
		postgres_expression_add(x, otherwise);
	}
	sql_out_text(x->o, " END");
}

static void add_array(struct postgres_expression *x, uint64_t at)
{
	add_call_of(x, "ARRAY", "[", postgres_read_u64(x->r, at, x->r->layout->array_elements), "]");
}

static void add_coalesce(struct postgres_expression *x, uint64_t at)
{
	add_call_of(x, "COALESCE", "(", postgres_read_u64(x->r, at, x->r->layout->coalesce_arguments), ")");
}

static void add_minmax(struct postgres_expression *x, uint64_t at)
{
	add_call_of(x, postgres_read_u32(x->r, at, x->r->layout->minmax_kind) ? "LEAST" : "GREATEST", "(",
		    postgres_read_u64(x->r, at, x->r->layout->minmax_arguments), ")");
}

static void add_test(struct postgres_expression *x, uint64_t at, const char *text)
{
	sql_out_text(x->o, "(");
	add_argument(x, at);
	sql_out_text(x->o, text);
	sql_out_text(x->o, ")");
}

static void add_null_test(struct postgres_expression *x, uint64_t at)
{
	add_test(x, at, postgres_read_u32(x->r, at, x->r->layout->null_kind) ? " IS NOT NULL" : " IS NULL");
}

static void add_boolean_test(struct postgres_expression *x, uint64_t at)
{
	static const char *const texts[] = { " IS TRUE", " IS NOT TRUE", " IS FALSE", " IS NOT FALSE", " IS UNKNOWN", " IS NOT UNKNOWN" };
	uint32_t kind = postgres_read_u32(x->r, at, x->r->layout->test_kind);

	add_test(x, at, kind < sizeof(texts) / sizeof(texts[0]) ? texts[kind] : "");
}

#define TAG(field) offsetof(struct postgres_layout, tag_##field)
static const struct {
	size_t tag; /* offset of the tag in the layout */
	void (*add)(struct postgres_expression *x, uint64_t at);
} kinds[] = {
	{ TAG(variable), add_variable },     { TAG(constant), add_constant },	      { TAG(operation), add_binary },
	{ TAG(boolean), add_boolean },	     { TAG(parameter), add_parameter },	      { TAG(call), add_call },
	{ TAG(aggregate), add_aggregate },   { TAG(window), add_window },	      { TAG(distinct), add_distinct },
	{ TAG(any), add_any },		     { TAG(subplan), add_subplan },	      { TAG(target), add_target },
	{ TAG(case), add_case },	     { TAG(array), add_array },		      { TAG(coalesce), add_coalesce },
	{ TAG(minmax), add_minmax },	     { TAG(null_test), add_null_test },	      { TAG(boolean_test), add_boolean_test },
	{ TAG(relabel), add_argument },	     { TAG(coerce_io), add_argument },	      { TAG(coerce_array), add_argument },
	{ TAG(coerce_domain), add_argument }, { TAG(collate), add_argument },	      { TAG(range_function), add_range_function },
};
#undef TAG

void postgres_expression_add(struct postgres_expression *x, uint64_t expression)
{
	const uint32_t tag = postgres_read_u32(x->r, expression, 0);
	uint16_t known;
	size_t i = 0;

	for (; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		memcpy(&known, (const char *)x->r->layout + kinds[i].tag, sizeof(known));
		if (tag == known)
			break;
	}
	if (!tag || i == sizeof(kinds) / sizeof(kinds[0]) || x->depth == DEPTH_MAX || x->nr == PARTS_MAX) {
		sql_out_text(x->o, "...");
		return;
	}
	x->nr++;
	x->depth++;
	kinds[i].add(x, expression);
	x->depth--;
}
