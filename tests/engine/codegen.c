/* SPDX-License-Identifier: MIT */
/*
 * Produce and consume (T. Neumann, Efficiently Compiling Efficient Query Plans for Modern Hardware, VLDB 2011): an operator
 * produces by asking its input to, and consumes a tuple, whose columns are LLVM values, by emitting code into the loop of
 * the pipeline that the tuple comes from.
 *
 * With --outline each task's code goes into a function of its own, called by the one below it; its symbol then names the
 * operator, whatever the dictionary says.
 */
#include "compare.h"
#include "gen.h"
#include "jit.h"
#include "optimize.h"

#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/DebugInfo.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void consume(struct gen *g, struct operator *o, const struct operator *from);

/* ---------------------------------------------------------------------------------------------------- small LLVM parts */

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

static LLVMValueRef unfolded_comparison(struct gen *g, LLVMIntPredicate predicate, LLVMValueRef a, LLVMValueRef b)
{
	LLVMValueRef p;

	if (!LLVMIsConstant(a) || !LLVMIsConstant(b))
		return LLVMBuildICmp(g->builder, predicate, a, b, "");
	p = placeholder(g);
	return settle(LLVMBuildICmp(g->builder, predicate, p, p, ""), p, a, b);
}

static void store(struct gen *g, LLVMValueRef v, LLVMValueRef base, size_t offset)
{
	LLVMBuildStore(g->builder, v, gen_field(g, base, offset));
}

static void add_to(struct gen *g, LLVMValueRef v, LLVMValueRef base, size_t offset)
{
	LLVMValueRef at = gen_field(g, base, offset);

	LLVMBuildStore(g->builder, LLVMBuildAdd(g->builder, LLVMBuildLoad2(g->builder, g->i64, at, ""), v, ""), at);
}

static void count_row(struct gen *g, const struct operator *o)
{
	add_to(g, gen_number(g, 1), g->worker, offsetof(struct worker, rows) + 8 * (o->id - 1));
}

static void add_attribute(struct gen *g, LLVMValueRef function, const char *name)
{
	LLVMAttributeRef a = LLVMCreateEnumAttribute(g->context, LLVMGetEnumAttributeKindForName(name, strlen(name)), 0);

	LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, a);
}

/* ------------------------------------------------------------------------------------------------ calls of the runtime */

static uint64_t tag_of(const struct gen *g, const struct task *t)
{
	return 0x7A600000 | (g->options->pack ? t->pipeline << 10 | t->operator : t->id);
}

/* Every call into the runtime goes through here.  The tag is one more argument, in a register that the runtime's own code
 * does not know of: on x86-64 swiftself is r13, also in the C calling convention. */
LLVMValueRef gen_call(struct gen *g, const char *name, LLVMTypeRef returns, LLVMValueRef *arguments, unsigned nr)
{
	LLVMAttributeRef self = LLVMCreateEnumAttribute(g->context, LLVMGetEnumAttributeKindForName("swiftself", 9), 0);
	LLVMValueRef callee, call, compare_word = NULL, compare_before = NULL;
	bool in_register = g->options->compare == COMPARE_REGISTER;
	LLVMTypeRef types[8], type;

	if (in_register)
		arguments[nr++] = gen_number(g, (int64_t)tag_of(g, g->task));
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
		store(g, gen_number(g, (int64_t)tag_of(g, g->task)), compare_word, 0); /* compare */
	}
	call = LLVMBuildCall2(g->builder, type, callee, arguments, nr, "");
	if (in_register) {
		LLVMAddCallSiteAttribute(call, nr, self);
		LLVMAddAttributeAtIndex(callee, nr, self);
	}
	if (compare_word)
		store(g, compare_before, compare_word, 0);
	return call;
}

/* ---------------------------------------------------------------------------------------------------------------- tasks */

static struct task *new_task(struct gen *g, const struct operator *o, const char *role)
{
	struct task *t = &g->program->tasks[g->program->nr_tasks++];

	if (g->program->nr_tasks == TASKS_MAX)
		abort();
	t->id = g->program->nr_tasks;
	t->operator = o->id;
	t->pipeline = g->pipeline->id;
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

static struct task *enter_task(struct gen *g, struct task *t)
{
	struct task *before = g->task;

