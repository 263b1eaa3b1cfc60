/* SPDX-License-Identifier: MIT */
/* Columns of numbers back into arrays: of column_encoder.c or of another writer.  Context: thread. */
#ifndef TAILOR_COLUMN_DECODER_H
#define TAILOR_COLUMN_DECODER_H

#include "jitreg/trace/reader.h"

/* The b->nr numbers of a column into its array; of the instructions also b->ips and b->ip_index.  0 or -EBADMSG. */
int column_decode(struct sample_block *b, uint64_t column, uint64_t encoding, const struct trace_value *v, uint64_t *to);
/* nr numbers that go with no sample by number.  0 or -EBADMSG. */
int column_decode_list(uint64_t encoding, const struct trace_value *v, uint64_t *to, uint64_t nr);

/* How numbers are put together, by what the processor has: SSE2, BMI2, AVX-512. */
enum column_decoder_way { COLUMN_DECODER_SHIFTS, COLUMN_DECODER_PEXT, COLUMN_DECODER_LANES };
/* For tests, while no other thread decodes: no later one than this.  Returns the one that is taken. */
enum column_decoder_way column_decoder_limit(enum column_decoder_way most);

#endif
