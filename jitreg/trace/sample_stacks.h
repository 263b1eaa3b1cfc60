/* SPDX-License-Identifier: MIT */
/* The stacks of one SAMPLES record (jitreg/trace/trace.h, SAMPLE_STACK_WORDS).  Context: thread. */
#ifndef TAILOR_SAMPLE_STACKS_H
#define TAILOR_SAMPLE_STACKS_H

#include "jitreg/trace/reader.h"

struct sample_stacks;

/* *s is made when it is NULL, else used again.  p: the column's bytes, which must outlive its use.  lengths, sps, tids: NULL
 * when all are 0.  0, -EBADMSG when the bytes do not hold what lengths says, -ENOMEM. */
int sample_stacks_begin(struct sample_stacks **s, uint64_t encoding, const unsigned char *p, size_t bytes, uint32_t nr,
			const uint64_t *lengths, const uint64_t *sps, const uint64_t *tids);
const unsigned char *sample_stacks_get(struct sample_stacks *s, uint32_t i, size_t *bytes);
void sample_stacks_destroy(struct sample_stacks *s);

#endif
