/* SPDX-License-Identifier: MIT */
/*
 * The tables that a store has.  They are created, and compared before anything is asked of a file that others may have made.
 * Context: thread.
 */
#ifndef TAILOR_STORE_SCHEMA_H
#define TAILOR_STORE_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCHEMA_OBJECTS_MAX 128 /* that a store may have, with those of newer versions */

/* The statements that create all tables and indexes, one after another; NULL behind the last. */
const char *schema_statement(size_t i);

/* Zeros: nothing yet. */
struct schema_seen {
	uint32_t has; /* of ours */
	int nr;	      /* of any */
};
/*
 * Is this row of sqlite_schema one of ours?  A newer version may have added columns, tables and indexes, as long as they are plain: names,
 * types, NOT NULL, a DEFAULT that is a number, keys.  A view, a trigger, an expression, a collation or a virtual table is code that the
 * file's maker would run in this process, and is refused.  sql: NULL where there is none.
 */
bool schema_takes(struct schema_seen *seen, const char *type, const char *name, const char *sql);
/* The name of one of ours that was not seen, in so many bytes; NULL: there is none. */
const char *schema_missing(const struct schema_seen *seen, int *bytes);

/* Are these the words of a table or an index that is plain?  And is this table ours, with plain columns behind its last column? */
bool schema_is_plain(const char *sql);
bool schema_is_widened(const char *sql, const char *ours);

#endif
