/* SPDX-License-Identifier: MIT */
/*
 * Expressions of a plan as text, as EXPLAIN prints them, but without casts, and with the aliases of the query.  Unknown parts are "...",
 * and operators and functions that are not in the backend's cache have their numbers (postgres_catalog.h).  Context: any.  Allocates no
 * memory.
 */
#ifndef JITREG_POSTGRES_EXPRESSION_H
#define JITREG_POSTGRES_EXPRESSION_H

#include "jitreg/engines/postgres_plan.h"
#include "jitreg/engines/sql_out.h"

/* Append the conditions of a node, "Hash Cond: (o.o_custkey = c.c_custkey); Join Filter: ...", with "; " in front if there is text already.
 * Appends nothing if the node has none. */
void postgres_node_conditions(const struct postgres_reader *r, const struct postgres_query *q, const struct postgres_node *n,
			      struct sql_out *o);
/* The struct SubPlan of a SubPlanState, or 0. */
uint64_t postgres_subplan_expression(const struct postgres_reader *r, uint64_t subplan_state);

/* The state that the files about expressions share. */
struct postgres_expression {
	const struct postgres_reader *r;
	const struct postgres_query *q;
	const struct postgres_node *n;
	struct sql_out *o;
	uint64_t plan; /* plan that variables refer to */
	bool has_table; /* columns have their table in front */
	uint32_t depth, nr;
};
void postgres_expression_add(struct postgres_expression *x, uint64_t expression);
/* The expression of an entry of a target list, or 0.  number: from 1 on. */
uint64_t postgres_target(const struct postgres_reader *r, uint64_t list, uint32_t number);

#endif
