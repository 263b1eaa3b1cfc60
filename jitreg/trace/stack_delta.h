/* SPDX-License-Identifier: MIT */
/*
 * Stacks as changes since the last sample of the same thread (jitreg/trace/trace.h, SAMPLE_STACK_WORDS).  Two stacks of a thread, a tenth
 * of a millisecond apart, differ in some 16 of their 1,024 words.  Context: thread.
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
 * Add a stack of at most SAMPLE_STACK_MAX bytes.  Returns the number of words that were not there before.  *new_words: these words, not
 * aligned, valid until stack_delta_write().
 */
uint32_t stack_delta_add(struct stack_delta *s, uint32_t tid, uint64_t sp, const void *stack, uint32_t bytes,
			   const unsigned char **new_words);
/* May there be no room for another stack? */
bool stack_delta_full(const struct stack_delta *s);
/* Write all stacks as column STACK, and remove them. */
void stack_delta_write(struct stack_delta *s, struct trace_writer *w);

/* A decoder for the stacks of one SAMPLES record, which are encoded as CHANGES or BYTES. */
struct stack_decoder;

/* Begin to decode a record.  *s: NULL, or a decoder to reuse.  p: the bytes of the column, which must stay valid.  lengths, sps, tids: NULL
 * if all are 0.  Returns 0, -EBADMSG if the bytes do not hold stacks of these lengths, or -ENOMEM. */
int stack_decoder_begin(struct stack_decoder **s, uint64_t encoding, const unsigned char *p, size_t bytes, uint32_t nr,
			const uint64_t *lengths, const uint64_t *sps, const uint64_t *tids);
/* Stack i, which is valid until the next call.  Going back to an earlier stack starts from the first one again. */
const unsigned char *stack_decoder_get_stack(struct stack_decoder *s, uint32_t i, size_t *bytes);
void stack_decoder_destroy(struct stack_decoder *s);

#endif
