/* SPDX-License-Identifier: MIT */
/* Unrolling, and interleaving of what rows may do in any order.  Copies keep their lines. */
#include "loops.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

#define BLOCKS_MAX 128

/* The part of the body that may run before all that the rows before it do: arithmetic and loads from columns. */
static LLVMValueRef end_of_front(const struct row_loop *l, LLVMValueRef row)
{
	LLVMValueRef i = LLVMGetFirstInstruction(l->body);

	while (optimizer_is_pure(i) || loop_is_column_load(i, row))
		i = LLVMGetNextInstruction(i);
	return i;
}

/* One row's blocks, from `from` in the body on; branches to the head lead to `after`. */
static void copy_row(struct optimizer *o, const struct row_loop *l, struct map *m, LLVMValueRef from, LLVMBasicBlockRef *old, uint32_t nr,
		     LLVMBasicBlockRef first, LLVMBasicBlockRef after)
{
	LLVMContextRef context = LLVMGetModuleContext(optimizer_module(o));
	LLVMBuilderRef b = optimizer_builder(o);

	map_add(m, LLVMBasicBlockAsValue(l->head), LLVMBasicBlockAsValue(after));
	map_add(m, LLVMBasicBlockAsValue(l->body), LLVMBasicBlockAsValue(first));
	for (uint32_t n = 0; n < nr; n++)
		if (old[n] != l->body)
			map_add(m, LLVMBasicBlockAsValue(old[n]),
				LLVMBasicBlockAsValue(LLVMInsertBasicBlockInContext(context, l->head, LLVMGetBasicBlockName(old[n]))));
	/* phis first: whatever uses them comes in any order of blocks, and their own operands are known only at the end */
	for (uint32_t n = 0; n < nr; n++) {
		LLVMPositionBuilderAtEnd(b, LLVMValueAsBasicBlock(map_find(m, LLVMBasicBlockAsValue(old[n]))));
		for (LLVMValueRef i = LLVMGetFirstInstruction(old[n]); i && LLVMIsAPHINode(i); i = LLVMGetNextInstruction(i)) {
			optimizer_at(o, l->function, optimizer_line(i));
			map_add(m, i, LLVMBuildPhi(b, LLVMTypeOf(i), ""));
		}
	}
	for (uint32_t n = 0; n < nr; n++) {
		LLVMPositionBuilderAtEnd(b, LLVMValueAsBasicBlock(map_find(m, LLVMBasicBlockAsValue(old[n]))));
		for (LLVMValueRef i = old[n] == l->body ? from : LLVMGetFirstInstruction(old[n]); i; i = LLVMGetNextInstruction(i))
			if (!LLVMIsAPHINode(i))
				loop_copy(o, m, i);
	}
	/* copies of values that were not copied yet when they were used */
	for (uint32_t n = 0; n < nr; n++)
		for (LLVMValueRef i = LLVMGetFirstInstruction(old[n]); i; i = LLVMGetNextInstruction(i)) {
			LLVMValueRef c = map_find(m, i);

			if (LLVMIsAPHINode(i))
				for (unsigned k = 0; k < LLVMCountIncoming(i); k++)
					LLVMAddIncoming(c, (LLVMValueRef[]){ map_find(m, LLVMGetIncomingValue(i, k)) },
							(LLVMBasicBlockRef[]){ LLVMValueAsBasicBlock(map_find(m,
								LLVMBasicBlockAsValue(LLVMGetIncomingBlock(i, k)))) }, 1);
			else if (c != i)
				for (int k = 0; k < LLVMGetNumOperands(c); k++)
					LLVMSetOperand(c, (unsigned)k, map_find(m, LLVMGetOperand(c, (unsigned)k)));
		}
}

void optimize_unroll(struct optimizer *o, LLVMValueRef function)
{
	LLVMContextRef context = LLVMGetModuleContext(optimizer_module(o));
	struct map *m = calloc(ROWS, sizeof(*m));
	LLVMBasicBlockRef old[BLOCKS_MAX], head, body, first[ROWS + 1];
	LLVMValueRef row, from, i;
	struct row_loop l;
	uint32_t nr = 0;

	if (!m)
		abort();
	if (!loop_find(function, &l)) {
		free(m);
		return;
	}
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		if (b != l.entry && b != l.head && b != l.done) {
			if (nr == BLOCKS_MAX)
				abort();
			old[nr++] = b;
		}
	body = loop_open(o, &l, &row, &head);
	i = LLVMGetFirstInstruction(l.head); /* i's place was taken */
	from = end_of_front(&l, i);
	LLVMPositionBuilderAtEnd(optimizer_builder(o), body);
	for (uint32_t k = 0; k < ROWS; k++) {
		optimizer_at(o, function, optimizer_line(l.next));
		map_add(&m[k], i, k ? LLVMBuildAdd(optimizer_builder(o), row, loop_number(o, k), "") : row);
	}
	for (LLVMValueRef v = LLVMGetFirstInstruction(l.body); v != from; v = LLVMGetNextInstruction(v))
		for (uint32_t k = 0; k < ROWS; k++)
			loop_copy(o, &m[k], v);
	for (uint32_t k = 0; k <= ROWS; k++)
		first[k] = LLVMInsertBasicBlockInContext(context, l.head, k < ROWS ? "one_row" : "rows_end");
	optimizer_at(o, function, optimizer_line(LLVMGetBasicBlockTerminator(l.latch)));
	LLVMBuildBr(optimizer_builder(o), first[0]);
	for (uint32_t k = 0; k < ROWS; k++)
		copy_row(o, &l, &m[k], from, old, nr, first[k], first[k + 1]);
	LLVMPositionBuilderAtEnd(optimizer_builder(o), first[ROWS]);
	loop_close(o, &l, row, head);
	free(m);
}
