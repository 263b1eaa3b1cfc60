/* SPDX-License-Identifier: MIT */
/*
 * Registers actual rows of plan nodes.  The server counts them where it was asked to (EXPLAIN ANALYZE, auto_explain), and other executions
 * have none.  The agent does not make the server count (INSTRUMENT_ROWS), because that would cost 13 % of the time of a count of all rows,
 * and 5 % of TPC-H's Q18 (tests/postgres; processor time).
 */
#include "shim/engines/postgres.h"

#include "jitreg/engines/postgres_classes.h"

struct counted {
	struct postgres_reader r;
	uint64_t query_id;
};

/* Registers a node's actual and estimated rows of a whole execution. The server's estimate is for one loop, so it is multiplied by the
 * number of loops. */
static int register_node_rows(void *context, const struct postgres_node *n)
{
	const struct counted *c = context;
	uint64_t id = postgres_node_id(c->query_id, n);
	double rows, loops;

	if (!postgres_node_counts(&c->r, n, &rows, &loops))
		return 0;
	jitreg_counter(POSTGRES_LEVEL_NODE, id, "rows", (int64_t)(rows + 0.5));
	if (n->rows >= 0 && n->rows * loops < 9e18)
		jitreg_counter(POSTGRES_LEVEL_NODE, id, "estimated rows", (int64_t)(n->rows * loops + 0.5));
	return 0;
}

void postgres_rows_register(const struct postgres_execution *e)
{
	struct counted c = { postgres_memory_reader(), e->id };
	struct postgres_query q;

	if (postgres_is_worker())
		return; /* the leader's counts include those of its workers */
	postgres_memory_reset_cache();
	if (postgres_query_is_counted(&c.r, e->query) && postgres_query_read(&c.r, e->query, &q) == POSTGRES_OK)
		postgres_plan_walk(&c.r, &q, register_node_rows, &c);
}
