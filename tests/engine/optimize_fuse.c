/* SPDX-License-Identifier: MIT */
/*
 * Instruction fusing: two updates (load, add, store) of neighbouring words, often of two operators, become one of two words.  The new
 * instructions belong to the owners of both.
 */
#include "optimize.h"

/* base + offset, if the pointer is that. */
static LLVMValueRef base_of(LLVMValueRef pointer, int64_t *offset)
{
	*offset = 0;
	while (LLVMIsABitCastInst(pointer))
		pointer = LLVMGetOperand(pointer, 0);
	if (LLVMIsAGetElementPtrInst(pointer) && LLVMGetNumOperands(pointer) == 2 && LLVMIsAConstantInt(LLVMGetOperand(pointer, 1)) &&
	    LLVMGetIntTypeWidth(LLVMTypeOf(LLVMGetOperand(pointer, 1))) == 64 &&
	    LLVMGetTypeKind(LLVMGetGEPSourceElementType(pointer)) == LLVMIntegerTypeKind &&
	    LLVMGetIntTypeWidth(LLVMGetGEPSourceElementType(pointer)) == 8) {
		*offset = LLVMConstIntGetSExtValue(LLVMGetOperand(pointer, 1));
		pointer = LLVMGetOperand(pointer, 0);
	}
	return pointer;
}

/* Counters of rows are read by nobody before the pipeline has ended. */
static bool is_row_counter(LLVMValueRef base, int64_t offset)
{
	return LLVMIsAArgument(base) && offset >= 0 && (size_t)offset < sizeof(((struct worker *)0)->rows);
}

/* Nothing from `from` to `to` may see or change the word at base + offset: loads elsewhere and other updates of base do not. */
static bool nothing_between(LLVMValueRef from, LLVMValueRef to, LLVMValueRef base, int64_t word, bool counters)
{
	struct update u;
	int64_t offset;

	for (LLVMValueRef i = LLVMGetNextInstruction(from); i && i != to; i = LLVMGetNextInstruction(i)) {
		if (LLVMIsACallInst(i) && !counters)
			return false;
		if (LLVMIsALoadInst(i) && base_of(LLVMGetOperand(i, 0), &offset) == base && offset == word)
			return false;
		if (LLVMIsAAtomicRMWInst(i))
			return false;
		if (LLVMIsAStoreInst(i) && !counters && !(optimizer_update(i, &u) && base_of(u.pointer, &offset) == base))
			return false;
	}
	return true;
}

static void made_of(struct optimizer *o, LLVMValueRef instruction, LLVMValueRef a, LLVMValueRef b)
{
	uint32_t line = optimizer_made(o, instruction);

	optimizer_share(o, line, optimizer_line(a));
	optimizer_share(o, line, optimizer_line(b));
}

/* One load, add and store of two words instead of low's and high's, before `at`. */
static void fuse_two(struct optimizer *o, const struct update *low, const struct update *high, LLVMValueRef at)
{
	LLVMContextRef context = LLVMGetModuleContext(optimizer_module(o));
	LLVMTypeRef i64 = LLVMInt64TypeInContext(context), pair = LLVMVectorType(i64, 2), i32 = LLVMInt32TypeInContext(context);
	LLVMValueRef pointer, load, both, add, store;

	LLVMPositionBuilderBefore(optimizer_builder(o), at);
	optimizer_at(o, optimizer_function(at), optimizer_line(low->load));
	pointer = LLVMBuildBitCast(optimizer_builder(o), low->pointer, LLVMPointerType(pair, 0), "words");
	load = LLVMBuildLoad2(optimizer_builder(o), pair, pointer, "fused");
	LLVMSetAlignment(load, 8);
	both = LLVMBuildInsertElement(optimizer_builder(o), LLVMGetUndef(pair), low->with, LLVMConstInt(i32, 0, 0), "low");
	if (LLVMIsAInstruction(both))
		optimizer_share(o, optimizer_made(o, both), optimizer_line(low->add));
	both = LLVMBuildInsertElement(optimizer_builder(o), both, high->with, LLVMConstInt(i32, 1, 0), "both");
	if (LLVMIsAInstruction(both))
		optimizer_share(o, optimizer_made(o, both), optimizer_line(high->add));
	add = LLVMBuildAdd(optimizer_builder(o), load, both, "sums");
	store = LLVMBuildStore(optimizer_builder(o), add, pointer);
	LLVMSetAlignment(store, 8);
	if (LLVMIsAInstruction(pointer))
		made_of(o, pointer, low->load, high->load);
	made_of(o, load, low->load, high->load);
	made_of(o, add, low->add, high->add);
	made_of(o, store, low->store, high->store);
	for (int i = 0; i < 2; i++) {
		const struct update *u = i ? high : low;

		optimizer_remove(o, u->store);
		optimizer_remove(o, u->add);
		optimizer_remove(o, u->load);
	}
}

