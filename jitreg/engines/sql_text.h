/* SPDX-License-Identifier: MIT */
/*
 * Normalises the text of a query: literals become ?, comments are removed, and white space becomes one blank.  Texts that are equal after
 * that count as the same query, as in pg_stat_statements.  Context: any.  Allocates no memory.
 */
#ifndef JITREG_SQL_TEXT_H
#define JITREG_SQL_TEXT_H

#include <stddef.h>

/* Normalise a text of bytes bytes, with room for a NUL behind it, in place.  Semicolons at its end are removed.  Returns the new length,
 * which is not larger. */
size_t sql_text_normalise(char *text, size_t bytes);
/* Copy a text to `to`, NUL-terminated.  If it does not fit into room bytes (at least 4), it is cut between characters, and "..." is
 * appended.  Returns the length. */
size_t sql_text_shorten(const char *text, size_t bytes, char *to, size_t room);

#endif
