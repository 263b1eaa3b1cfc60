/* SPDX-License-Identifier: MIT */
/*
 * The flow of a program's functions and what its counters say, as equations (O. Waddell and J. Ashley, Visualizing the performance of
 * higher-order programs, PASTE 1998, section 4; within functions D. Knuth and F. Stevenson, BIT 13, 1973): in and out of each block, from
 * call sites to the procedures that they call, and into procedures from where they are called.
 * Context: thread.
 */
#ifndef TAILOR_PROGRAM_FLOW_H
#define TAILOR_PROGRAM_FLOW_H

#include "analyzer/flow/equations.h"

#include <stdbool.h>

#define FLOW_OUTSIDE UINT32_MAX /* in place of a block */
#define FLOW_NO_FUNCTION UINT32_MAX

struct flow_arc {
	uint32_t from, to; /* blocks or FLOW_OUTSIDE */
	uint32_t variable;
};

struct flow_block {
	uint32_t variable;
};

/* From a call site to one of the functions that it may call. */
struct flow_call {
	uint32_t caller; /* function; FLOW_NO_FUNCTION: call sites that no flow has */
	uint32_t block;
	uint64_t site;
	uint32_t callee; /* function; FLOW_NO_FUNCTION: not known */
	uint32_t variable;
};

struct flow_function {
	struct flow_arc *arc;
	struct flow_block *block;
	uint32_t nr_arcs, nr_blocks;
	uint32_t first_call, nr_calls; /* among the program's calls */
	uint32_t entries;	       /* variable */
	bool escapes;		       /* it may be called from where no flow says so */
	bool contradicts;	       /* equations of its own do not hold */
};

struct flow_program {
	struct flow_function *function;
	struct flow_call *call;
	uint32_t nr_functions, functions_capacity, nr_calls, calls_capacity;
	struct equations *equations;
};

/* 0 or -ENOMEM. */
int flow_program_init(struct flow_program *p);
void flow_program_fini(struct flow_program *p);

/* A function's number, or UINT32_MAX: no memory. */
uint32_t flow_add_function(struct flow_program *p, uint32_t nr_blocks, bool escapes);
/* false: no memory, or no such block.  Arcs and calls of a function are numbered in their order. */
bool flow_add_arc(struct flow_program *p, uint32_t function, uint32_t from, uint32_t to);
/* Calls of the function that was added last; callees by the numbers of functions, also of those that are added later. */
bool flow_add_call(struct flow_program *p, uint32_t function, uint32_t block, uint64_t site, uint32_t callee);
/* When all functions are there: the equations.  0 or -ENOMEM. */
int flow_add_equations(struct flow_program *p);
/* What counters or the reader say, between flow_add_equations() and flow_solve(): equations_set_known() of p->equations and a variable. */
/* 0 or -ENOMEM. */
int flow_solve(struct flow_program *p);

static inline const struct flow_variable *flow_count(const struct flow_program *p, uint32_t variable)
{
	return equations_get_variable(p->equations, variable);
}

/*
 * Time with callees: own[i] is what function i took itself; total[i] becomes that and its part of the functions that it calls, by the
 * number of calls.  Functions that call each other in circles are one: each of them has the time of all, and calls between them carry none
 * (so recursion counts once, where the circle was entered).  of_call (or NULL): what each call's callee took for it.  0 or -ENOMEM.
 */
int flow_aggregate(const struct flow_program *p, const double *own, double *total, double *of_call);

#endif
