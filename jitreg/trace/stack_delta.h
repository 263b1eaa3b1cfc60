/* SPDX-License-Identifier: MIT */
/*
 * Stores stacks as changes since the last sample of the same thread (jitreg/trace/trace.h, SAMPLE_STACK_WORDS). This makes traces small,
 * because two stacks of a thread, a tenth of a millisecond apart, differ in some 16 of their 1,024 words. Context: thread.
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
 * Add the stack of a sample, of at most SAMPLE_STACK_MAX bytes. The caller has checked stack_delta_full(). Returns the number of words that
 * differ from those in the memory that the thread uses (SAMPLE_STACK_WORDS), which stack_delta_write() sets to 0. *new_words: these words,
 * not aligned, valid until stack_delta_write().
 */
uint32_t stack_delta_add(struct stack_delta *s, uint32_t tid, uint64_t sp, const void *stack, uint32_t bytes,
			   const unsigned char **new_words);
/* Is less room left than the largest stack may take?  Then stack_delta_write() must be called first. */
bool stack_delta_full(const struct stack_delta *s);
/* Write all added stacks as column STACK of the record that is being written, and forget them. */
void stack_delta_write(struct stack_delta *s, struct trace_writer *w);

/* This decoder is for the stacks of one SAMPLES record, with the encoding CHANGES or BYTES. */
struct stack_decoder;

/* Begin to decode column STACK of a record of nr samples.  *s: NULL, and set to a new decoder, or a decoder to reuse, also after an error.
 * p: the bytes of the column.  lengths, sps, tids: the columns STACK_BYTES, REGISTER_0 + SAMPLE_STACK_POINTER and TID, or NULL if all are
 * 0.  All these arrays must stay valid.  Returns 0, -EBADMSG if the bytes do not hold stacks of these lengths, or -ENOMEM. */
int stack_decoder_begin(struct stack_decoder **s, uint64_t encoding, const unsigned char *p, size_t bytes, uint32_t nr,
			const uint64_t *lengths, const uint64_t *sps, const uint64_t *tids);
/* Returns the stack of sample i, below nr, and sets *bytes to its size. The stack is valid until the next call. Going back to an earlier
 * stack decodes all from the first one on again. */
const unsigned char *stack_decoder_get_stack(struct stack_decoder *s, uint32_t i, size_t *bytes);
void stack_decoder_destroy(struct stack_decoder *s);

#endif
