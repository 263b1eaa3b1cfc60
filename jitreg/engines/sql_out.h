/* SPDX-License-Identifier: MIT */
/* This is a buffer of limited size for SQL text, to which the functions below append. Text that does not fit is cut. The text is always
 * terminated by NUL. Context: any. Allocates no memory. */
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
/* Append a decimal number, with leading zeros if it has fewer than min_digits digits. min_digits: at most 24. */
void sql_out_number(struct sql_out *o, uint64_t value, int min_digits);
void sql_out_signed(struct sql_out *o, int64_t value);
/* Append a name as an SQL identifier, in double quotes unless it consists of lower-case letters, digits, _ and $, and begins with none of
 * the digits and $. Keywords are not quoted. */
void sql_out_identifier(struct sql_out *o, const char *name);
/* If the text was cut, end it with "...", which does not split a character.  Nothing happens if room is less than 4. */
void sql_out_end(struct sql_out *o);

#endif
