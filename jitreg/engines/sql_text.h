/* SPDX-License-Identifier: MIT */
/*
 * A query's text without what differs from call to call: literals are ?, comments are gone, white space is one blank.  Two texts that are
 * the same then are one query, as in pg_stat_statements.  Context: any; nothing is allocated.
 */
#ifndef JITREG_SQL_TEXT_H
#define JITREG_SQL_TEXT_H

#include <stddef.h>

/* In place; text is ended by 0 before and after.  Returns its bytes, which are not more than before. */
size_t sql_text_normalise(char *text, size_t bytes);
/* The beginning of a text, with "..." where it is cut, between two characters.  Returns its bytes. */
size_t sql_text_shorten(const char *text, size_t bytes, char *to, size_t room);

#endif
