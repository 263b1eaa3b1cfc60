/* SPDX-License-Identifier: MIT */
/*
 * The tables of a store: how they are created, and how those of a file that others may have made are checked before it is queried.
 * Context: thread.
 */
#ifndef TAILOR_STORE_SCHEMA_H
#define TAILOR_STORE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEMA_OBJECTS_MAX 128 /* most objects of a store, with those of newer versions */

/* The i-th statement that creates a table or an index; NULL: there are no more. */
const char *schema_statement(size_t i);

/* The objects seen so far.  Zeros: none. */
struct schema_seen {
	uint32_t has; /* bits of the known objects that were seen */
	int nr;	      /* number of all objects */
};
/*
 * Is this row of sqlite_schema allowed?  It must be an object of schema.c, or an addition of a newer version.  Added columns, tables and
 * indexes must be plain: names, types, NOT NULL, a DEFAULT that is a number, keys.  A view, a trigger, an expression, a collation or a
 * virtual table is code that the file's maker would run in this process, and is refused.  sql: NULL if the row has no text.
 */
bool schema_takes(struct schema_seen *seen, const char *type, const char *name, const char *sql);
/* The name of an object of schema.c that was not seen, *bytes long; NULL: all were seen. */
const char *schema_missing(const struct schema_seen *seen, int *bytes);

/* Does the statement create a plain table or index?  Is it `ours`, with plain columns added after its last column? */
bool schema_is_plain(const char *sql);
bool schema_is_widened(const char *sql, const char *ours);

#endif