	jitreg_tracker_push(&g->tracker, t->id);
	track(g);
	g->task = t;
	return before;
}

static void leave_task(struct gen *g, struct task *before)
{
	jitreg_tracker_pop(&g->tracker);
	track(g);
	g->task = before;
}

/* "op3_task7_hash_join_probe": what a symbol may hold. */
static void function_name(const struct gen *g, const struct task *t, char *name, size_t bytes)
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

/* From here on code goes into f, whose first parameter is the worker. */
static void begin_function(struct gen *g, LLVMValueRef f)
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
	function_name(g, t, name, sizeof(name));
	outlined = LLVMAddFunction(g->module, name, type);
	LLVMBuildCall2(g->builder, type, outlined, arguments, nr, "");
	begin_function(g, outlined);
	before = enter_task(g, t);
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
	leave_task(g, before);
}

/* A task's code, here or outlined. */
static void run_task(struct gen *g, struct operator *o, const struct operator *from, struct task *t,
		     void (*emit)(struct gen *g, struct operator *o, const struct operator *from))
{
	struct task *before;

	if (g->options->outline) {
		consume_outlined(g, o, from, t, emit);
		return;
	}
	before = enter_task(g, t);
	emit(g, o, from);
	leave_task(g, before);
}

/* -------------------------------------------------------------------------------------------------------- expressions */

static LLVMValueRef evaluate(struct gen *g, const struct expression *e)
{
	static const struct {
		enum expression_kind kind;
		LLVMIntPredicate predicate;
	} comparisons[] = { { E_LT, LLVMIntSLT }, { E_LE, LLVMIntSLE }, { E_GE, LLVMIntSGE }, { E_GT, LLVMIntSGT },
			    { E_EQ, LLVMIntEQ }, { E_NE, LLVMIntNE } };
	LLVMValueRef a, b;

	switch (e->kind) {
	case E_COLUMN:
		return g->value[e->value];
	case E_CONSTANT:
		return gen_number(g, e->value);
	case E_TEXT:
		return gen_address(g, e->text);
	default:
		break;
	}
	a = evaluate(g, e->a);
	b = evaluate(g, e->b);
	switch (e->kind) {
	case E_ADD:
		return gen_unfolded(g, LLVMAdd, a, b);
	case E_SUB:
		return gen_unfolded(g, LLVMSub, a, b);
	case E_MUL:
		return gen_unfolded(g, LLVMMul, a, b);
	case E_AND:
		return gen_unfolded(g, LLVMAnd, a, b);
	case E_OR:
		return gen_unfolded(g, LLVMOr, a, b);
	case E_LIKE:
	case E_SAME_TEXT: {
		LLVMValueRef arguments[4] = { LLVMBuildIntToPtr(g->builder, a, g->pointer, ""), b };
		LLVMValueRef same = gen_call(g, e->kind == E_LIKE ? "rt_like" : "rt_same_text", g->i64, arguments, 2);

		return LLVMBuildICmp(g->builder, LLVMIntNE, same, gen_number(g, 0), "");
	}
	default:
		for (size_t i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++)
			if (comparisons[i].kind == e->kind)
				return unfolded_comparison(g, comparisons[i].predicate, a, b);
		abort();
	}
}

/* Murmur-like finish of the keys' mix: inlined, as compiling engines do. */
static LLVMValueRef hash_of(struct gen *g, LLVMValueRef *keys, int nr)
{
	LLVMValueRef h = gen_number(g, 0x2545f4914f6cdd1d);

	for (int i = 0; i < nr; i++) {
		h = LLVMBuildXor(g->builder, h, keys[i], "");
		h = LLVMBuildMul(g->builder, h, gen_number(g, (int64_t)0x9e3779b97f4a7c15ull), "");
		h = LLVMBuildXor(g->builder, h, LLVMBuildLShr(g->builder, h, gen_number(g, 32), ""), "hash");
	}
	return h;
}

/* ----------------------------------------------------------------------------------------------------------- pipelines */

/* Run body only if condition holds. */
static LLVMBasicBlockRef begin_if(struct gen *g, LLVMValueRef condition)
{
	LLVMBasicBlockRef then = LLVMAppendBasicBlockInContext(g->context, g->function, "then");
	LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(g->context, g->function, "after");

	LLVMBuildCondBr(g->builder, condition, then, after);
	LLVMPositionBuilderAtEnd(g->builder, then);
	return after;
}