/* Two updates of one block: both happen where the second was. */
static bool fuse_in_block(struct optimizer *o, LLVMValueRef store)
{
	struct update one, two;
	int64_t offset, other;
	LLVMValueRef base;

	if (!optimizer_update(store, &one))
		return false;
	base = base_of(one.pointer, &offset);
	for (LLVMValueRef i = LLVMGetNextInstruction(store); i; i = LLVMGetNextInstruction(i)) {
		bool counters;

		if (!optimizer_update(i, &two) || base_of(two.pointer, &other) != base || (other != offset + 8 && other != offset - 8))
			continue;
		counters = is_row_counter(base, offset) && is_row_counter(base, other);
		if (!nothing_between(one.load, two.store, base, offset, counters))
			continue;
		if (other > offset)
			fuse_two(o, &one, &two, two.store);
		else
			fuse_two(o, &two, &one, two.store);
		return true;
	}
	return false;
}

/* A row counter, and the one beside it of those rows only that pass the branch at the block's end. */
static bool fuse_over_branch(struct optimizer *o, LLVMValueRef store)
{
	LLVMBasicBlockRef b = LLVMGetInstructionParent(store), then;
	LLVMValueRef branch = LLVMGetBasicBlockTerminator(b), base;
	struct update one, two;
	int64_t offset, other;

	if (!optimizer_update(store, &one) || !LLVMIsABranchInst(branch) || !LLVMIsConditional(branch) || !LLVMIsAConstantInt(one.with))
		return false;
	base = base_of(one.pointer, &offset);
	then = LLVMGetSuccessor(branch, 0);
	if (!is_row_counter(base, offset) || optimizer_only_predecessor(then) != b || LLVMGetSuccessor(branch, 1) == then)
		return false;
	for (LLVMValueRef i = LLVMGetFirstInstruction(then); i; i = LLVMGetNextInstruction(i)) {
		if (!optimizer_update(i, &two) || base_of(two.pointer, &other) != base || (other != offset + 8 && other != offset - 8) ||
		    !is_row_counter(base, other) || !LLVMIsAConstantInt(two.with) || LLVMConstIntGetZExtValue(two.with) != 1)
			continue;
		LLVMPositionBuilderBefore(optimizer_builder(o), branch);
		optimizer_at(o, optimizer_function(store), optimizer_line(two.add));
		two.with = LLVMBuildZExt(optimizer_builder(o), LLVMGetCondition(branch), LLVMTypeOf(two.add), "passes");
		if (LLVMIsAInstruction(two.with))
			optimizer_share(o, optimizer_made(o, two.with), optimizer_line(two.add));
		if (other < offset) { /* that pointer is known too late */
			LLVMValueRef back = LLVMConstInt(LLVMTypeOf(two.add), (uint64_t)-1, 1);

			two.pointer = LLVMBuildGEP2(optimizer_builder(o), LLVMTypeOf(two.add), one.pointer, &back, 1, "before");
			if (LLVMIsAInstruction(two.pointer))
				optimizer_share(o, optimizer_made(o, two.pointer), optimizer_line(two.load));
			fuse_two(o, &two, &one, branch);
		} else {
			fuse_two(o, &one, &two, branch);
		}
		return true;
	}
	return false;
}

void optimize_fuse(struct optimizer *o, LLVMValueRef function)
{
	for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(function); b; b = LLVMGetNextBasicBlock(b))
		for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;) {
			bool fused = LLVMIsAStoreInst(i) && (fuse_in_block(o, i) || fuse_over_branch(o, i));

			i = fused ? LLVMGetFirstInstruction(b) : LLVMGetNextInstruction(i);
		}
}
