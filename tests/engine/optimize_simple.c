/* SPDX-License-Identifier: MIT */
/* Instructions that are not needed: computed at compile time, computed before, or computed for nobody. */
#include "optimize.h"

/* ------------------------------------------------------------------------------------------------------- constant folding */

/* The low bits of value: LLVM 20 and later refuse a constant that is wider than its type. */
static LLVMValueRef constant(LLVMTypeRef type, unsigned long long value)
{
	unsigned bits = LLVMGetIntTypeWidth(type);

	return LLVMConstInt(type, bits < 64 ? value & ((1ull << bits) - 1) : value, 0);
}

/* Of two constants of at most 64 bits (LLVM's own folding of constants left its C interface, one release after another). */
static bool compare(LLVMIntPredicate predicate, unsigned long long a, unsigned long long b, long long signed_a, long long signed_b)
{
	switch (predicate) {
	case LLVMIntEQ:
		return a == b;
	case LLVMIntNE:
		return a != b;
	case LLVMIntUGT:
		return a > b;
	case LLVMIntUGE:
		return a >= b;
	case LLVMIntULT:
		return a < b;
	case LLVMIntULE:
		return a <= b;
	case LLVMIntSGT:
		return signed_a > signed_b;
	case LLVMIntSGE:
		return signed_a >= signed_b;
	case LLVMIntSLT:
		return signed_a < signed_b;
	case LLVMIntSLE:
		return signed_a <= signed_b;
	}
	return false;
}

static LLVMValueRef folded(LLVMValueRef i)
{
	LLVMValueRef operand_a, operand_b;
	unsigned long long a, b;

	if ((!LLVMIsABinaryOperator(i) && !LLVMIsAICmpInst(i)))
		return NULL;
	operand_a = LLVMGetOperand(i, 0);
	operand_b = LLVMGetOperand(i, 1);
	if (!LLVMIsAConstantInt(operand_a) || !LLVMIsAConstantInt(operand_b) || LLVMGetIntTypeWidth(LLVMTypeOf(operand_a)) > 64)
		return NULL;
	a = LLVMConstIntGetZExtValue(operand_a);
	b = LLVMConstIntGetZExtValue(operand_b);
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMAdd:
		return constant(LLVMTypeOf(i), a + b);
	case LLVMSub:
		return constant(LLVMTypeOf(i), a - b);
	case LLVMMul:
		return constant(LLVMTypeOf(i), a * b);
	case LLVMAnd:
		return constant(LLVMTypeOf(i), a & b);
	case LLVMOr:
		return constant(LLVMTypeOf(i), a | b);
	case LLVMICmp:
		return LLVMConstInt(LLVMTypeOf(i),
				    compare(LLVMGetICmpPredicate(i), a, b, LLVMConstIntGetSExtValue(operand_a),
					    LLVMConstIntGetSExtValue(operand_b)), 0);
	default:
		return NULL;
	}
}

/* What is left of a branch whose condition is known. */
static void fold_branch(struct optimizer *o, LLVMValueRef branch)
{
	LLVMValueRef condition = LLVMGetCondition(branch), shorter;
	LLVMBasicBlockRef to;

	if (!LLVMIsAConstantInt(condition))
		return;
	to = LLVMGetSuccessor(branch, LLVMConstIntGetZExtValue(condition) ? 0 : 1);
	LLVMPositionBuilderBefore(optimizer_builder(o), branch);
	optimizer_at(o, optimizer_function(branch), optimizer_line(branch));
	shorter = LLVMBuildBr(optimizer_builder(o), to);
	optimizer_share(o, optimizer_made(o, shorter), optimizer_line(branch));
	optimizer_remove(o, branch);
}

void optimize_fold(struct optimizer *o, LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
			LLVMValueRef constant = folded(i);

			next = LLVMGetNextInstruction(i);
			if (constant) {
				LLVMReplaceAllUsesWith(i, constant);
				optimizer_remove(o, i);
			} else if (LLVMIsABranchInst(i) && LLVMIsConditional(i)) {
				fold_branch(o, i);
			}
		}
}

/* -------------------------------------------------------------------------------------------------- common subexpressions */

static bool same_expression(LLVMValueRef a, LLVMValueRef b)
{
	int nr = LLVMGetNumOperands(a);

	if (LLVMGetInstructionOpcode(a) != LLVMGetInstructionOpcode(b) || LLVMTypeOf(a) != LLVMTypeOf(b) || LLVMGetNumOperands(b) != nr)
		return false;
	if (LLVMIsAICmpInst(a) && LLVMGetICmpPredicate(a) != LLVMGetICmpPredicate(b))
		return false;
	if (LLVMIsAGetElementPtrInst(a) && LLVMGetGEPSourceElementType(a) != LLVMGetGEPSourceElementType(b))
		return false;
	for (int n = 0; n < nr; n++)
		if (LLVMGetOperand(a, (unsigned)n) != LLVMGetOperand(b, (unsigned)n))
			return false;
	return true;
}

/* The same, computed before: in this block, or in one that every way here leads through. */
static LLVMValueRef computed_before(LLVMValueRef i)
{
	LLVMBasicBlockRef b = LLVMGetInstructionParent(i);
	LLVMValueRef at = LLVMGetPreviousInstruction(i);

	for (int blocks = 0; blocks < 64; blocks++) {
		for (; at; at = LLVMGetPreviousInstruction(at))
			if (optimizer_is_pure(at) && same_expression(at, i))
				return at;
		b = optimizer_only_predecessor(b);
		if (!b)
			return NULL;
		at = LLVMGetLastInstruction(b);
	}
	return NULL;
}

void optimize_cse(struct optimizer *o, LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b), next; i; i = next) {
			LLVMValueRef before = optimizer_is_pure(i) ? computed_before(i) : NULL;

			next = LLVMGetNextInstruction(i);
			if (!before)
				continue;
			optimizer_share(o, optimizer_line(before), optimizer_line(i));
			LLVMReplaceAllUsesWith(i, before);
			optimizer_remove(o, i);
		}
}

/* ------------------------------------------------------------------------------------------------------- code elimination */

static bool remove_block(struct optimizer *o, LLVMBasicBlockRef b)
{
	if (b == LLVMGetEntryBasicBlock(LLVMGetBasicBlockParent(b)) || LLVMGetFirstUse(LLVMBasicBlockAsValue(b)))
		return false;
	for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
		optimizer_forget(o, i);
		if (LLVMGetFirstUse(i)) /* by blocks that cannot be reached either */
			LLVMReplaceAllUsesWith(i, LLVMGetUndef(LLVMTypeOf(i)));
	}
	LLVMDeleteBasicBlock(b);
	return true;
}

void optimize_eliminate(struct optimizer *o, LLVMValueRef function)
{
	bool again = true;

	while (again) {
		again = false;
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function), next; b; b = next) {
			next = LLVMGetNextBasicBlock(b);
			if (remove_block(o, b)) {
				again = true;
				continue;
			}
			for (LLVMValueRef i = LLVMGetLastInstruction(b), before; i; i = before) {
				before = LLVMGetPreviousInstruction(i);
				if (LLVMGetFirstUse(i) || (!optimizer_is_pure(i) && !LLVMIsALoadInst(i)))
					continue;
				optimizer_remove(o, i);
				again = true;
			}
		}
	}
}
