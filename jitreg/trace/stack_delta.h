/* SPDX-License-Identifier: MIT */
/*
 * Stacks as what changed in them since the same thread was sampled last (jitreg/trace/trace.h, SAMPLE_STACK_WORDS).  Two stacks
 * of a thread, a tenth of a millisecond apart, differ in some 16 of their 1,024 words.  Context: thread.
 */
#ifndef TAILOR_STACK_DELTA_H
#define TAILOR_STACK_DELTA_H

#include "jitreg/trace/trace.h"
#include "jitreg/trace/record_stream.h"

#include <stddef.h>

struct stack_delta;

int stack_delta_create(struct stack_delta **out);
void stack_delta_destroy(struct stack_delta *s);

/*
 * Add a stack of at most SAMPLE_STACK_MAX bytes.  *new_words: those that were not there before (not aligned), valid until
 * the write.  Returns how many.
 */
uint32_t stack_delta_add(struct stack_delta *s, uint32_t tid, uint64_t sp, const void *stack, uint32_t bytes,
			   const unsigned char **new_words);
/* There may be no room for another one. */
bool stack_delta_full(const struct stack_delta *s);
/* All stacks as column STACK, and forget them. */
void stack_delta_write(struct stack_delta *s, struct trace_writer *w);

/* The stacks of one SAMPLES record, read back: as CHANGES, or as BYTES. */
struct stack_decoder;

/* *s is made when it is NULL, else used again.  p: the column's bytes, which must outlive its use.  lengths, sps, tids: NULL
 * when all are 0.  0, -EBADMSG when the bytes do not hold what lengths says, -ENOMEM. */
int stack_decoder_begin(struct stack_decoder **s, uint64_t encoding, const unsigned char *p, size_t bytes, uint32_t nr,
			const uint64_t *lengths, const uint64_t *sps, const uint64_t *tids);
/* Stack i, until the next call; in order, for going back means to start anew. */
const unsigned char *stack_decoder_get_stack(struct stack_decoder *s, uint32_t i, size_t *bytes);
void stack_decoder_destroy(struct stack_decoder *s);

#endif
