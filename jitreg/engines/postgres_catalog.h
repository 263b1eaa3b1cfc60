/* SPDX-License-Identifier: MIT */
/*
 * Names of operators and functions by their numbers.  The names are read from the rows of pg_operator, pg_amop and pg_proc in a backend's
 * cache, where the planner leaves the rows that planned queries need.  Context: any.  Allocates no memory.
 */
#ifndef JITREG_POSTGRES_CATALOG_H
#define JITREG_POSTGRES_CATALOG_H

#include "jitreg/engines/postgres_code.h"

#define POSTGRES_CATALOG_ROWS 1024
#define POSTGRES_CATALOG_NAME_BYTES 64 /* NAMEDATALEN */

/* Numbers of the catalog tables.  An ordering is an operator's role in a B-tree, which gives the operator a name as well, "<" to ">". */
enum postgres_catalog_table { POSTGRES_CATALOG_FUNCTIONS = 1255, POSTGRES_CATALOG_ORDERINGS = 2602, POSTGRES_CATALOG_OPERATORS = 2617 };

/* The names of one server.  The caller provides zeroed memory. */
struct postgres_catalog {
	uint64_t backend; /* backend whose cache is read; rows that differ between databases belong to it */
	uint64_t wanted;  /* key of the row that is being searched */
	uint32_t nr_searches; /* number of searches since postgres_catalog_begin() */
	struct {
		uint64_t key;
		char name[POSTGRES_CATALOG_NAME_BYTES];
	} row[POSTGRES_CATALOG_ROWS];
};

/* Call before reading a plan, for which the backend's cache is searched four times at most. */
void postgres_catalog_begin(struct postgres_catalog *c, uint64_t backend);
/* The name of an operator or function, or NULL if it is not in the cache. */
const char *postgres_catalog_name(const struct postgres_reader *r, enum postgres_catalog_table table, uint32_t number);

#endif
