/* SPDX-License-Identifier: MIT */
/* Writes names and details of nodes as EXPLAIN prints them.  Context: any.  Allocates no memory. */
#ifndef JITREG_POSTGRES_NAMES_H
#define JITREG_POSTGRES_NAMES_H

#include "jitreg/engines/postgres_plan.h"

/*
 * Set n->name, "Index Scan using orders_pkey on orders o", of a node whose type, address and plan are set.  A scan of a function is named
 * by its alias.  Aliases are those in the query, while EXPLAIN adds numbers to those that occur twice.
 */
void postgres_node_name(const struct postgres_reader *r, const struct postgres_query *q, struct postgres_node *n);
/* Write the detail of a node, "Hash Cond: (o.o_custkey = c.c_custkey); cost=0.00..1.00 rows=1 width=4". It has the name of the subplan if
 * the node is the root of one, the node's conditions (cut if too long), and the planner's estimates. */
void postgres_node_detail(const struct postgres_reader *r, const struct postgres_query *q, const struct postgres_node *n,
			  char detail[POSTGRES_DETAIL_BYTES]);

/* Read the NUL-terminated text at address to `to`, up to the end of readable memory, and at most room - 1 bytes. Sets *cut to true if
 * room - 1 bytes were read without its end, and otherwise to false. Returns the length. to is always terminated by NUL. */
size_t postgres_read_text(const struct postgres_reader *r, uint64_t address, char *to, size_t room, bool *cut);

#endif
