/* SPDX-License-Identifier: MIT */
/*
 * With --outline each task's code goes into a function of its own, called by the one below it; its symbol then names the
 * operator, whatever the dictionary says.
 */
#include "gen.h"

#include "compare.h"
#include "jit.h"

#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------- small LLVM parts */

LLVMValueRef gen_number(struct gen *g, int64_t n)
{
	return LLVMConstInt(g->i64, (uint64_t)n, 1);
}

LLVMValueRef gen_address(struct gen *g, const void *p)
{
	return LLVMConstIntToPtr(gen_number(g, (int64_t)(intptr_t)p), g->pointer);
}

LLVMValueRef gen_field(struct gen *g, LLVMValueRef base, size_t offset)
{
	LLVMValueRef at = gen_number(g, (int64_t)offset);
	LLVMValueRef p = LLVMBuildGEP2(g->builder, LLVMInt8TypeInContext(g->context), base, &at, 1, "");

	return LLVMBuildBitCast(g->builder, p, LLVMPointerType(g->i64, 0), "");
}

LLVMValueRef gen_load(struct gen *g, LLVMValueRef base, size_t offset, const char *name)
{
	return LLVMBuildLoad2(g->builder, g->i64, gen_field(g, base, offset), name);
}

/* What an instruction is built of until it has its operands. */
static LLVMValueRef placeholder(struct gen *g)
{
	return LLVMBuildPtrToInt(g->builder, g->worker, g->i64, "");
}

static LLVMValueRef settle(LLVMValueRef instruction, LLVMValueRef placeholder, LLVMValueRef a, LLVMValueRef b)
{
	LLVMSetOperand(instruction, 0, a);
	LLVMSetOperand(instruction, 1, b);
	LLVMInstructionEraseFromParent(placeholder);
	return instruction;
}

LLVMValueRef gen_unfolded(struct gen *g, LLVMOpcode opcode, LLVMValueRef a, LLVMValueRef b)
{
	LLVMValueRef p;

	if (!LLVMIsConstant(a) || !LLVMIsConstant(b) || LLVMTypeOf(a) != g->i64)
		return LLVMBuildBinOp(g->builder, opcode, a, b, "");
	p = placeholder(g);
	return settle(LLVMBuildBinOp(g->builder, opcode, p, p, ""), p, a, b);
}

LLVMValueRef gen_unfolded_comparison(struct gen *g, LLVMIntPredicate predicate, LLVMValueRef a, LLVMValueRef b)
{
	LLVMValueRef p;

	if (!LLVMIsConstant(a) || !LLVMIsConstant(b))
		return LLVMBuildICmp(g->builder, predicate, a, b, "");
	p = placeholder(g);
	return settle(LLVMBuildICmp(g->builder, predicate, p, p, ""), p, a, b);
}

void gen_store(struct gen *g, LLVMValueRef v, LLVMValueRef base, size_t offset)
{
	LLVMBuildStore(g->builder, v, gen_field(g, base, offset));
}

void gen_add_to(struct gen *g, LLVMValueRef v, LLVMValueRef base, size_t offset)
{
	LLVMValueRef at = gen_field(g, base, offset);

	LLVMBuildStore(g->builder, LLVMBuildAdd(g->builder, LLVMBuildLoad2(g->builder, g->i64, at, ""), v, ""), at);
}

void gen_count_row(struct gen *g, const struct operator *o)
{
	gen_add_to(g, gen_number(g, 1), g->worker, offsetof(struct worker, rows) + 8 * (o->id - 1));
	g->row_block[o->id - 1] = LLVMGetInsertBlock(g->builder);
}

static void add_attribute(struct gen *g, LLVMValueRef function, const char *name)
{
	LLVMAttributeRef a = LLVMCreateEnumAttribute(g->context, LLVMGetEnumAttributeKindForName(name, strlen(name)), 0);

	LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, a);
}

