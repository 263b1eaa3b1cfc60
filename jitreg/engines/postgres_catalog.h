/* SPDX-License-Identifier: MIT */
/*
 * Names of operators and functions by their numbers: from the rows of pg_operator, pg_amop and pg_proc that a backend keeps in its cache,
 * where the planner has left those of the queries that it planned.  Context: any; nothing is allocated.
 */
#ifndef JITREG_POSTGRES_CATALOG_H
#define JITREG_POSTGRES_CATALOG_H

#include "jitreg/engines/postgres_code.h"

#define POSTGRES_CATALOG_ROWS 1024
#define POSTGRES_CATALOG_NAME_BYTES 64 /* NAMEDATALEN */

/* Their numbers.  Orderings: an operator's part in a B-tree, by which it has a name as well, "<" to ">". */
enum postgres_catalog_table { POSTGRES_CATALOG_FUNCTIONS = 1255, POSTGRES_CATALOG_ORDERINGS = 2602, POSTGRES_CATALOG_OPERATORS = 2617 };

/* Of one server; the caller's memory, cleared. */
struct postgres_catalog {
	uint64_t backend; /* whose cache it is: rows that databases do not have in common are its own */
	uint64_t wanted;  /* the row that is searched */
	uint32_t nr_searches; /* since postgres_catalog_begin() */
	struct {
		uint64_t key;
		char name[POSTGRES_CATALOG_NAME_BYTES];
	} row[POSTGRES_CATALOG_ROWS];
};

/* Before a plan is read: its backend's cache is searched four times at most for it. */
void postgres_catalog_begin(struct postgres_catalog *c, uint64_t backend);
/* NULL: it is not in the cache. */
const char *postgres_catalog_name(const struct postgres_reader *r, enum postgres_catalog_table table, uint32_t number);

#endif
