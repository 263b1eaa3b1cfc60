/* SPDX-License-Identifier: MIT */
/*
 * The flow of a program's functions and its counts, as equations (O. Waddell and J. Ashley, Visualizing the performance of higher-order
 * programs, PASTE 1998, section 4; within functions D. Knuth and F. Stevenson, BIT 13, 1973): into and out of each block, from call sites
 * to the procedures that they call, and into procedures from their callers. Context: thread.
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

/* A call from a call site to one of the functions that it may call. */
struct flow_call {
	uint32_t caller; /* function; FLOW_NO_FUNCTION: call sites in no flow */
	uint32_t block;
	uint64_t site;
	uint32_t callee; /* function; FLOW_NO_FUNCTION: not known */
	uint32_t variable;
};

struct flow_function {
	struct flow_arc *arc;
	struct flow_block *block;
	uint32_t nr_arcs, nr_blocks;
	uint32_t first_call, nr_calls; /* indexes in the program's calls */
	uint32_t entries;	       /* variable */
	bool escapes;		       /* callers in no flow may call it */
	bool contradicts;	       /* equations of its own do not hold */
};

struct flow_program {
	struct flow_function *function;
	struct flow_call *call;
	uint32_t nr_functions, functions_capacity, nr_calls, calls_capacity;
	struct equations *equations;
};

/* Return 0 or -ENOMEM. */
int flow_program_init(struct flow_program *p);
void flow_program_fini(struct flow_program *p);

/* Return a function's number, or UINT32_MAX without memory. */
uint32_t flow_add_function(struct flow_program *p, uint32_t nr_blocks, bool escapes);
/* Return false without memory, or if there is no such block. Arcs and calls of a function are numbered in their order. */
bool flow_add_arc(struct flow_program *p, uint32_t function, uint32_t from, uint32_t to);
/* Add a call of the function that was added last. Callees are numbers of functions, also of those that are added later. */
bool flow_add_call(struct flow_program *p, uint32_t function, uint32_t block, uint64_t site, uint32_t callee);
/* Add the equations when all functions are added. Return 0 or -ENOMEM. */
int flow_add_equations(struct flow_program *p);
/* Solve the equations. Before this and after flow_add_equations(), equations_set_known() sets the counts of counters and of the reader in
 * p->equations. Return 0 or -ENOMEM. */
int flow_solve(struct flow_program *p);

static inline const struct flow_variable *flow_count(const struct flow_program *p, uint32_t variable)
{
	return equations_get_variable(p->equations, variable);
}

/*
 * Compute times with callees. own[i] is the time of function i itself. total[i] becomes this time and its part of the times of the
 * functions that it calls, by the number of calls. Functions that call each other in cycles count as one: each of them has the time of all,
 * and calls between them carry none, so that recursion counts once, where the cycle was entered. of_call (or NULL): the time that each
 * call's callee took for it. Return 0 or -ENOMEM.
 */
int flow_aggregate(const struct flow_program *p, const double *own, double *total, double *of_call);

#endif
