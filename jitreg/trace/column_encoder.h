/* SPDX-License-Identifier: MIT */
/*
 * Columns of numbers as the trace holds them (jitreg/trace/trace.h, enum sample_encoding): each by the encoding that takes the
 * fewest bits, looked for anew every few blocks.  Context: thread.
 */
#ifndef TAILOR_COLUMN_ENCODER_H
#define TAILOR_COLUMN_ENCODER_H

#include "jitreg/trace/trace.h"
#include "jitreg/trace/record_stream.h"

#define COLUMNS_NR_MAX 8192u /* samples of a block */

struct column_encoder;

int column_encoder_create(struct column_encoder **out);
void column_encoder_destroy(struct column_encoder *c);

/* A block of nr samples, 1 to COLUMNS_NR_MAX: its instructions come first, as most registers go with them. */
void column_encoder_begin(struct column_encoder *c, const uint64_t *ip, uint32_t nr);
/* The block's instructions. */
void column_encoder_write_ip(struct column_encoder *c, struct trace_writer *w);
/*
 * Any other column.  predict: look for the best encoding, also against columns that were written with predict before;
 * else its numbers are next to each other's in value.
 */
void column_encoder_write(struct column_encoder *c, struct trace_writer *w, uint32_t column, const uint64_t *v, bool predict);
/* An array of any length that goes with no sample by number. */
void column_encoder_write_list(struct trace_writer *w, uint32_t column, const uint64_t *v, uint32_t nr, unsigned char *room);
#define COLUMNS_LIST_ROOM(nr) ((size_t)(nr) * 10)

#endif
