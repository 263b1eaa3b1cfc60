/* SPDX-License-Identifier: MIT */
/*
 * Stacks as what changed in them since the same thread was sampled last (jitreg/trace/trace.h, SAMPLE_STACK_WORDS).  Two stacks
 * of a thread, a tenth of a millisecond apart, differ in some 16 of their 1,024 words.  Context: thread.
 */
#ifndef TAILOR_STACK_DELTA_H
#define TAILOR_STACK_DELTA_H

#include "jitreg/trace/trace.h"
#include "jitreg/trace/writer.h"

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
/* All stacks as column STACK, [column, encoding, bytes], and forget them. */
void stack_delta_write(struct stack_delta *s, struct trace_writer *w);

#endif