static void end_if(struct gen *g, LLVMBasicBlockRef after)
{
	LLVMBuildBr(g->builder, after);
	LLVMPositionBuilderAtEnd(g->builder, after);
}

struct loop {
	LLVMBasicBlockRef head, done;
	LLVMValueRef i;
	struct task *before;
};

/* A pipeline of rows; its first task is the loop itself. */
static struct loop begin_pipeline(struct gen *g, const struct operator *o, const char *role, const char *what)
{
	LLVMTypeRef types[] = { g->pointer, g->i64, g->i64 };
	LLVMBasicBlockRef entry, body;
	struct task *t;
	struct loop l;
	char name[128];

	g->pipeline = &g->program->pipelines[g->program->nr_pipelines++];
	if (g->program->nr_pipelines == PIPELINES_MAX)
		abort();
	g->pipeline->id = g->program->nr_pipelines;
	snprintf(g->pipeline->name, sizeof(g->pipeline->name), "pipeline %u: %s", g->pipeline->id, what);
	memset(g->value, 0, sizeof(g->value));
	t = new_task(g, o, role);
	function_name(g, t, name, sizeof(name));
	begin_function(g, LLVMAddFunction(g->module, name, LLVMFunctionType(g->none, types, 3, 0)));
	l.before = enter_task(g, t);
	entry = LLVMGetInsertBlock(g->builder);
	l.head = LLVMAppendBasicBlockInContext(g->context, g->function, "head");
	body = LLVMAppendBasicBlockInContext(g->context, g->function, "body");
	l.done = LLVMAppendBasicBlockInContext(g->context, g->function, "done");
	LLVMBuildBr(g->builder, l.head);
	LLVMPositionBuilderAtEnd(g->builder, l.head);
	l.i = LLVMBuildPhi(g->builder, g->i64, "i");
	LLVMAddIncoming(l.i, (LLVMValueRef[]){ LLVMGetParam(g->function, 1) }, (LLVMBasicBlockRef[]){ entry }, 1);
	LLVMBuildCondBr(g->builder, LLVMBuildICmp(g->builder, LLVMIntSLT, l.i, LLVMGetParam(g->function, 2), ""), body, l.done);
	LLVMPositionBuilderAtEnd(g->builder, body);
	return l;
}

static void end_pipeline(struct gen *g, const struct loop *l)
{
	LLVMValueRef next = LLVMBuildAdd(g->builder, l->i, gen_number(g, 1), "next");

	LLVMAddIncoming(l->i, &next, (LLVMBasicBlockRef[]){ LLVMGetInsertBlock(g->builder) }, 1);
	LLVMBuildBr(g->builder, l->head);
	LLVMPositionBuilderAtEnd(g->builder, l->done);
	LLVMBuildRetVoid(g->builder);
	leave_task(g, l->before);
}

static LLVMValueRef element(struct gen *g, const void *array, LLVMValueRef i, const char *name)
{
	LLVMValueRef base = LLVMBuildBitCast(g->builder, gen_address(g, array), LLVMPointerType(g->i64, 0), "");

	return LLVMBuildLoad2(g->builder, g->i64, LLVMBuildGEP2(g->builder, g->i64, base, &i, 1, ""), name);
}

static void produce_scan(struct gen *g, struct operator *o)
{
	struct loop l = begin_pipeline(g, o, "", o->name);

	g->pipeline->rows = g->data->rows[o->table];
	for (int c = 0; c < NR_STORED; c++)
		if (g->plan->needs[c] && column_tables[c] == o->table)
			g->value[c] = element(g, g->data->column[c], l.i, column_names[c]);
	count_row(g, o);
	consume(g, o->parent, o);
	end_pipeline(g, &l);
}

