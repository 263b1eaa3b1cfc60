/* SPDX-License-Identifier: MIT */
/*
 * Records as text and as JSON, by the lists from which they are written.  The content of a trace is untrusted: no name can control the
 * terminal or break a line of JSON.  Context: thread.
 */
#ifndef TAILOR_DUMP_H
#define TAILOR_DUMP_H

#include "jitreg/trace/reader.h"

#include <stdio.h>

struct dump_options {
	FILE *to;
	bool full; /* do not cut bytes; text: nor texts and lists; JSON: print samples with their stacks */
};

/* Print a line per record: time, process/thread, record, name=value of each field, and "+value" for fields of a later version. */
void dump_text_record(const struct dump_options *o, const struct trace_record *r);
void dump_text_chunk(const struct dump_options *o, const struct trace_chunk *c, uint64_t file_offset);
void dump_text_samples(const struct dump_options *o, struct sample_block *b);

/* Print a JSON object per line.  Bytes that are not UTF-8 become U+FFFD. */
void dump_json_record(const struct dump_options *o, const struct trace_record *r);
void dump_json_chunk(const struct dump_options *o, const struct trace_chunk *c, uint64_t file_offset);
void dump_json_samples(const struct dump_options *o, struct sample_block *b);

/*
 * Decode the next character of [p, p + bytes), bytes > 0.  Returns its length.  *c: the character, or -1 for a byte that begins no UTF-8
 * character.
 */
size_t dump_decode_character(const char *p, size_t bytes, int32_t *c);
/* Is c a control character or a change of direction, which terminals or readers do not take for a character? */
bool dump_is_control(int32_t c);

/* A number of sample i, or 0 if the column is absent. */
static inline uint64_t dump_column(const struct sample_block *b, enum sample_column column, uint32_t i)
{
	return b->column[column] ? b->column[column][i] : 0;
}
/* The index of sample i's first return address, or 0 without chains. */
static inline uint64_t dump_chain_start(const struct sample_block *b, uint32_t i)
{
	return b->chain_offset ? b->chain_offset[i] : 0;
}
/* Print two digits per byte. */
void dump_hex(FILE *to, const void *bytes, size_t nr);
const char *dump_mode_name(uint64_t mode);
const char *dump_chunk_name(uint16_t type);

#endif