/* Run body only if condition holds. */
LLVMBasicBlockRef gen_begin_if(struct gen *g, LLVMValueRef condition)
{
	LLVMBasicBlockRef then = LLVMAppendBasicBlockInContext(g->context, g->function, "then");
	LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(g->context, g->function, "after");

	LLVMBuildCondBr(g->builder, condition, then, after);
	LLVMPositionBuilderAtEnd(g->builder, then);
	return after;
}

void gen_end_if(struct gen *g, LLVMBasicBlockRef after)
{
	LLVMBuildBr(g->builder, after);
	LLVMPositionBuilderAtEnd(g->builder, after);
}

/* ---------------------------------------------------------------------------------------------- calls of the runtime */

/* Every call into the runtime goes through here.  The tag is one more argument, in a register that the runtime's own code
 * does not know of: on x86-64 swiftself is r13, also in the C calling convention. */
LLVMValueRef gen_call(struct gen *g, const char *name, LLVMTypeRef returns, LLVMValueRef *arguments, unsigned nr)
{
	LLVMAttributeRef self = LLVMCreateEnumAttribute(g->context, LLVMGetEnumAttributeKindForName("swiftself", 9), 0);
	LLVMValueRef callee, call, compare_word = NULL, compare_before = NULL;
	bool in_register = g->options->compare == COMPARE_REGISTER;
	LLVMTypeRef types[8], type;

	if (in_register)
		arguments[nr++] = gen_number(g, (int64_t)g->task->tag);
	for (unsigned i = 0; i < nr; i++)
		types[i] = LLVMTypeOf(arguments[i]);
	type = LLVMFunctionType(returns, types, nr, 0);
	callee = LLVMGetNamedFunction(g->module, name);
	if (!callee)
		callee = LLVMAddFunction(g->module, name, type);
	if (g->options->compare == COMPARE_MEMORY) {
		compare_word = gen_load(g, g->worker, offsetof(struct worker, compare_word), "");
		compare_word = LLVMBuildIntToPtr(g->builder, compare_word, g->pointer, "");
		compare_before = gen_load(g, compare_word, 0, "");
		gen_store(g, gen_number(g, (int64_t)g->task->tag), compare_word, 0); /* compare */
	}
	call = LLVMBuildCall2(g->builder, type, callee, arguments, nr, "");
	if (in_register) {
		LLVMAddCallSiteAttribute(call, nr, self);
		LLVMAddAttributeAtIndex(callee, nr, self);
	}
	if (compare_word)
		gen_store(g, compare_before, compare_word, 0);
	return call;
}

/* ------------------------------------------------------------------------------------------------------------- tasks */

struct task *gen_task(struct gen *g, const struct operator *o, const char *role)
{
	struct task *t = &g->program->tasks[g->program->nr_tasks++];

	if (g->program->nr_tasks == TASKS_MAX)
		abort();
	t->id = g->program->nr_tasks;
	t->operator = o->id;
	t->pipeline = g->pipeline->id;
	t->tag = 0x7A600000 | (g->options->pack ? t->pipeline << 10 | t->operator : t->id);
	snprintf(t->name, sizeof(t->name), "%s%s%s", o->name, *role ? " " : "", role);
	jitreg_component(PIPELINE, t->pipeline, g->pipeline->name, "", 0);
	jitreg_component(TASK, t->id, t->name, "", 0);
	jitreg_link(TASK, t->id, OPERATOR, t->operator, 1);
	jitreg_link(TASK, t->id, PIPELINE, t->pipeline, 1);
	return t;
}

/* Whoever is at the tracker's top owns what is emitted now: until instructions have lines, their debug location carries it
 * (LLVM gives the builder's current one to each). */
static void track(struct gen *g)
{
	uint64_t top = jitreg_tracker_top(&g->tracker);

	LLVMSetCurrentDebugLocation2(g->builder, top ? debug_info_location(g->debug, (unsigned)top, g->scope) : NULL);
}

struct task *gen_enter_task(struct gen *g, struct task *t)
{
	struct task *before = g->task;

	jitreg_tracker_push(&g->tracker, t->id);
	track(g);
	g->task = t;
	return before;
}

