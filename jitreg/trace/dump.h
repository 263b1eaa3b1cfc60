/* SPDX-License-Identifier: MIT */
/*
 * Records as text and as JSON, by the lists that wrote them.  What a trace says is hostile: no name can reach the terminal's
 * controls or break a line of JSON.  Context: thread.
 */
#ifndef TAILOR_DUMP_H
#define TAILOR_DUMP_H

#include "jitreg/trace/reader.h"

#include <stdio.h>

struct dump_options {
	FILE *to;
	bool full; /* long bytes to their end; as text, long texts and lists too; as JSON, samples with their stacks */
};

/* One line a record: time, process/thread, record, name=value of each field; "+value" for fields of a later version. */
void dump_text_record(const struct dump_options *o, const struct trace_record *r);
void dump_text_chunk(const struct dump_options *o, const struct trace_chunk *c, uint64_t file_offset);
void dump_text_samples(const struct dump_options *o, struct sample_block *b);

/* One JSON object a line.  Texts that are no UTF-8 have U+FFFD where they are not. */
void dump_json_record(const struct dump_options *o, const struct trace_record *r);
void dump_json_chunk(const struct dump_options *o, const struct trace_chunk *c, uint64_t file_offset);
void dump_json_samples(const struct dump_options *o, struct sample_block *b);

/*
 * The next character of [p, p + bytes), bytes > 0: how many bytes it has, and *c, which is -1 for a byte that begins no
 * UTF-8 character.
 */
size_t dump_decode_character(const char *p, size_t bytes, int32_t *c);
/* Would a terminal (or a reader's eye) take it for something else than a character?  Controls and changes of direction. */
bool dump_is_control(int32_t c);

/* A number of sample i; 0 where the column is absent. */
static inline uint64_t dump_column(const struct sample_block *b, enum sample_column column, uint32_t i)
{
	return b->column[column] ? b->column[column][i] : 0;
}
/* Where sample i's return addresses begin; 0 without chains. */
static inline uint64_t dump_chain_start(const struct sample_block *b, uint32_t i)
{
	return b->chain_offset ? b->chain_offset[i] : 0;
}
/* Two digits a byte. */
void dump_hex(FILE *to, const void *bytes, size_t nr);
const char *dump_mode_name(uint64_t mode);
const char *dump_chunk_name(uint16_t type);

#endif
