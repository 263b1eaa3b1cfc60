/* SPDX-License-Identifier: MIT */
/*
 * Reads statements that have no plan of their own, which the server calls utility statements: COPY, CREATE INDEX, VACUUM, CLUSTER, CALL,
 * DO. They are queries without nodes, and queries that they run are inside of them.  Statements that only control a session or transaction
 * (BEGIN, SET), and those whose query has the same text or its own (EXPLAIN, EXECUTE, FETCH), are left out, because they are many and
 * short.
 * Context: any.  Allocates no memory.
 */
#ifndef JITREG_POSTGRES_UTILITY_H
#define JITREG_POSTGRES_UTILITY_H

#include "jitreg/engines/postgres_plan.h"

/* Read the statement whose PlannedStmt is at `statement`, with its text, or the text of several, at `text`. Its address, which is that of
 * the object that is announced for it, is the PlannedStmt's.  Returns POSTGRES_NO_QUERY if none is there, or one with a plan, or one that
 * is left out. */
enum postgres_end postgres_utility_read(const struct postgres_reader *r, uint64_t statement, uint64_t text, struct postgres_query *q);
/* Read the statement that the struct Portal at `portal` executes. */
enum postgres_end postgres_utility_of_portal(const struct postgres_reader *r, uint64_t portal, struct postgres_query *q);

#endif
