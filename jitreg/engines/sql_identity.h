/* SPDX-License-Identifier: MIT */
/*
 * Reduces a text to what is the same in all executions.  A query is identified by its text in this form, and a node of a plan by its name
 * and its detail in this form, in a store of months, in changes, and where several recordings become one trace.  Context: any.  Allocates
 * no memory.
 */
#ifndef JITREG_SQL_IDENTITY_H
#define JITREG_SQL_IDENTITY_H

#include <stddef.h>

/*
 * Reduce a text of bytes bytes, with room for a NUL behind it, in place.  It is normalised (sql_text.h), parameters ("$1") and lists of
 * literals become one "?", and parts of a detail (between "; ") that only have numbers, such as "cost=0.00..5489.18 rows=47 width=4", are
 * removed, since a planner estimates them anew.  Returns the new length, which is not larger.
 */
size_t sql_text_identity(char *text, size_t bytes);

#endif
