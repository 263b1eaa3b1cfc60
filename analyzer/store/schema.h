/* SPDX-License-Identifier: MIT */
/*
 * The tables that a store has.  They are created, and compared before anything is asked of a file that others may have made.
 * Context: thread.
 */
#ifndef TAILOR_STORE_SCHEMA_H
#define TAILOR_STORE_SCHEMA_H

#include "analyzer/store/internal.h"

/* All tables, in an empty file, inside of a transaction of the caller. */
bool schema_create(struct store *s);
/*
 * Are its tables and indexes ours?  A newer version may have added columns, tables and indexes, as long as they are plain: names, types,
 * NOT NULL, a DEFAULT that is a number, keys.  A view, a trigger, an expression, a collation or a virtual table is code that the file's
 * maker would run in this process, and is refused.  false: the store has failed.
 */
bool schema_check(struct store *s);

/* Are these the words of a table or an index that is plain?  And is this table ours, with plain columns behind its last column? */
bool schema_is_plain(const char *sql);
bool schema_is_widened(const char *sql, const char *ours);

#endif
