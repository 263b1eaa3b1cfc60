/* SPDX-License-Identifier: MIT */
/* A buffer for SQL text of limited size, which is always terminated by NUL.  Context: any.  Allocates no memory. */
#ifndef JITREG_SQL_OUT_H
#define JITREG_SQL_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sql_out {
	char *text;
	size_t at, room; /* at < room */
	bool is_cut;	 /* the text did not fit into room */
};

void sql_out_bytes(struct sql_out *o, const char *text, size_t bytes);
void sql_out_text(struct sql_out *o, const char *text);
void sql_out_number(struct sql_out *o, uint64_t value, int min_digits);
void sql_out_signed(struct sql_out *o, int64_t value);
/* Append a name as an SQL identifier, in quotes if needed. */
void sql_out_identifier(struct sql_out *o, const char *name);
/* End a cut text with "...", but not within a character. */
void sql_out_end(struct sql_out *o);

#endif