static void produce_groups(struct gen *g, struct operator *o)
{
	struct group_state *s = o->state;
	struct loop l = begin_pipeline(g, o, "merge", "merge groups");
	LLVMValueRef arguments[4] = { g->worker, gen_address(g, s), l.i }, all, group;

	g->pipeline->merges = o;
	s->tag[1] = tag_of(g, new_task(g, o, "merge growth"));
	gen_call(g, "rt_group_merge", g->none, arguments, 3);
	end_pipeline(g, &l);

	l = begin_pipeline(g, o, "scan", "scan groups");
	g->pipeline->rows_of = o;
	all = LLVMBuildIntToPtr(g->builder, gen_load(g, gen_address(g, s), offsetof(struct group_state, all), ""),
				LLVMPointerType(g->i64, 0), "");
	group = LLVMBuildLoad2(g->builder, g->i64, LLVMBuildGEP2(g->builder, g->i64, all, &l.i, 1, ""), "group");
	group = LLVMBuildIntToPtr(g->builder, group, g->pointer, "");
	for (int k = 0; k < o->nr_keys; k++)
		g->value[o->keys[k]] = gen_load(g, group, offsetof(struct group, key) + 8 * (size_t)k, column_names[o->keys[k]]);
	for (int v = 0; v < o->nr_sums; v++)
		g->value[o->sums[v].as] = gen_load(g, group, offsetof(struct group, value) + 8 * (size_t)v, "sum");
	if (o->average)
		g->value[x_average] = LLVMBuildSDiv(g->builder, g->value[x_sum0], g->value[x_count], "average");
	count_row(g, o);
	consume(g, o->parent, o);
	end_pipeline(g, &l);
}

/* Entries keep the build side's columns, then the sums. */
static void produce_groupjoin(struct gen *g, struct operator *o)
{
	struct loop l = begin_pipeline(g, o, "scan", "scan the groupjoin");
	LLVMValueRef all, entry;
	int nr = g->nr_saved[o->id];

	g->pipeline->rows_of = o;
	all = LLVMBuildIntToPtr(g->builder, gen_load(g, gen_address(g, o->state), offsetof(struct join_table, all), ""),
				LLVMPointerType(g->i64, 0), "");
	entry = LLVMBuildLoad2(g->builder, g->i64, LLVMBuildGEP2(g->builder, g->i64, all, &l.i, 1, ""), "entry");
	entry = LLVMBuildIntToPtr(g->builder, entry, g->pointer, "");
	g->value[o->probe_key] = g->value[o->key] = gen_load(g, entry, offsetof(struct entry, key), column_names[o->key]);
	for (int i = 0; i < nr; i++)
		g->value[g->saved[o->id][i]] = gen_load(g, entry, offsetof(struct entry, value) + 8 * (size_t)i,
						    column_names[g->saved[o->id][i]]);
	for (int v = 0; v < o->nr_sums; v++)
		g->value[o->sums[v].as] = gen_load(g, entry, offsetof(struct entry, value) + 8 * (size_t)(nr + v), "sum");
	count_row(g, o);
	consume(g, o->parent, o);
	end_pipeline(g, &l);
}

static void produce_aggregate(struct gen *g, struct operator *o)
{
	struct loop l = begin_pipeline(g, o, "scan", "scan the aggregate");

	g->pipeline->rows = 1;
	for (int v = 0; v < o->nr_sums; v++)
		g->value[o->sums[v].as] = gen_load(g, gen_address(g, o->state), 8 * (size_t)v, "sum");
	count_row(g, o);
	consume(g, o->parent, o);
	end_pipeline(g, &l);
}

static void produce_top(struct gen *g, struct operator *o)
{
	struct loop l = begin_pipeline(g, o, "scan", "scan the top rows");

	g->pipeline->rows_of = o;
	for (int c = 0; c < o->nr_columns; c++) {
		LLVMValueRef at = LLVMBuildMul(g->builder, l.i, gen_number(g, VALUES_MAX), "");

		at = LLVMBuildAdd(g->builder, at, gen_number(g, c), "");
		g->value[o->columns[c]] = element(g, ((struct top_state *)o->state)->row, at, column_names[o->columns[c]]);
	}
	count_row(g, o);
	consume(g, o->parent, o);
	end_pipeline(g, &l);
}

