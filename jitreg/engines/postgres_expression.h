/* SPDX-License-Identifier: MIT */
/*
 * Writes expressions of a plan as text, as EXPLAIN prints them, but without casts, and with the aliases of the query.  Unknown parts are
 * "...".  Operators and functions whose names are not found (postgres_catalog.h) are "operator_N" and "function_N".  Context: any.
 * Allocates no memory.
 */
#ifndef JITREG_POSTGRES_EXPRESSION_H
#define JITREG_POSTGRES_EXPRESSION_H

#include "jitreg/engines/postgres_plan.h"
#include "jitreg/engines/sql_out.h"

/* Append the keys and conditions of a node, "Hash Cond: (o.o_custkey = c.c_custkey); Join Filter: ...", with "; " in front if o has text
 * already.  Appends nothing if the node has none. */
void postgres_node_conditions(const struct postgres_reader *r, const struct postgres_query *q, const struct postgres_node *n,
			      struct sql_out *o);
/* Returns the address of the struct SubPlan of a SubPlanState, or 0. */
uint64_t postgres_subplan_expression(const struct postgres_reader *r, uint64_t subplan_state);

/* This is the state of writing an expression, which postgres_expression.c and postgres_conditions.c share. */
struct postgres_expression {
	const struct postgres_reader *r;
	const struct postgres_query *q;
	const struct postgres_node *n;
	struct sql_out *o;
	uint64_t plan; /* the plan whose expression is written, to which its variables refer */
	bool has_table; /* columns are written with their table in front */
	uint32_t depth, nr;
};
/* Append the expression at this address, or "..." if it is unknown or too deep, or if too many parts have been appended for the node. */
void postgres_expression_add(struct postgres_expression *x, uint64_t expression);
/* Returns the expression of entry number, from 1 on, of a target list, or 0 if there is none. */
uint64_t postgres_target(const struct postgres_reader *r, uint64_t list, uint32_t number);

#endif
