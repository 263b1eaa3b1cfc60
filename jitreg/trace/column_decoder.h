/* SPDX-License-Identifier: MIT */
/* Decodes columns of numbers in SAMPLES records, which are untrusted. Context: thread. */
#ifndef TAILOR_COLUMN_DECODER_H
#define TAILOR_COLUMN_DECODER_H

#include "jitreg/trace/reader.h"

/* Decode the b->nr numbers of a column to `to`.  For encoding TABLE (column IP), also sets b->ips, b->ip_index and b->nr_ips.  Columns that
 * this one refers to must have been decoded before.  Returns 0 or -EBADMSG. */
int column_decode(struct sample_block *b, uint64_t column, uint64_t encoding, const struct trace_value *v, uint64_t *to);
/* Decode nr numbers that column_encoder_write_list() has written (encoding DELTA).  Returns 0 or -EBADMSG. */
int column_decode_list(uint64_t encoding, const struct trace_value *v, uint64_t *to, uint64_t nr);

/* The ways to decode numbers differ in the instructions that they need. SHIFTS needs only SSE2, PEXT also BMI2, and LANES also AVX-512. */
enum column_decoder_way { COLUMN_DECODER_SHIFTS, COLUMN_DECODER_PEXT, COLUMN_DECODER_LANES };
/* Use no way beyond most from now on. Returns the way that this processor then uses. Only tests call this, while no other thread
 * decodes. */
enum column_decoder_way column_decoder_limit(enum column_decoder_way most);

#endif