/* Ranks as rows: those that the iteration begins with, or, in the end, all. */
static void produce_ranks(struct gen *g, struct operator *o, const char *role, const char *what)
{
	struct loop l = begin_pipeline(g, o, role, what);
	LLVMValueRef now = LLVMBuildIntToPtr(g->builder, gen_load(g, gen_address(g, o->state), offsetof(struct ranks, now), ""),
					     LLVMPointerType(g->i64, 0), "");

	g->pipeline->rows = o->units;
	g->value[x_node] = LLVMBuildAdd(g->builder, l.i, gen_number(g, 1), "node");
	g->value[x_rank] = LLVMBuildLoad2(g->builder, g->i64, LLVMBuildGEP2(g->builder, g->i64, now, &l.i, 1, ""), "rank");
	count_row(g, o);
	consume(g, o->parent, o);
	end_pipeline(g, &l);
}

static void produce(struct gen *g, struct operator *o)
{
	if (o->kind == OP_SCAN) {
		produce_scan(g, o);
		return;
	}
	if (o->kind == OP_RANKS) {
		produce_ranks(g, o, "", "scan the ranks");
		return;
	}
	if (o->kind == OP_ITERATE)
		g->program->first_of_iteration = g->program->nr_pipelines;
	produce(g, o->input);
	if (o->probe)
		produce(g, o->probe);
	if (o->kind == OP_GROUP)
		produce_groups(g, o);
	else if (o->kind == OP_GROUPJOIN)
		produce_groupjoin(g, o);
	else if (o->kind == OP_AGGREGATE)
		produce_aggregate(g, o);
	else if (o->kind == OP_TOP)
		produce_top(g, o);
	if (o->kind == OP_ITERATE) {
		g->program->end_of_iteration = g->program->nr_pipelines;
		g->program->iterate = o;
		produce_ranks(g, o, "scan", "scan the fix-point");
	}
}

/* -------------------------------------------------------------------------------------------------------------- consume */

static void consume_build(struct gen *g, struct operator *o)
{
	LLVMValueRef key = g->value[o->key], entry;
	LLVMValueRef arguments[5] = { g->worker, gen_address(g, o->state), hash_of(g, &key, 1), key };
	int *nr = &g->nr_saved[o->id];

	entry = gen_call(g, "rt_join_insert", g->pointer, arguments, 4);
	*nr = 0;
	for (int c = 0; c < NR_COLUMNS; c++)
		if (g->value[c] && g->plan->needs[c] && c != (int)o->key && !o->anti && *nr < VALUES_MAX) {
			store(g, g->value[c], entry, offsetof(struct entry, value) + 8 * (size_t)*nr);
			g->saved[o->id][(*nr)++] = c;
		}
}

static void consume_probe(struct gen *g, struct operator *o)
{
	LLVMValueRef key = g->value[o->probe_key], entry;
	LLVMValueRef arguments[4] = { gen_address(g, o->state), hash_of(g, &key, 1), key };
	LLVMBasicBlockRef after;

	entry = g->options->optimize & OPTIMIZE_INLINE ? inline_join_lookup(g, o->state, arguments[1], key) :
							 gen_call(g, "rt_join_lookup", g->pointer, arguments, 3);
	after = begin_if(g, o->anti ? LLVMBuildIsNull(g->builder, entry, "") : LLVMBuildIsNotNull(g->builder, entry, ""));
	if (!o->anti)
		g->value[o->key] = key;
	for (int i = 0; i < g->nr_saved[o->id]; i++)
		g->value[g->saved[o->id][i]] = gen_load(g, entry, offsetof(struct entry, value) + 8 * (size_t)i,
						    column_names[g->saved[o->id][i]]);
	count_row(g, o);
	consume(g, o->parent, o);
	end_if(g, after);
}

/* The half of a groupjoin that was a group-by: threads share the entries. */
static void emit_groupjoin_sums(struct gen *g, struct operator *o, const struct operator *from)
{
	LLVMValueRef entry = LLVMBuildIntToPtr(g->builder, g->value[x_entry], g->pointer, "");
	size_t at = offsetof(struct entry, value) + 8 * (size_t)g->nr_saved[o->id];

	(void)from;
	for (int v = 0; v < o->nr_sums; v++, at += 8)
		LLVMBuildAtomicRMW(g->builder, LLVMAtomicRMWBinOpAdd, gen_field(g, entry, at),
				   o->sums[v].of ? evaluate(g, o->sums[v].of) : gen_number(g, 1), LLVMAtomicOrderingMonotonic, 0);
}

