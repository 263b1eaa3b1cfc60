/* SPDX-License-Identifier: MIT */
/* What operators do with a tuple. */
#include "gen.h"

#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------- expressions */

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
				return gen_unfolded_comparison(g, comparisons[i].predicate, a, b);
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

/* ----------------------------------------------------------------------------------------------------------- consume */

static void consume_build(struct gen *g, struct operator *o)
{
	LLVMValueRef key = g->value[o->key], entry;
	LLVMValueRef arguments[5] = { g->worker, gen_address(g, o->state), hash_of(g, &key, 1), key };
	int *nr = &g->nr_saved[o->id];

	entry = gen_call(g, "rt_join_insert", g->pointer, arguments, 4);
	*nr = 0;
	for (int c = 0; c < NR_COLUMNS; c++)
		if (g->value[c] && g->plan->needs[c] && c != (int)o->key && !o->anti && *nr < VALUES_MAX) {
			gen_store(g, g->value[c], entry, offsetof(struct entry, value) + 8 * (size_t)*nr);
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
	after = gen_begin_if(g, o->anti ? LLVMBuildIsNull(g->builder, entry, "") : LLVMBuildIsNotNull(g->builder, entry, ""));
	if (!o->anti)
		g->value[o->key] = key;
	for (int i = 0; i < g->nr_saved[o->id]; i++)
		g->value[g->saved[o->id][i]] = gen_load(g, entry, offsetof(struct entry, value) + 8 * (size_t)i,
						    column_names[g->saved[o->id][i]]);
	gen_count_row(g, o);
	consume(g, o->parent, o);
	gen_end_if(g, after);
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
	after = gen_begin_if(g, LLVMBuildIsNotNull(g->builder, entry, ""));
	g->value[x_entry] = LLVMBuildPtrToInt(g->builder, entry, g->i64, "");
	gen_run_task(g, o, NULL, gen_task(g, o, "group by"), emit_groupjoin_sums);
	gen_end_if(g, after);
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
		gen_add_to(g, o->sums[v].of ? evaluate(g, o->sums[v].of) : gen_number(g, 1), group,
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

static LLVMValueRef store_row(struct gen *g, const struct operator *o)
{
	LLVMValueRef row = gen_row_buffer(g);

	for (int c = 0; c < o->nr_columns; c++)
		gen_store(g, g->value[o->columns[c]], row, 8 * (size_t)c);
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
		after = gen_begin_if(g, evaluate(g, o->predicate));
		gen_count_row(g, o);
		consume(g, o->parent, o);
		gen_end_if(g, after);
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
			gen_add_to(g, evaluate(g, o->sums[v].of), g->worker, offsetof(struct worker, scalar) + 8 * (size_t)v);
		break;
	case OP_WORK:
		arguments[0] = gen_number(g, (int64_t)o->units);
		arguments[1] = g->value[x_work] ? g->value[x_work] : first_work(g, o);
		arguments[2] = gen_number(g, (int64_t)o->slower);
		g->value[x_work] = o->inlined ? inline_work(g, arguments[1], WORK_ROUNDS * o->units) :
						gen_call(g, "rt_work", g->i64, arguments, 3);
		gen_count_row(g, o);
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
		gen_count_row(g, o);
		break;
	case OP_ITERATE:
		consume_rank(g, o);
		break;
	case OP_SCAN:
	case OP_RANKS:
		break;
	}
}

void consume(struct gen *g, struct operator *o, const struct operator *from)
{
	const char *role = o->kind == OP_JOIN || o->kind == OP_GROUPJOIN ? (from == o->input ? "build" : "probe") :
			   o->kind == OP_GROUP || o->kind == OP_TOP ? "insert" : o->kind == OP_ITERATE ? "update" : "";
	struct task *t = gen_task(g, o, role);

	if (o->kind == OP_GROUP) /* growing the table is a task of its own, under a tag of its own */
		((struct group_state *)o->state)->tag[0] = gen_task(g, o, "growth")->tag;
	gen_run_task(g, o, from, t, emit);
}
