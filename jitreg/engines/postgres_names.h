/* SPDX-License-Identifier: MIT */
/* Names of nodes as EXPLAIN prints them.  Context: any.  Allocates no memory. */
#ifndef JITREG_POSTGRES_NAMES_H
#define JITREG_POSTGRES_NAMES_H

#include "jitreg/engines/postgres_plan.h"

/*
 * Set n->name of a node whose other members are set: "Index Scan using orders_pkey on orders o".  Functions are named by their alias.
 * Aliases are those of the query, while EXPLAIN numbers those that occur twice.
 */
void postgres_node_name(const struct postgres_reader *r, const struct postgres_query *q, struct postgres_node *n);
/* Write the detail of a node, "Hash Cond: (o.o_custkey = c.c_custkey); cost=0.00..1.00 rows=1 width=4": the name of its subplan, its
 * conditions, and the planner's estimates. */
void postgres_node_detail(const struct postgres_reader *r, const struct postgres_query *q, const struct postgres_node *n,
			  char detail[POSTGRES_DETAIL_BYTES]);

/* Read a NUL-terminated text, up to the end of readable memory.  *cut: the text is longer than room.  Returns its length.  to is terminated
 * by NUL. */
size_t postgres_read_text(const struct postgres_reader *r, uint64_t address, char *to, size_t room, bool *cut);

#endif