void gen_leave_task(struct gen *g, struct task *before)
{
	jitreg_tracker_pop(&g->tracker);
	track(g);
	g->task = before;
}

/* "op3_task7_hash_join_probe": what a symbol may hold. */
void gen_function_name(const struct gen *g, const struct task *t, char *name, size_t bytes)
{
	if (!g->options->outline) {
		snprintf(name, bytes, "pipeline_%u", g->pipeline->id);
		return;
	}
	snprintf(name, bytes, "op%u_task%u_%s", t->operator, t->id, t->name);
	for (char *c = name; *c; c++)
		if (*c == ' ')
			*c = '_';
}

void gen_begin_function(struct gen *g, LLVMValueRef f)
{
	add_attribute(g, f, "uwtable"); /* call-frame information for every instruction */
	add_attribute(g, f, "noinline");
	LLVMPositionBuilderAtEnd(g->builder, LLVMAppendBasicBlockInContext(g->context, f, "entry"));
	g->function = f;
	g->scope = debug_info_function(g->debug, f);
	g->worker = LLVMGetParam(f, 0);
}

/* consume() by a function of its own: the tuple's values are its arguments. */
static void consume_outlined(struct gen *g, struct operator *o, const struct operator *from, struct task *t,
			     void (*emit)(struct gen *g, struct operator *o, const struct operator *from))
{
	LLVMValueRef arguments[NR_COLUMNS + 1], function = g->function, worker = g->worker, outlined;
	LLVMBasicBlockRef here = LLVMGetInsertBlock(g->builder);
	LLVMMetadataRef scope = g->scope;
	LLVMValueRef values[NR_COLUMNS];
	LLVMTypeRef types[NR_COLUMNS + 1], type;
	struct task *before;
	unsigned nr = 1;
	char name[128];

	arguments[0] = g->worker;
	types[0] = g->pointer;
	memcpy(values, g->value, sizeof(values));
	for (int c = 0; c < NR_COLUMNS; c++)
		if (values[c]) {
			arguments[nr] = values[c];
			types[nr++] = g->i64;
		}
	type = LLVMFunctionType(g->none, types, nr, 0);
	gen_function_name(g, t, name, sizeof(name));
	outlined = LLVMAddFunction(g->module, name, type);
	LLVMBuildCall2(g->builder, type, outlined, arguments, nr, "");
	gen_begin_function(g, outlined);
	before = gen_enter_task(g, t);
	nr = 1;
	for (int c = 0; c < NR_COLUMNS; c++)
		if (values[c])
			g->value[c] = LLVMGetParam(outlined, nr++);
	emit(g, o, from);
	LLVMBuildRetVoid(g->builder);
	memcpy(g->value, values, sizeof(values));
	g->function = function;
	g->scope = scope;
	g->worker = worker;
	LLVMPositionBuilderAtEnd(g->builder, here);
	gen_leave_task(g, before);
}

void gen_run_task(struct gen *g, struct operator *o, const struct operator *from, struct task *t,
		     void (*emit)(struct gen *g, struct operator *o, const struct operator *from))
{
	struct task *before;

	if (g->options->outline) {
		consume_outlined(g, o, from, t, emit);
		return;
	}
	before = gen_enter_task(g, t);
	emit(g, o, from);
	gen_leave_task(g, before);
}

LLVMValueRef gen_row_buffer(struct gen *g)
{
	LLVMBasicBlockRef here = LLVMGetInsertBlock(g->builder), entry = LLVMGetEntryBasicBlock(g->function);
	LLVMValueRef p;

	LLVMPositionBuilder(g->builder, entry, LLVMGetFirstInstruction(entry));
	p = LLVMBuildAlloca(g->builder, LLVMArrayType(g->i64, VALUES_MAX), "row");
	p = LLVMBuildBitCast(g->builder, p, g->pointer, "");
	LLVMPositionBuilderAtEnd(g->builder, here);
	track(g); /* positioned before an instruction, a builder takes over its location */
	return p;
}
