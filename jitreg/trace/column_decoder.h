/* SPDX-License-Identifier: MIT */
/* Decoders of columns of numbers, which column_encoder.c or another writer has encoded.  Context: thread. */
#ifndef TAILOR_COLUMN_DECODER_H
#define TAILOR_COLUMN_DECODER_H

#include "jitreg/trace/reader.h"

/* Decode the b->nr numbers of a column, and for column IP also b->ips and b->ip_index.  Returns 0 or -EBADMSG. */
int column_decode(struct sample_block *b, uint64_t column, uint64_t encoding, const struct trace_value *v, uint64_t *to);
/* Decode a list of nr numbers that do not correspond to samples.  Returns 0 or -EBADMSG. */
int column_decode_list(uint64_t encoding, const struct trace_value *v, uint64_t *to, uint64_t nr);

/* Ways to decode numbers, by the instructions of the processor: SSE2, BMI2, AVX-512. */
enum column_decoder_way { COLUMN_DECODER_SHIFTS, COLUMN_DECODER_PEXT, COLUMN_DECODER_LANES };
/* Limit the way for tests, while no other thread decodes.  Returns the way that is used from now on. */
enum column_decoder_way column_decoder_limit(enum column_decoder_way most);

#endif
