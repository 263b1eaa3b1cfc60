/* SPDX-License-Identifier: MIT */
/* What vectorizing and unrolling share: a pipeline's loop over rows, and a loop in front of it that takes several.  Context: thread. */
#ifndef ENGINE_LOOPS_H
#define ENGINE_LOOPS_H

#include "optimize.h"

#define ROWS 4
#define MAPPED_MAX 4096

struct row_loop {
	LLVMValueRef function, i, comparison, next, to; /* i < to; next = i + 1 */
	LLVMBasicBlockRef entry, head, body, done, latch;
};

/* Old values and what stands for them now. */
struct map {
	uint32_t nr;
	struct {
		LLVMValueRef from, to;
	} pair[MAPPED_MAX];
};

void map_add(struct map *m, LLVMValueRef from, LLVMValueRef to);
/* Itself, where nothing stands for it. */
LLVMValueRef map_find(const struct map *m, LLVMValueRef v);

LLVMTypeRef loop_i64(const struct optimizer *o);
LLVMValueRef loop_number(const struct optimizer *o, uint64_t n);
/* begin_pipeline's: entry -> head (i, i < to) -> body ... -> head, or done. */
bool loop_find(LLVMValueRef f, struct row_loop *l);
/*
 * A loop in front of the old one, for as long as ROWS rows are left; returns its body, which has no end yet.  The old one begins with
 * the row that it leaves.
 */
LLVMBasicBlockRef loop_open(struct optimizer *o, const struct row_loop *l, LLVMValueRef *row, LLVMBasicBlockRef *head);
/* The end of the new loop's round, where the builder is. */
void loop_close(struct optimizer *o, const struct row_loop *l, LLVMValueRef row, LLVMBasicBlockRef head);
/* A load from a column, which nobody writes to. */
bool loop_is_column_load(LLVMValueRef load, LLVMValueRef row);
/* A copy of i, of the same line, on what stands for its operands. */
LLVMValueRef loop_copy(struct optimizer *o, struct map *m, LLVMValueRef i);

#endif
