/* SPDX-License-Identifier: MIT */
/*
 * Prints records as text and as JSON, with the names of fields from schema.h.  The content of a trace is untrusted: control characters are
 * escaped, so no name can control the terminal or break a line of JSON.  Context: thread.
 */
#ifndef TAILOR_DUMP_H
#define TAILOR_DUMP_H

#include "jitreg/trace/reader.h"

#include <stdio.h>

struct dump_options {
	FILE *to;
	bool full; /* print bytes, and in text also texts and lists, at any length; in JSON, print samples with their stacks */
};

/* Print a record as a line: time, process/thread, name of the record, name=value of each field, and "+value" for fields of a later
 * version. */
void dump_text_record(const struct dump_options *o, const struct trace_record *r);
void dump_text_chunk(const struct dump_options *o, const struct trace_chunk *c, uint64_t file_offset);
void dump_text_samples(const struct dump_options *o, struct sample_block *b);

/* Print each record, chunk or sample as a JSON object on a line of its own.  Bytes that are not UTF-8 become U+FFFD. */
void dump_json_record(const struct dump_options *o, const struct trace_record *r);
void dump_json_chunk(const struct dump_options *o, const struct trace_chunk *c, uint64_t file_offset);
void dump_json_samples(const struct dump_options *o, struct sample_block *b);

/*
 * Decode the next character of [p, p + bytes), bytes > 0.  Returns its length.  *c: the character, or -1 for a byte that begins no UTF-8
 * character.
 */
size_t dump_decode_character(const char *p, size_t bytes, int32_t *c);
/* Is c -1, a control character, or one that breaks a line or changes the direction of text? Printed as it is, it could make a line look
 * like another one. */
bool dump_is_control(int32_t c);

/* Returns the number of sample i in a column, which is 0 if the column is absent. */
static inline uint64_t dump_column(const struct sample_block *b, enum sample_column column, uint32_t i)
{
	return b->column[column] ? b->column[column][i] : 0;
}
/* Returns the index in b->chain of sample i's first return address, or 0 if the block has no chains. */
static inline uint64_t dump_chain_start(const struct sample_block *b, uint32_t i)
{
	return b->chain_offset ? b->chain_offset[i] : 0;
}
/* Print bytes as two hexadecimal digits each. */
void dump_hex(FILE *to, const void *bytes, size_t nr);
const char *dump_mode_name(uint64_t mode);
const char *dump_chunk_name(uint16_t type);

#endif
