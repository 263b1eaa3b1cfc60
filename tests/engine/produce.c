/* SPDX-License-Identifier: MIT */
/* Where pipelines begin: loops over the rows of a table, or of what the pipelines before left. */
#include "gen.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
	t = gen_task(g, o, role);
	gen_function_name(g, t, name, sizeof(name));
	gen_begin_function(g, LLVMAddFunction(g->module, name, LLVMFunctionType(g->none, types, 3, 0)));
	l.before = gen_enter_task(g, t);
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
	gen_leave_task(g, l->before);
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
	gen_count_row(g, o);
	consume(g, o->parent, o);
	end_pipeline(g, &l);
}

static void produce_groups(struct gen *g, struct operator *o)
{
	struct group_state *s = o->state;
	struct loop l = begin_pipeline(g, o, "merge", "merge groups");
	LLVMValueRef arguments[4] = { g->worker, gen_address(g, s), l.i }, all, group;

	g->pipeline->merges = o;
	s->tag[1] = gen_task(g, o, "merge growth")->tag;
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
	gen_count_row(g, o);
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
	gen_count_row(g, o);
	consume(g, o->parent, o);
	end_pipeline(g, &l);
}

static void produce_aggregate(struct gen *g, struct operator *o)
{
	struct loop l = begin_pipeline(g, o, "scan", "scan the aggregate");

	g->pipeline->rows = 1;
	for (int v = 0; v < o->nr_sums; v++)
		g->value[o->sums[v].as] = gen_load(g, gen_address(g, o->state), 8 * (size_t)v, "sum");
	gen_count_row(g, o);
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
	gen_count_row(g, o);
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
	gen_count_row(g, o);
	consume(g, o->parent, o);
	end_pipeline(g, &l);
}

void produce(struct gen *g, struct operator *o)
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
