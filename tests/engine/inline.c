/* SPDX-License-Identifier: MIT */
/*
 * --optimize inline: generated code walks a bucket's chain itself instead of calling the runtime, as compiling engines do where
 * the call would cost more than the walk.  Entries of joins and of groups begin alike: next, hash, keys.
 */
#include "gen.h"

static LLVMBasicBlockRef block(struct gen *g, const char *name)
{
	return LLVMAppendBasicBlockInContext(g->context, g->function, name);
}

static LLVMValueRef as_pointer(struct gen *g, LLVMValueRef v)
{
	return LLVMBuildIntToPtr(g->builder, v, g->pointer, "");
}

/* The entry with this hash and these keys, or 0, as a number; code goes on in a block of its own. */
static LLVMValueRef walk(struct gen *g, LLVMValueRef directory, LLVMValueRef mask, LLVMValueRef hash, LLVMValueRef *keys, int nr_keys)
{
	LLVMBasicBlockRef chain = block(g, "chain"), compare = block(g, "compare"), next = block(g, "next_entry");
	LLVMBasicBlockRef end = block(g, "chain_end");
	LLVMBasicBlockRef here = LLVMGetInsertBlock(g->builder);
	LLVMValueRef slot, first, entry, at, same, following;

	slot = LLVMBuildAnd(g->builder, hash, mask, "");
	directory = LLVMBuildIntToPtr(g->builder, directory, LLVMPointerType(g->i64, 0), "");
	first = LLVMBuildLoad2(g->builder, g->i64, LLVMBuildGEP2(g->builder, g->i64, directory, &slot, 1, ""), "first");
	LLVMBuildBr(g->builder, chain);
	LLVMPositionBuilderAtEnd(g->builder, chain);
	entry = LLVMBuildPhi(g->builder, g->i64, "entry");
	LLVMBuildCondBr(g->builder, LLVMBuildICmp(g->builder, LLVMIntNE, entry, gen_number(g, 0), ""), compare, end);
	LLVMPositionBuilderAtEnd(g->builder, compare);
	at = as_pointer(g, entry);
	same = LLVMBuildICmp(g->builder, LLVMIntEQ, gen_load(g, at, offsetof(struct group, hash), "entry_hash"), hash, "");
	for (int k = 0; k < nr_keys; k++)
		same = LLVMBuildAnd(g->builder, same, LLVMBuildICmp(g->builder, LLVMIntEQ, keys[k],
				    gen_load(g, at, offsetof(struct group, key) + 8 * (size_t)k, "entry_key"), ""), "");
	LLVMBuildCondBr(g->builder, same, end, next);
	LLVMPositionBuilderAtEnd(g->builder, next);
	following = gen_load(g, at, offsetof(struct group, next), "following");
	LLVMBuildBr(g->builder, chain);
	LLVMAddIncoming(entry, (LLVMValueRef[]){ first, following }, (LLVMBasicBlockRef[]){ here, next }, 2);
	LLVMPositionBuilderAtEnd(g->builder, end);
	return entry;
}

_Static_assert(offsetof(struct entry, hash) == offsetof(struct group, hash), "chains are walked alike");
_Static_assert(offsetof(struct entry, key) == offsetof(struct group, key), "chains are walked alike");
_Static_assert(offsetof(struct entry, next) == offsetof(struct group, next), "chains are walked alike");

LLVMValueRef inline_join_lookup(struct gen *g, const struct join_table *t, LLVMValueRef hash, LLVMValueRef key)
{
	LLVMValueRef table = gen_address(g, t), directory = gen_load(g, table, offsetof(struct join_table, directory), "directory");

	return as_pointer(g, walk(g, directory, gen_load(g, table, offsetof(struct join_table, mask), "mask"), hash, &key, 1));
}

/* The worker's own table is still without a directory before the first group. */
LLVMValueRef inline_group_find(struct gen *g, const struct group_state *s, LLVMValueRef *arguments)
{
	LLVMBasicBlockRef look = block(g, "look"), insert = block(g, "insert"), found = block(g, "found"), looked;
	LLVMTypeRef i32 = LLVMInt32TypeInContext(g->context);
	LLVMValueRef number, table, directory, entry, group, made;

	number = gen_field(g, g->worker, offsetof(struct worker, number));
	number = LLVMBuildBitCast(g->builder, number, LLVMPointerType(i32, 0), "");
	number = LLVMBuildZExt(g->builder, LLVMBuildLoad2(g->builder, i32, number, "number"), g->i64, "");
	number = LLVMBuildMul(g->builder, number, gen_number(g, sizeof(struct group_table)), "");
	table = LLVMBuildGEP2(g->builder, LLVMInt8TypeInContext(g->context), gen_address(g, s->local), &number, 1, "table");
	directory = gen_load(g, table, offsetof(struct group_table, directory), "directory");
	LLVMBuildCondBr(g->builder, LLVMBuildICmp(g->builder, LLVMIntNE, directory, gen_number(g, 0), ""), look, insert);
	LLVMPositionBuilderAtEnd(g->builder, look);
	entry = walk(g, directory, gen_load(g, table, offsetof(struct group_table, mask), "mask"), arguments[2], arguments + 3, s->nr_keys);
	entry = as_pointer(g, entry);
	looked = LLVMGetInsertBlock(g->builder);
	LLVMBuildCondBr(g->builder, LLVMBuildIsNotNull(g->builder, entry, ""), found, insert);
	LLVMPositionBuilderAtEnd(g->builder, insert);
	made = gen_call(g, "rt_group_find", g->pointer, arguments, 7);
	LLVMBuildBr(g->builder, found);
	LLVMPositionBuilderAtEnd(g->builder, found);
	group = LLVMBuildPhi(g->builder, g->pointer, "group");
	LLVMAddIncoming(group, (LLVMValueRef[]){ entry, made }, (LLVMBasicBlockRef[]){ looked, insert }, 2);
	return group;
}

LLVMValueRef inline_work(struct gen *g, LLVMValueRef x, uint64_t rounds)
{
	for (uint64_t i = 0; i < rounds; i++) {
		LLVMValueRef factor = gen_unfolded(g, LLVMAdd, gen_number(g, 0x1e3779b97f4a7c14), gen_number(g, (int64_t)(2 * i + 1)));

		x = LLVMBuildMul(g->builder, x, factor, "");
		x = LLVMBuildXor(g->builder, x, LLVMBuildLShr(g->builder, x, gen_number(g, 29), ""), "");
	}
	return x;
}
