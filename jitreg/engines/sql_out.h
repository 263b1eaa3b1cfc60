/* SPDX-License-Identifier: MIT */
/* Text of SQL that grows up to its room, and is ended by 0 at each time.  Context: any; nothing is allocated. */
#ifndef JITREG_SQL_OUT_H
#define JITREG_SQL_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sql_out {
	char *text;
	size_t at, room; /* at < room */
	bool is_cut;	 /* there was more than it has room for */
};

void sql_out_bytes(struct sql_out *o, const char *text, size_t bytes);
void sql_out_text(struct sql_out *o, const char *text);
void sql_out_number(struct sql_out *o, uint64_t value, int min_digits);
void sql_out_signed(struct sql_out *o, int64_t value);
/* A name as SQL has it: in quotes where it needs them. */
void sql_out_identifier(struct sql_out *o, const char *name);
/* What is cut ends with "...", and not within a character. */
void sql_out_end(struct sql_out *o);

#endif