static void consume_groupjoin(struct gen *g, struct operator *o)
{
	LLVMValueRef key = g->value[o->probe_key], entry;
	LLVMValueRef arguments[4] = { gen_address(g, o->state), hash_of(g, &key, 1), key };
	LLVMBasicBlockRef after;

	if (g->nr_saved[o->id] + o->nr_sums >= VALUES_MAX) /* the last value is rt_groupjoin_find's */
		abort();
	entry = gen_call(g, "rt_groupjoin_find", g->pointer, arguments, 3);
	after = begin_if(g, LLVMBuildIsNotNull(g->builder, entry, ""));
	g->value[x_entry] = LLVMBuildPtrToInt(g->builder, entry, g->i64, "");
	run_task(g, o, NULL, new_task(g, o, "group by"), emit_groupjoin_sums);
	end_if(g, after);
}

static void consume_group(struct gen *g, struct operator *o)
{
	LLVMValueRef keys[KEYS_MAX], arguments[8], group;

	for (int k = 0; k < KEYS_MAX; k++)
		keys[k] = k < o->nr_keys ? g->value[o->keys[k]] : gen_number(g, 0);
	arguments[0] = g->worker;
	arguments[1] = gen_address(g, o->state);
	arguments[2] = hash_of(g, keys, o->nr_keys);
	memcpy(arguments + 3, keys, sizeof(keys));
	group = g->options->optimize & OPTIMIZE_INLINE ? inline_group_find(g, o->state, arguments) :
							 gen_call(g, "rt_group_find", g->pointer, arguments, 7);
	for (int v = 0; v < o->nr_sums; v++)
		add_to(g, o->sums[v].of ? evaluate(g, o->sums[v].of) : gen_number(g, 1), group,
		       offsetof(struct group, value) + 8 * (size_t)v);
}

/* A node's next rank; each node comes at most once. */
static void consume_rank(struct gen *g, struct operator *o)
{
	LLVMValueRef rank = LLVMBuildMul(g->builder, g->value[x_sum0], gen_number(g, 85), ""), at, next;

	rank = LLVMBuildSDiv(g->builder, rank, gen_number(g, 400), "");
	rank = LLVMBuildAdd(g->builder, rank, gen_number(g, RANK_BASE), "rank");
	at = LLVMBuildSub(g->builder, g->value[o->key], gen_number(g, 1), "");
	next = LLVMBuildIntToPtr(g->builder, gen_load(g, gen_address(g, o->state), offsetof(struct ranks, next), ""),
				 LLVMPointerType(g->i64, 0), "");
	LLVMBuildStore(g->builder, rank, LLVMBuildGEP2(g->builder, g->i64, next, &at, 1, ""));
}

/* A row of the stack for columns, in the function's entry. */
static LLVMValueRef row_buffer(struct gen *g)
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

static LLVMValueRef store_row(struct gen *g, const struct operator *o)
{
	LLVMValueRef row = row_buffer(g);

	for (int c = 0; c < o->nr_columns; c++)
		store(g, g->value[o->columns[c]], row, 8 * (size_t)c);
	return row;
}

/* Work in generated code waits for the row before it, else a processor would overlap rows: the sum is never negative, its sign 0. */
static LLVMValueRef first_work(struct gen *g, const struct operator *o)
{
	LLVMValueRef sum;

	if (!o->inlined)
		return g->value[c_custkey];
	sum = gen_load(g, g->worker, offsetof(struct worker, scalar), "");
	return LLVMBuildAdd(g->builder, g->value[c_custkey], LLVMBuildLShr(g->builder, sum, gen_number(g, 63), "sign"), "");
}

