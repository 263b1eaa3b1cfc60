/* SPDX-License-Identifier: MIT */
/* Columns of numbers back into arrays: of column_encoder.c or of another writer.  Context: thread. */
#ifndef TAILOR_COLUMN_DECODER_H
#define TAILOR_COLUMN_DECODER_H

#include "jitreg/trace/reader.h"

/* The b->nr numbers of a column into its array; of the instructions also b->ips and b->ip_index.  0 or -EBADMSG. */
int column_decode(struct sample_block *b, uint64_t column, uint64_t encoding, const struct trace_value *v, uint64_t *to);
/* nr numbers that go with no sample by number.  0 or -EBADMSG. */
int column_decode_list(uint64_t encoding, const struct trace_value *v, uint64_t *to, uint64_t nr);

#endif
