/* SPDX-License-Identifier: MIT */
/* libgccjit: gccjit SECONDS ROUNDS_FILE.  A function with a loop, and a location for each statement in query.sql. */
#include <libgccjit.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef long (*total_function)(long);

/* long total(long n) { long s = 0; for (long i = 0; i < n; i++) s = s * 31 + i; return s; } */
static total_function compile(void)
{
	gcc_jit_context *c = gcc_jit_context_acquire();
	gcc_jit_type *type = gcc_jit_context_get_type(c, GCC_JIT_TYPE_LONG);
	gcc_jit_location *at[4];
	gcc_jit_param *n;
	gcc_jit_function *f;
	gcc_jit_lvalue *s, *i;
	gcc_jit_block *begin, *test, *body, *end;

	for (int l = 0; l < 4; l++)
		at[l] = gcc_jit_context_new_location(c, "query.sql", 7 + l, 1);
	gcc_jit_context_set_bool_option(c, GCC_JIT_BOOL_OPTION_DEBUGINFO, getenv("GCCJIT_DEBUG") != NULL);
	gcc_jit_context_set_int_option(c, GCC_JIT_INT_OPTION_OPTIMIZATION_LEVEL, 2);
	n = gcc_jit_context_new_param(c, at[0], type, "n");
	f = gcc_jit_context_new_function(c, at[0], GCC_JIT_FUNCTION_EXPORTED, type, "total", 1, &n, 0);
	s = gcc_jit_function_new_local(f, at[0], type, "s");
	i = gcc_jit_function_new_local(f, at[0], type, "i");
	begin = gcc_jit_function_new_block(f, "begin");
	test = gcc_jit_function_new_block(f, "test");
	body = gcc_jit_function_new_block(f, "body");
	end = gcc_jit_function_new_block(f, "end");
	gcc_jit_block_add_assignment(begin, at[0], s, gcc_jit_context_zero(c, type));
	gcc_jit_block_add_assignment(begin, at[0], i, gcc_jit_context_zero(c, type));
	gcc_jit_block_end_with_jump(begin, at[0], test);
	gcc_jit_block_end_with_conditional(test, at[1],
		gcc_jit_context_new_comparison(c, at[1], GCC_JIT_COMPARISON_LT, gcc_jit_lvalue_as_rvalue(i),
					       gcc_jit_param_as_rvalue(n)), body, end);
	gcc_jit_block_add_assignment_op(body, at[2], s, GCC_JIT_BINARY_OP_MULT, gcc_jit_context_new_rvalue_from_int(c, type, 31));
	gcc_jit_block_add_assignment_op(body, at[2], s, GCC_JIT_BINARY_OP_PLUS, gcc_jit_lvalue_as_rvalue(i));
	gcc_jit_block_add_assignment_op(body, at[3], i, GCC_JIT_BINARY_OP_PLUS, gcc_jit_context_one(c, type));
	gcc_jit_block_end_with_jump(body, at[3], test);
	gcc_jit_block_end_with_return(end, at[3], gcc_jit_lvalue_as_rvalue(s));
	return (total_function)gcc_jit_result_get_code(gcc_jit_context_compile(c), "total");
}

int main(int argc, char **argv)
{
	total_function total = compile();
	long rounds = 0, result = 0;
	time_t end;
	FILE *f;

	if (argc < 3 || !total)
		return 1;
	end = time(NULL) + atoi(argv[1]) + 1;
	while (time(NULL) < end) {
		result = total(1000000);
		rounds++;
	}
	printf("result %ld\n", result);
	f = fopen(argv[2], "w");
	fprintf(f, "%ld\n", rounds);
	return fclose(f);
}
