/* SPDX-License-Identifier: MIT */
/*
 * A query compiler on libgccjit: libgccjit ROUNDS.  Statements get locations in a listing, whose lines are components.  What operators
 * share is a function of the runtime; generated code sets the operator's number in a thread-local word around the call.  Built with
 * -rdynamic, so that generated code finds both.
 */
#define _GNU_SOURCE
#include "jitreg.h" /* jitreg */

#include "work.h"

#include <libgccjit.h>
#include <stdlib.h>
#include <string.h>

uint64_t runtime_mix(uint64_t x, uint64_t turns)
{
	while (turns--)
		x = turn(x);
	return x;
}

enum { OPERATOR = 1, LINE = 2 };                                        /* jitreg */
#define TAG (0x7a11ull << 48)                                           /* jitreg */
#define TAG_CHECK (0xffffull << 48)                                     /* jitreg */
__thread uint64_t tag JITREG_STATIC_TLS;                                /* jitreg */
static struct jitreg_tracker tracker = { LINE, OPERATOR, 0, 0, { 0 } }; /* jitreg */
static char listing[65536];                                             /* jitreg */
static int nr_lines;                                                    /* jitreg */

static gcc_jit_context *context;
static gcc_jit_type *u64;
static gcc_jit_function *query;
static gcc_jit_block *block;

/* Where a statement is: on a new line of the listing, which is the operator's that is being translated. */
static gcc_jit_location *at(const char *statement)
{
	strcat(strcat(listing, statement), "\n");                                /* jitreg */
	jitreg_tracker_link(&tracker, (uint64_t)++nr_lines);                     /* jitreg */
	return gcc_jit_context_new_location(context, "query.plan", nr_lines, 1); /* jitreg, else: (void)statement; return NULL; */
}

static gcc_jit_rvalue *number(uint64_t n)
{
	return gcc_jit_context_new_rvalue_from_long(context, u64, (long)n);
}

static gcc_jit_rvalue *binary(enum gcc_jit_binary_op op, gcc_jit_rvalue *a, gcc_jit_rvalue *b)
{
	return gcc_jit_context_new_binary_op(context, NULL, op, u64, a, b);
}

/* i = 1; do { ... } while (++i <= times): begins it, and ends it. */
static gcc_jit_block *loop_begin(gcc_jit_lvalue *i)
{
	gcc_jit_block *body = gcc_jit_function_new_block(query, NULL);

	gcc_jit_block_add_assignment(block, at("i = 1"), i, number(1));
	gcc_jit_block_end_with_jump(block, NULL, body);
	block = body;
	return body;
}

static void loop_end(gcc_jit_block *body, gcc_jit_lvalue *i, gcc_jit_rvalue *times)
{
	gcc_jit_block *behind = gcc_jit_function_new_block(query, NULL);
	gcc_jit_location *here = at("while (++i <= times)");

	gcc_jit_block_add_assignment_op(block, here, i, GCC_JIT_BINARY_OP_PLUS, number(1));
	gcc_jit_block_end_with_conditional(block, here,
					   gcc_jit_context_new_comparison(context, here, GCC_JIT_COMPARISON_LE,
									  gcc_jit_lvalue_as_rvalue(i), times),
					   body, behind);
	block = behind;
}