static void emit(struct gen *g, struct operator *o, const struct operator *from)
{
	LLVMValueRef arguments[4];
	LLVMBasicBlockRef after;

	switch (o->kind) {
	case OP_SELECT:
		after = begin_if(g, evaluate(g, o->predicate));
		count_row(g, o);
		consume(g, o->parent, o);
		end_if(g, after);
		break;
	case OP_JOIN:
		if (from == o->input)
			consume_build(g, o);
		else
			consume_probe(g, o);
		break;
	case OP_GROUPJOIN:
		if (from == o->input)
			consume_build(g, o);
		else
			consume_groupjoin(g, o);
		break;
	case OP_GROUP:
		consume_group(g, o);
		break;
	case OP_AGGREGATE:
		for (int v = 0; v < o->nr_sums; v++)
			add_to(g, evaluate(g, o->sums[v].of), g->worker, offsetof(struct worker, scalar) + 8 * (size_t)v);
		break;
	case OP_WORK:
		arguments[0] = gen_number(g, (int64_t)o->units);
		arguments[1] = g->value[x_work] ? g->value[x_work] : first_work(g, o);
		g->value[x_work] = o->inlined ? inline_work(g, arguments[1], WORK_ROUNDS * o->units) :
						gen_call(g, "rt_work", g->i64, arguments, 2);
		count_row(g, o);
		consume(g, o->parent, o);
		break;
	case OP_TOP:
		arguments[0] = gen_address(g, o->state);
		arguments[1] = store_row(g, o);
		gen_call(g, "rt_top_insert", g->none, arguments, 2);
		break;
	case OP_OUTPUT:
		arguments[0] = g->worker;
		arguments[1] = store_row(g, o);
		arguments[2] = gen_number(g, o->nr_columns);
		gen_call(g, "rt_emit", g->none, arguments, 3);
		count_row(g, o);
		break;
	case OP_ITERATE:
		consume_rank(g, o);
		break;
	case OP_SCAN:
	case OP_RANKS:
		break;
	}
}

static void consume(struct gen *g, struct operator *o, const struct operator *from)
{
	const char *role = o->kind == OP_JOIN || o->kind == OP_GROUPJOIN ? (from == o->input ? "build" : "probe") :
			   o->kind == OP_GROUP || o->kind == OP_TOP ? "insert" : o->kind == OP_ITERATE ? "update" : "";
	struct task *t = new_task(g, o, role);

	if (o->kind == OP_GROUP) /* growing the table is a task of its own, under a tag of its own */
		((struct group_state *)o->state)->tag[0] = tag_of(g, new_task(g, o, "growth"));
	run_task(g, o, from, t, emit);
}

/* ------------------------------------------------------------------------------------------------------------- the whole */

static void make_states(struct plan *p, const struct options *options)
{
	struct ranks *ranks = calloc(1, sizeof(*ranks)); /* shared by who reads and who writes them */

	for (uint32_t i = 0; i < p->nr_operators; i++) {
		struct operator *o = p->operators[i];
		struct group_state *s;
		struct top_state *t;

		switch (o->kind) {
		case OP_JOIN:
		case OP_GROUPJOIN:
			o->state = calloc(1, sizeof(struct join_table));
			break;
		case OP_GROUP:
			s = o->state = calloc(1, sizeof(*s));
			s->nr_keys = o->nr_keys;
			s->nr_values = o->nr_sums;
			s->nr_threads = options->nr_threads;
			break;
		case OP_AGGREGATE:
			o->state = calloc(VALUES_MAX, sizeof(int64_t));
			break;
		case OP_RANKS:
		case OP_ITERATE:
			o->state = ranks;
			ranks->nr = o->units;
			break;
		case OP_TOP:
			t = o->state = calloc(1, sizeof(*t));
			t->nr_max = o->units;
			t->nr_columns = o->nr_columns;
			break;
		default:
			break;
		}
	}
}

/* The module as people read it, without what debug information adds. */
static char *print_module(LLVMModuleRef m)
{
	LLVMModuleRef clean = LLVMCloneModule(m);
	char *text;

	LLVMStripModuleDebugInfo(clean);
	text = LLVMPrintModuleToString(clean);
	LLVMDisposeModule(clean);
	return text;
}

/* The next line of a function's body that is an instruction: they are indented, labels are not. */
static const char *next_instruction(const char *at, uint32_t *line, bool *inside)
{
	for (; *at; at = strchrnul(at, '\n') + (*strchrnul(at, '\n') != 0)) {
		++*line;
		if (strncmp(at, "define", 6) == 0)
			*inside = true;
		else if (*at == '}')
			*inside = false;
		else if (*inside && strncmp(at, "  ", 2) == 0)
			return strchrnul(at, '\n') + 1;
	}
	return at;
}

/*
 * Print the module, then give each instruction its own line in that text as debug location.  The optimizer comes later and
 * carries the locations along.
 */
