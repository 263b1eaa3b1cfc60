/* SPDX-License-Identifier: MIT */
/* What the files that generate code share: the state of one generation, and small LLVM parts.  Context: thread. */
#ifndef ENGINE_GEN_H
#define ENGINE_GEN_H

#include "engine.h"
#include "jitreg.h"

#include <llvm-c/Core.h>

struct gen {
	struct plan *plan;
	const struct data *data;
	const struct options *options;
	struct program *program;
	struct pipeline *pipeline;
	struct task *task;
	LLVMContextRef context;
	LLVMModuleRef module;
	LLVMBuilderRef builder;
	LLVMTypeRef i64, pointer, none;
	LLVMValueRef function, worker;
	LLVMValueRef value[NR_COLUMNS]; /* of the tuple at hand */
	struct debug_info *debug;
	LLVMMetadataRef scope; /* of the function's debug locations */
	struct jitreg_tracker tracker;
	enum column_id saved[OPERATORS_MAX + 1][VALUES_MAX]; /* what a join's entries keep */
	int nr_saved[OPERATORS_MAX + 1];
};

LLVMValueRef gen_number(struct gen *g, int64_t n);
LLVMValueRef gen_address(struct gen *g, const void *p);
/* A pointer to the 8 bytes at base + offset; what lies there. */
LLVMValueRef gen_field(struct gen *g, LLVMValueRef base, size_t offset);
LLVMValueRef gen_load(struct gen *g, LLVMValueRef base, size_t offset, const char *name);
/* An operation also where both operands are constants, which LLVM's builder would compute by itself. */
LLVMValueRef gen_unfolded(struct gen *g, LLVMOpcode opcode, LLVMValueRef a, LLVMValueRef b);
/* A call into the runtime on behalf of the task at hand; arguments has room for one more. */
LLVMValueRef gen_call(struct gen *g, const char *name, LLVMTypeRef returns, LLVMValueRef *arguments, unsigned nr);

/*
 * inline.c: hash tables probed by generated code.  A pointer to the entry, NULL where there is none; to the group, inserted by the
 * runtime where there is none.  arguments: as rt_group_find takes them.
 */
LLVMValueRef inline_join_lookup(struct gen *g, const struct join_table *t, LLVMValueRef hash, LLVMValueRef key);
LLVMValueRef inline_group_find(struct gen *g, const struct group_state *s, LLVMValueRef *arguments);
/* rounds of arithmetic, each waiting for the one before it. */
LLVMValueRef inline_work(struct gen *g, LLVMValueRef x, uint64_t rounds);

#endif
