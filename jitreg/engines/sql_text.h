/* SPDX-License-Identifier: MIT */
/*
 * Normalises the text of a query: literals become ?, comments are removed, and white space becomes one blank.  Texts that are equal then
 * are one query, as in pg_stat_statements.  Context: any.  Allocates no memory.
 */
#ifndef JITREG_SQL_TEXT_H
#define JITREG_SQL_TEXT_H

#include <stddef.h>

/* Normalise a NUL-terminated text in place.  Returns the new length, which is not larger. */
size_t sql_text_normalise(char *text, size_t bytes);
/* Copy the beginning of a text, with "..." if it is cut, which is done between characters.  Returns the length. */
size_t sql_text_shorten(const char *text, size_t bytes, char *to, size_t room);

#endif
