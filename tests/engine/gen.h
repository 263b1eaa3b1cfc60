/* SPDX-License-Identifier: MIT */
/* What the files that generate code share: the state of one generation, and small LLVM parts.  Context: thread. */
#ifndef ENGINE_GEN_H
#define ENGINE_GEN_H

#include "engine.h"
#include "jitreg/jitreg.h"

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
	LLVMBasicBlockRef row_block[OPERATORS_MAX]; /* of an operator by id - 1: where it has one row more */
};

/* ---- gen.c: small LLVM parts */
LLVMValueRef gen_number(struct gen *g, int64_t n);
LLVMValueRef gen_address(struct gen *g, const void *p);
/* A pointer to the 8 bytes at base + offset; what lies there. */
LLVMValueRef gen_field(struct gen *g, LLVMValueRef base, size_t offset);
LLVMValueRef gen_load(struct gen *g, LLVMValueRef base, size_t offset, const char *name);
void gen_store(struct gen *g, LLVMValueRef v, LLVMValueRef base, size_t offset);
void gen_add_to(struct gen *g, LLVMValueRef v, LLVMValueRef base, size_t offset);
void gen_count_row(struct gen *g, const struct operator *o);
/* An operation also where both operands are constants, which LLVM's builder would compute by itself. */
LLVMValueRef gen_unfolded(struct gen *g, LLVMOpcode opcode, LLVMValueRef a, LLVMValueRef b);
LLVMValueRef gen_unfolded_comparison(struct gen *g, LLVMIntPredicate predicate, LLVMValueRef a, LLVMValueRef b);
/* What follows runs only if the condition holds, until gen_end_if(). */
LLVMBasicBlockRef gen_begin_if(struct gen *g, LLVMValueRef condition);
void gen_end_if(struct gen *g, LLVMBasicBlockRef after);
/* A call into the runtime on behalf of the task at hand; arguments has room for one more. */
LLVMValueRef gen_call(struct gen *g, const char *name, LLVMTypeRef returns, LLVMValueRef *arguments, unsigned nr);
/* A row of the stack for columns, in the function's entry. */
LLVMValueRef gen_row_buffer(struct gen *g);

/* ---- tasks and functions */
struct task *gen_task(struct gen *g, const struct operator *o, const char *role);
/* What is emitted from here on is the task's; returns the one before, to be given back. */
struct task *gen_enter_task(struct gen *g, struct task *t);
void gen_leave_task(struct gen *g, struct task *before);
/* "pipeline_2"; outlined: "op3_task7_hash_join_probe", what a symbol may hold. */
void gen_function_name(const struct gen *g, const struct task *t, char *name, size_t bytes);
/* From here on code goes into f, whose first parameter is the worker. */
void gen_begin_function(struct gen *g, LLVMValueRef f);
/* A task's code, here or outlined. */
void gen_run_task(struct gen *g, struct operator *o, const struct operator *from, struct task *t,
		  void (*emit)(struct gen *g, struct operator *o, const struct operator *from));

/* ---- produce.c, consume.c */
void produce(struct gen *g, struct operator *o);
void consume(struct gen *g, struct operator *o, const struct operator *from);

/*
 * inline.c: hash tables probed by generated code.  A pointer to the entry, NULL where there is none; to the group, inserted by the
 * runtime where there is none.  arguments: as rt_group_find takes them.
 */
LLVMValueRef inline_join_lookup(struct gen *g, const struct join_table *t, LLVMValueRef hash, LLVMValueRef key);
LLVMValueRef inline_group_find(struct gen *g, const struct group_state *s, LLVMValueRef *arguments);
/* rounds of arithmetic, each waiting for the one before it. */
LLVMValueRef inline_work(struct gen *g, LLVMValueRef x, uint64_t rounds);

#endif
