/* SPDX-License-Identifier: MIT */
/* Names of nodes, as EXPLAIN prints them.  Context: any; nothing is allocated. */
#ifndef JITREG_POSTGRES_NAMES_H
#define JITREG_POSTGRES_NAMES_H

#include "jitreg/engines/postgres_plan.h"

/*
 * n->name, of a node whose other members are set: "Index Scan using orders_pkey on orders o".  Functions are named by their alias, and
 * aliases are those of the query, where EXPLAIN numbers those that occur twice.
 */
void postgres_node_name(const struct postgres_reader *r, const struct postgres_query *q, struct postgres_node *n);
/* "Hash Cond: (o.o_custkey = c.c_custkey); cost=0.00..1.00 rows=1 width=4": how it is called, its conditions, the planner's estimates. */
void postgres_node_detail(const struct postgres_reader *r, const struct postgres_query *q, const struct postgres_node *n,
			  char detail[POSTGRES_DETAIL_BYTES]);

/* A text that ends with 0, or with what can be read.  *cut: it goes on.  Returns its bytes; to is ended by 0. */
size_t postgres_read_text(const struct postgres_reader *r, uint64_t address, char *to, size_t room, bool *cut);

#endif
