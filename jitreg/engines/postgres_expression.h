/* SPDX-License-Identifier: MIT */
/*
 * Expressions of a plan as text: what EXPLAIN prints, without casts, and with aliases as the query has them.  What is not known is "...",
 * operators and functions that are not in the backend's cache have their numbers (postgres_catalog.h).  Context: any; nothing is allocated.
 */
#ifndef JITREG_POSTGRES_EXPRESSION_H
#define JITREG_POSTGRES_EXPRESSION_H

#include "jitreg/engines/postgres_plan.h"
#include "jitreg/engines/sql_out.h"

/* "Hash Cond: (o.o_custkey = c.c_custkey); Join Filter: ...", behind "; " if there is text already; nothing where a node has none. */
void postgres_node_conditions(const struct postgres_reader *r, const struct postgres_query *q, const struct postgres_node *n,
			      struct sql_out *o);
/* The struct SubPlan of a SubPlanState, or 0. */
uint64_t postgres_subplan_expression(const struct postgres_reader *r, uint64_t subplan_state);

/* What the files about expressions share. */
struct postgres_expression {
	const struct postgres_reader *r;
	const struct postgres_query *q;
	const struct postgres_node *n;
	struct sql_out *o;
	uint64_t plan; /* whose variables there are */
	bool has_table; /* columns are said with their table */
	uint32_t depth, nr;
};
void postgres_expression_add(struct postgres_expression *x, uint64_t expression);
/* An entry of a target list by its number from 1 on: its expression, or 0. */
uint64_t postgres_target(const struct postgres_reader *r, uint64_t list, uint32_t number);

#endif
