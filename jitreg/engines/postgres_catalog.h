/* SPDX-License-Identifier: MIT */
/*
 * Finds the names of operators and functions by their numbers (OIDs).  They are in the rows of pg_operator, pg_amop and pg_proc that a
 * backend of the server has in its cache, where the planner leaves those that planned queries need.  Context: any.  Allocates no memory.
 */
#ifndef JITREG_POSTGRES_CATALOG_H
#define JITREG_POSTGRES_CATALOG_H

#include "jitreg/engines/postgres_code.h"

#define POSTGRES_CATALOG_ROWS 1024
#define POSTGRES_CATALOG_NAME_BYTES 64 /* NAMEDATALEN */

/* These are OIDs of catalog tables. A row of pg_amop (ordering) says which comparison an operator is in a B-tree, "<" to ">", which is its
 * name even if its row of pg_operator is not in the cache. */
enum postgres_catalog_table { POSTGRES_CATALOG_FUNCTIONS = 1255, POSTGRES_CATALOG_ORDERINGS = 2602, POSTGRES_CATALOG_OPERATORS = 2617 };

/* This has the names that have been read of one server. The caller provides the memory, which is all 0 at first. */
struct postgres_catalog {
	/* The number of the backend whose cache is read. Names that other databases may use differently are stored for it alone. */
	uint64_t backend;
	uint64_t wanted;  /* key of the row that is searched for, which may replace another one */
	uint32_t nr_unknown; /* number of names that were asked for and not found */
	uint32_t nr_searches; /* number of wanted searches of the cache since postgres_catalog_begin(); only the first four are done */
	struct {
		uint64_t key;
		char name[POSTGRES_CATALOG_NAME_BYTES];
	} row[POSTGRES_CATALOG_ROWS];
};

/* Callers use this before they read the plan of a backend. Until the next call, the cache is searched at most four times, because a
 * search reads up to 4 MiB. */
void postgres_catalog_begin(struct postgres_catalog *c, uint64_t backend);
/* Returns the name of an operator or a function, or NULL if it is not known and was not found in the cache. The name is valid until the
 * next call. */
const char *postgres_catalog_name(const struct postgres_reader *r, enum postgres_catalog_table table, uint32_t number);

#endif
