/* SPDX-License-Identifier: MIT */
/* Gives the statements that create the tables of a store, and checks the tables of a file before it is queried, since others may have made
 * the file. Context: thread. */
#ifndef TAILOR_STORE_SCHEMA_H
#define TAILOR_STORE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEMA_OBJECTS_MAX 128 /* maximum number of tables and indexes of a store, including those that newer versions add */

/* Returns the i-th statement that creates a table or an index, or NULL if there are no more. */
const char *schema_statement(size_t i);

/* schema_takes() notes the rows of sqlite_schema that it has seen so far.  All members are zero at first. */
struct schema_seen {
	uint32_t has; /* bits of the known objects that were seen */
	int nr;	      /* number of all objects */
};
/*
 * Returns whether this row of sqlite_schema is allowed. It must be an object of schema.c, an addition of a newer version, or an index that
 * SQLite makes for a key. Added columns, tables and indexes must be plain: names, types, NOT NULL, a DEFAULT that is a number, keys. A
 * view, a trigger, an expression, a collation or a virtual table is code that the file's maker would run in this process, and is refused.
 * So are rows beyond SCHEMA_OBJECTS_MAX. sql: NULL if the row has no text.
 */
bool schema_takes(struct schema_seen *seen, const char *type, const char *name, const char *sql);
/* Returns the name of a table or index of schema.c that was not seen, or NULL if all were seen. *bytes: its length, since no NUL ends
 * it. */
const char *schema_missing(const struct schema_seen *seen, int *bytes);

/* Return whether the statement creates a plain table or index, and whether it is `ours` with plain columns added after its last column. */
bool schema_is_plain(const char *sql);
bool schema_is_widened(const char *sql, const char *ours);

#endif