static void generate(void)
{
	gcc_jit_param *param = gcc_jit_context_new_param(context, NULL, u64, "x");
	gcc_jit_param *of_mix[2] = { gcc_jit_context_new_param(context, NULL, u64, "x"),
				     gcc_jit_context_new_param(context, NULL, u64, "turns") };
	gcc_jit_function *mix = gcc_jit_context_new_function(context, NULL, GCC_JIT_FUNCTION_IMPORTED, u64, "runtime_mix", 2, of_mix, 0);
	gcc_jit_lvalue *x = gcc_jit_param_as_lvalue(param), *row, *i;
	gcc_jit_lvalue *word = gcc_jit_context_new_global(context, NULL, GCC_JIT_GLOBAL_IMPORTED, u64, "tag"); /* jitreg */
	gcc_jit_rvalue *value = gcc_jit_lvalue_as_rvalue(x), *arguments[2] = { value, NULL };
	gcc_jit_block *rows, *turns;

	gcc_jit_lvalue_set_tls_model(word, GCC_JIT_TLS_MODEL_INITIAL_EXEC); /* jitreg */
	query = gcc_jit_context_new_function(context, NULL, GCC_JIT_FUNCTION_EXPORTED, u64, "query", 1, &param, 0);
	row = gcc_jit_function_new_local(query, NULL, u64, "row");
	i = gcc_jit_function_new_local(query, NULL, u64, "i");
	block = gcc_jit_function_new_block(query, NULL);
	jitreg_tracker_push(&tracker, SCAN); /* jitreg */
	rows = loop_begin(row);
	for (uint64_t o = SCAN; o < NR_OPERATORS; o++) {
		jitreg_tracker_push(&tracker, o); /* jitreg */
		arguments[1] = binary(GCC_JIT_BINARY_OP_MULT, gcc_jit_lvalue_as_rvalue(row), number(operator_work[o] * TURNS));
		turns = loop_begin(i);
		gcc_jit_block_add_assignment(block, at("x = (x ^ x >> 29) * multiplier"), x,
					     binary(GCC_JIT_BINARY_OP_MULT,
						    binary(GCC_JIT_BINARY_OP_BITWISE_XOR, value,
							   binary(GCC_JIT_BINARY_OP_RSHIFT, value, number(SHIFT))),
						    number(MULTIPLIER)));
		loop_end(turns, i, arguments[1]);
		gcc_jit_block_add_assignment(block, at("tag = ..."), word, number(TAG | o)); /* jitreg */
		gcc_jit_block_add_assignment(block, at("x = runtime_mix(x, turns)"), x,
					     gcc_jit_context_new_call(context, NULL, mix, 2, arguments));
		gcc_jit_block_add_assignment(block, at("tag = 0"), word, number(0)); /* jitreg */
		jitreg_tracker_pop(&tracker);                                        /* jitreg */
	}
	loop_end(rows, row, number(ROWS));
	jitreg_tracker_pop(&tracker); /* jitreg */
	gcc_jit_block_end_with_return(block, at("return x"), value);
	jitreg_source_text("query.plan", listing, strlen(listing), LINE, 1, 0); /* jitreg */
}

static void announce(void)                                         /* jitreg */
{                                                                  /* jitreg */
	const struct jitreg_tag_field field = { OPERATOR, 0, 20 }; /* jitreg */

	jitreg_level(OPERATOR, "operator", 0, JITREG_LEVEL_PLAN);       /* jitreg */
	jitreg_level(LINE, "line", OPERATOR, 0);                        /* jitreg */
	for (uint64_t o = SCAN; o < NR_OPERATORS; o++) {                /* jitreg */
		jitreg_component(OPERATOR, o, operator_name[o], "", 0); /* jitreg */
		jitreg_counter(OPERATOR, o, "rows", ROWS);              /* jitreg */
		if (o > SCAN)                                           /* jitreg */
			jitreg_edge(OPERATOR, o - 1, o, 0, "rows");     /* jitreg */
	}                                                               /* jitreg */
	jitreg_tag_in_word(&tag, TAG_CHECK, TAG, &field, 1);            /* jitreg */
}                                                                       /* jitreg */

int main(int argc, char **argv)
{
	uint64_t (*code)(uint64_t), result = 0;
	gcc_jit_result *compiled;
	void *symbol;

	context = gcc_jit_context_acquire();
	u64 = gcc_jit_context_get_type(context, GCC_JIT_TYPE_UINT64_T);
	gcc_jit_context_set_int_option(context, GCC_JIT_INT_OPTION_OPTIMIZATION_LEVEL, 2);
	gcc_jit_context_set_bool_option(context, GCC_JIT_BOOL_OPTION_DEBUGINFO, 1);                       /* jitreg */
	announce();                                                                                       /* jitreg */
	uint64_t mark = jitreg_mark_begin(JITREG_COVERS_PROCESS, "compile", jitreg_at(0, 0), 0, 0, NULL); /* jitreg */
	generate();
	compiled = gcc_jit_context_compile(context);
	symbol = compiled ? gcc_jit_result_get_code(compiled, "query") : NULL;
	if (!symbol)
		return 1;
	memcpy(&code, &symbol, sizeof(code));
	jitreg_mark_end(mark, strlen(listing)); /* jitreg */
	for (long round = 0; round < (argc > 1 ? atol(argv[1]) : 1); round++) {
		mark = jitreg_mark_begin(JITREG_COVERS_PROCESS, "run", jitreg_at(0, 0), (uint64_t)round, 0, NULL); /* jitreg */
		result = code(1);
		jitreg_mark_end(mark, ROWS); /* jitreg */
	}
	gcc_jit_result_release(compiled);
	gcc_jit_context_release(context);
	return finish(result, query_in_c(1));
}