static void number_instructions(struct gen *g, struct optimizer *optimizer)
{
	const char *at = g->program->ir = print_module(g->module);
	uint32_t line = 0;
	bool inside = false;

	for (LLVMValueRef f = LLVMGetFirstFunction(g->module); f; f = LLVMGetNextFunction(f))
		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(f); b; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i)) {
				LLVMMetadataRef task = LLVMInstructionGetDebugLoc(i);

				at = next_instruction(at, &line, &inside);
				jitreg_link(IR, line, TASK, LLVMDILocationGetLine(task), 1);
				optimizer_owner(optimizer, line, LLVMDILocationGetLine(task));
				LLVMInstructionSetDebugLoc(i, debug_info_location(g->debug, line, LLVMGetSubprogram(f)));
			}
}

void codegen_announce_plan(const struct plan *p, const struct options *options)
{
	struct jitreg_range kept = { (uintptr_t)__start_runtime_text, (uintptr_t)__stop_runtime_text };
	struct jitreg_tag_field task[] = { { TASK, 0, 20 } }, packed[] = { { OPERATOR, 0, 10 }, { PIPELINE, 10, 10 } };

	jitreg_level(OPERATOR, "operator", 0, JITREG_LEVEL_PLAN);
	jitreg_level(PIPELINE, "pipeline", 0, 0);
	jitreg_level(TASK, "task", OPERATOR, 0);
	jitreg_level(IR, "ir", TASK, 0);
	jitreg_source(p->name, p->sql, 0, 0, JITREG_SOURCE_QUERY);
	for (uint32_t i = 0; i < p->nr_operators; i++) {
		const struct operator *o = p->operators[i];

		jitreg_component(OPERATOR, o->id, o->name, o->detail, 0);
		jitreg_counter(OPERATOR, o->id, "estimated rows", (int64_t)o->estimated_rows);
		if (o->parent)
			jitreg_edge(OPERATOR, o->id, o->parent->id, o->parent->probe == o, "rows");
	}
	if (options->compare == COMPARE_REGISTER)
		jitreg_tag(13, 0, 0xfff00000, 0x7A600000, options->pack ? packed : task, options->pack ? 2 : 1, &kept, 1);
	if (options->compare == COMPARE_MEMORY)
		compare_declare_word(options->pack ? packed : task, options->pack ? 2 : 1);
}

static bool verified(const struct gen *g)
{
	char *message = NULL;
	bool ok = !LLVMVerifyModule(g->module, LLVMReturnStatusAction, &message);

	if (!ok)
		fprintf(stderr, "engine: LLVM refuses the generated code: %s\n", message);
	LLVMDisposeMessage(message);
	return ok;
}

int codegen(struct plan *plan, const struct data *d, const struct options *o, struct program *out)
{
	struct gen g = { .plan = plan, .data = d, .options = o, .program = out };
	struct optimizer *optimizer;
	char file_name[64];

	snprintf(file_name, sizeof(file_name), "%s.ll", plan->name);
	g.context = jit_context();
	g.module = LLVMModuleCreateWithNameInContext(file_name, g.context);
	g.builder = LLVMCreateBuilderInContext(g.context);
	g.i64 = LLVMInt64TypeInContext(g.context);
	g.pointer = LLVMPointerType(LLVMInt8TypeInContext(g.context), 0);
	g.none = LLVMVoidTypeInContext(g.context);
	g.debug = debug_info_begin(g.module, file_name);
	g.tracker = (struct jitreg_tracker){ .lower_level = IR, .upper_level = TASK };
	codegen_announce_plan(plan, o);
	make_states(plan, o);
	produce(&g, plan->root);
	LLVMDisposeBuilder(g.builder);
	debug_info_complete(g.debug);
	if (!verified(&g))
		return -1;
	optimizer = optimizer_create(g.module, g.debug, o->optimize);
	number_instructions(&g, optimizer);
	if (optimizer_run(optimizer, out->ir)) {
		if (!verified(&g))
			return -1;
		out->ir = optimizer_text(optimizer, out->ir);
		out->optimized = print_module(g.module);
	}
	optimizer_end(optimizer);
	out->optimizer = optimizer; /* replay */
	jitreg_source(file_name, out->ir, IR, 0, 0);
	debug_info_end(g.debug);
	return jit_compile(g.module, out, o);
}
