/* SPDX-License-Identifier: MIT */
/*
 * Pipelines' loops over rows, four rows a round.  A copy of an instruction keeps its line, scalar or vector, so that the dictionary
 * needs no change; what is new, the loop's control and the masks, is made of the loop's control and the branches.  What is left of
 * the rows runs through the loop as it was.
 */
#include "loops.h"

#include <llvm-c/DebugInfo.h>
#include <stdlib.h>

void map_add(struct map *m, LLVMValueRef from, LLVMValueRef to)
{
	if (m->nr == MAPPED_MAX)
		abort();
	m->pair[m->nr].from = from;
	m->pair[m->nr++].to = to;
}

LLVMValueRef map_find(const struct map *m, LLVMValueRef v)
{
	for (uint32_t i = m->nr; i > 0; i--)
		if (m->pair[i - 1].from == v)
			return m->pair[i - 1].to;
	return v;
}

bool loop_find(LLVMValueRef f, struct row_loop *l)
{
	LLVMValueRef branch;

	*l = (struct row_loop){ .function = f, .entry = LLVMGetEntryBasicBlock(f) };
	branch = LLVMGetBasicBlockTerminator(l->entry);
	if (!LLVMIsABranchInst(branch) || LLVMIsConditional(branch))
		return false;
	l->head = LLVMGetSuccessor(branch, 0);
	l->i = LLVMGetFirstInstruction(l->head);
	branch = LLVMGetBasicBlockTerminator(l->head);
	if (!LLVMIsAPHINode(l->i) || LLVMCountIncoming(l->i) != 2 || !LLVMIsABranchInst(branch) || !LLVMIsConditional(branch))
		return false;
	l->comparison = LLVMGetCondition(branch);
	l->body = LLVMGetSuccessor(branch, 0);
	l->done = LLVMGetSuccessor(branch, 1);
	if (!LLVMIsAICmpInst(l->comparison) || LLVMGetOperand(l->comparison, 0) != l->i ||
	    LLVMGetNextInstruction(l->i) != l->comparison || LLVMGetNextInstruction(l->comparison) != branch)
		return false;
	l->to = LLVMGetOperand(l->comparison, 1);
	l->latch = LLVMGetIncomingBlock(l->i, 1);
	l->next = LLVMGetIncomingValue(l->i, 1);
	return LLVMGetIncomingBlock(l->i, 0) == l->entry && LLVMIsABinaryOperator(l->next) && LLVMGetOperand(l->next, 0) == l->i;
}

LLVMTypeRef loop_i64(const struct optimizer *o)
{
	return LLVMInt64TypeInContext(LLVMGetModuleContext(optimizer_module(o)));
}

LLVMValueRef loop_number(const struct optimizer *o, uint64_t n)
{
	return LLVMConstInt(loop_i64(o), n, 0);
}

LLVMBasicBlockRef loop_open(struct optimizer *o, const struct row_loop *l, LLVMValueRef *row, LLVMBasicBlockRef *head)
{
	LLVMContextRef context = LLVMGetModuleContext(optimizer_module(o));
	LLVMBasicBlockRef body = LLVMInsertBasicBlockInContext(context, l->head, "rows_body");
	LLVMValueRef rest, last, old = LLVMGetBasicBlockTerminator(l->entry);
	LLVMBuilderRef b = optimizer_builder(o);

	*head = LLVMInsertBasicBlockInContext(context, body, "rows_head");
	LLVMPositionBuilderBefore(b, old);
	optimizer_at(o, l->function, optimizer_line(old));
	LLVMBuildBr(b, *head);
	LLVMInstructionEraseFromParent(old); /* the new one has its line */
	LLVMPositionBuilderAtEnd(b, *head);
	optimizer_at(o, l->function, optimizer_line(l->i));
	*row = LLVMBuildPhi(b, loop_i64(o), "row");
	LLVMAddIncoming(*row, (LLVMValueRef[]){ LLVMGetIncomingValue(l->i, 0) }, (LLVMBasicBlockRef[]){ l->entry }, 1);
	optimizer_at(o, l->function, optimizer_line(l->comparison));
	last = LLVMBuildAdd(b, *row, loop_number(o, ROWS - 1), "last");
	last = LLVMBuildICmp(b, LLVMGetICmpPredicate(l->comparison), last, l->to, "");
	optimizer_at(o, l->function, optimizer_line(LLVMGetBasicBlockTerminator(l->head)));
	LLVMBuildCondBr(b, last, body, l->head);
	/* a phi's blocks cannot be changed */
	LLVMPositionBuilderBefore(b, l->i);
	optimizer_at(o, l->function, optimizer_line(l->i));
	rest = LLVMBuildPhi(b, loop_i64(o), "rest");
	LLVMReplaceAllUsesWith(l->i, rest);
	LLVMAddIncoming(rest, (LLVMValueRef[]){ *row, l->next }, (LLVMBasicBlockRef[]){ *head, l->latch }, 2);
	LLVMInstructionEraseFromParent(l->i);
	return body;
}

void loop_close(struct optimizer *o, const struct row_loop *l, LLVMValueRef row, LLVMBasicBlockRef head)
{
	LLVMBuilderRef b = optimizer_builder(o);
	LLVMValueRef next;

	optimizer_at(o, l->function, optimizer_line(l->next));
	next = LLVMBuildAdd(b, row, loop_number(o, ROWS), "next_rows");
	LLVMAddIncoming(row, &next, (LLVMBasicBlockRef[]){ LLVMGetInsertBlock(b) }, 1);
	optimizer_at(o, l->function, optimizer_line(LLVMGetBasicBlockTerminator(l->latch)));
	LLVMBuildBr(b, head);
}

bool loop_is_column_load(LLVMValueRef load, LLVMValueRef row)
{
	LLVMValueRef at = LLVMIsALoadInst(load) ? LLVMGetOperand(load, 0) : NULL;

	return at && LLVMIsAGetElementPtrInst(at) && LLVMGetNumOperands(at) == 2 && LLVMIsConstant(LLVMGetOperand(at, 0)) &&
	       LLVMGetOperand(at, 1) == row;
}

LLVMValueRef loop_copy(struct optimizer *o, struct map *m, LLVMValueRef i)
{
	LLVMValueRef c = LLVMInstructionClone(i);

	for (int n = 0; n < LLVMGetNumOperands(i); n++)
		LLVMSetOperand(c, (unsigned)n, map_find(m, LLVMGetOperand(i, (unsigned)n)));
	LLVMInsertIntoBuilder(optimizer_builder(o), c); /* which gives it the builder's location */
	LLVMInstructionSetDebugLoc(c, LLVMInstructionGetDebugLoc(i));
	map_add(m, i, c);
	return c;
}
