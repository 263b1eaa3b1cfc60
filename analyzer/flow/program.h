/* SPDX-License-Identifier: MIT */
/*
 * Makes equations of the control flow of a program's functions and its counts, and solves them (O. Waddell and J. Ashley, Visualizing the
 * performance of higher-order programs, PASTE 1998, section 4; within functions D. Knuth and F. Stevenson, BIT 13, 1973). There are
 * equations for the flow into and out of each block, for call sites and the procedures that they may call, and for procedures and their
 * callers. Context: thread.
 */
#ifndef TAILOR_PROGRAM_FLOW_H
#define TAILOR_PROGRAM_FLOW_H

#include "analyzer/flow/equations.h"
#include "jitreg/base/grow.h"

#include <stdbool.h>

#define FLOW_OUTSIDE UINT32_MAX /* in place of a block */
#define FLOW_NO_FUNCTION UINT32_MAX

struct flow_arc {
	uint32_t from, to; /* blocks, or FLOW_OUTSIDE where control enters or leaves the function */
	uint32_t variable;
};

struct flow_block {
	uint32_t variable;
};

/* A call site has a struct flow_call for each function that it may call. */
struct flow_call {
	uint32_t caller; /* number of a function; FLOW_NO_FUNCTION: code whose flow is not known */
	uint32_t block;
	uint64_t site;
	uint32_t callee; /* number of a function; FLOW_NO_FUNCTION: not known, or a function whose flow is not known */
	uint32_t variable;
};

struct flow_function {
	ARRAY(struct flow_arc) arcs;
	struct flow_block *block;
	uint32_t nr_blocks;
	uint32_t first_call, nr_calls; /* calls.at[first_call] to calls.at[first_call + nr_calls - 1] of the program are the function's */
	uint32_t entries;	       /* number of the variable that counts how often the function is entered */
	bool escapes;		       /* code whose flow is not known may call it */
	bool contradicts;	       /* after flow_solve(): the counts of the function contradict each other */
};

struct flow_program {
	ARRAY(struct flow_function) functions;
	ARRAY(struct flow_call) calls;
	struct equations *equations;
};

/* Begin a program without functions. Return 0, or -ENOMEM, and then there is nothing to free. */
int flow_program_init(struct flow_program *p);
void flow_program_fini(struct flow_program *p);

/* Add a function with nr_blocks blocks. Return its number, or UINT32_MAX if memory runs out. */
uint32_t flow_add_function(struct flow_program *p, uint32_t nr_blocks, bool escapes);
/* Add an arc between blocks (or FLOW_OUTSIDE) of a function. Arcs and calls have numbers in the order in which they are added. Return false
 * if memory runs out, or if there is no such block. */
bool flow_add_arc(struct flow_program *p, uint32_t function, uint32_t from, uint32_t to);
/* Add a call that the function that was added last makes in a block. Calls of one call site (site) must be added one after the other.
 * callee is the number of a function, which may be added later, or FLOW_NO_FUNCTION. Return false if memory runs out, if there is no such
 * block, or if another function was added last. */
bool flow_add_call(struct flow_program *p, uint32_t function, uint32_t block, uint64_t site, uint32_t callee);
/* Add the equations after all functions were added. Functions that escape get a further call, from FLOW_NO_FUNCTION. Return 0 or
 * -ENOMEM. */
int flow_add_equations(struct flow_program *p);
/* Solve the equations. Before this and after flow_add_equations(), set the counts that counters had or that the reader assumes with
 * equations_set_known() in p->equations. Return 0 or -ENOMEM. */
int flow_solve(struct flow_program *p);

static inline const struct flow_variable *flow_count(const struct flow_program *p, uint32_t variable)
{
	return equations_get_variable(p->equations, variable);
}

/*
 * Compute times with callees. own[i] is the time of function i itself. total[i] becomes that time, and a part of the time of each function
 * that it calls, in proportion to the number of calls. Functions that call each other in a cycle count as one: each of them gets the time
 * of the whole cycle, and calls between them get no time, so that recursion counts once, where the cycle is entered. of_call, if it is not
 * NULL, becomes the time that the callee of each call took for it. Return 0 or -ENOMEM.
 */
int flow_aggregate(const struct flow_program *p, const double *own, double *total, double *of_call);

#endif
