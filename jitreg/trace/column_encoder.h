/* SPDX-License-Identifier: MIT */
/*
 * Encodes columns of numbers for the trace (jitreg/trace/trace.h, enum sample_encoding). A column that is written with predict gets the
 * encoding that is estimated to take the fewest bits, which is chosen anew every 16 blocks, or when the column's size has changed by more
 * than an eighth. Context: thread.
 */
#ifndef TAILOR_COLUMN_ENCODER_H
#define TAILOR_COLUMN_ENCODER_H

#include "jitreg/trace/trace.h"
#include "jitreg/trace/record_stream.h"

#define COLUMNS_NR_MAX 8192u /* maximum number of samples in a block */

struct column_encoder;

/* Returns 0 with *out, which column_encoder_destroy() frees, or -ENOMEM. */
int column_encoder_create(struct column_encoder **out);
void column_encoder_destroy(struct column_encoder *c);

/* Begin a block of nr samples, 1 to COLUMNS_NR_MAX.  ip: their instruction pointers, which must stay valid until the next block, because
 * other columns may be encoded by them. */
void column_encoder_begin(struct column_encoder *c, const uint64_t *ip, uint32_t nr);
/* Write column IP of the block, which must be done before other columns, as their encoding may refer to it. */
void column_encoder_write_ip(struct column_encoder *c, struct trace_writer *w);
/*
 * Write any other column. predict: choose the best encoding, which may be differences to column IP or to a column of this block that was
 * written with predict before, so v must stay valid until the next block. Otherwise the numbers are encoded as differences to the one
 * before. If all numbers are equal, only one is written in both cases.
 */
void column_encoder_write(struct column_encoder *c, struct trace_writer *w, uint32_t column, const uint64_t *v, bool predict);
/* Write a column of nr numbers, of which a sample has any number, such as return addresses.  room: memory of the caller,
 * COLUMNS_LIST_ROOM(nr) bytes. */
void column_encoder_write_list(struct trace_writer *w, uint32_t column, const uint64_t *v, uint32_t nr, unsigned char *room);
#define COLUMNS_LIST_ROOM(nr) ((size_t)(nr) * 10)

#endif
