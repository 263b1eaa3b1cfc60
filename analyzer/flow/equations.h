/* SPDX-License-Identifier: MIT */
/*
 * Solves linear equations between execution counts: the flow into a block is the flow out of it, and a procedure is entered as often as it
 * is called. Variables are counted, assumed or unknown. Unknown ones that follow from the others are solved exactly, and the rest are
 * estimated, unless nothing that they depend on is known. Context: thread.
 */
#ifndef TAILOR_EQUATIONS_H
#define TAILOR_EQUATIONS_H

#include <stdbool.h>
#include <stdint.h>

enum flow_state {
	FLOW_UNKNOWN,	/* no count is known; after solving: nothing that it depends on is known, either */
	FLOW_COUNTED,
	FLOW_ASSUMED,	/* the reader of the report gave this count as an assumption */
	FLOW_SOLVED,	/* the count follows from counted and assumed ones */
	/* one of several possible values, as near to equal parts as the bounds allow (least squares), or one that the limits of
	 * equations_solve() left out */
	FLOW_ESTIMATED,
};

struct flow_variable {
	enum flow_state state;
	int64_t count;	/* executions; 0 if the state is FLOW_UNKNOWN; a solved one is below 0 if the counts contradict each other */
	uint64_t most;	/* upper bound of the count; exact only for counted and assumed ones, and UINT64_MAX if there is none */
};

struct flow_equation {
	uint32_t owner;	    /* number that the caller gave when it added the equation */
	/* sum of the terms if all are counted, assumed or solved, which is not 0 if the counts contradict each other; else 0 */
	int64_t difference;
};

struct equations;

/* Create a system without equations. Return NULL if memory runs out. */
struct equations *equations_create(void);
void equations_destroy(struct equations *e);

/* Add a variable, or an equation, which says that the sum of its terms is 0. owner: a number of the caller's. Return its number, or
 * UINT32_MAX if memory runs out. */
uint32_t equations_add_variable(struct equations *e);
uint32_t equations_add_equation(struct equations *e, uint32_t owner);
/* Add the variable to the equation, or subtract it. sign: 1 or -1. Return 0, or -ENOMEM if memory runs out now, or if there is no such
 * equation or variable because memory ran out before. */
int equations_add_term(struct equations *e, uint32_t equation, uint32_t variable, int sign);
/* Set a count. A variable that has a count keeps it. Return false if it has a different one. state: FLOW_COUNTED or FLOW_ASSUMED. */
bool equations_set_known(struct equations *e, uint32_t variable, enum flow_state state, uint64_t count);

/* Solve the equations, once. Return 0 or -ENOMEM. The time is linear in the number of terms, with two exceptions that are limited to about
 * a second: elimination, which is only done for parts (unknowns that equations connect) of at most EQUATIONS_DENSE_MAX unknowns and
 * equations, and estimates. What these limits leave out is estimated, and less precisely. */
int equations_solve(struct equations *e);
#define EQUATIONS_DENSE_MAX 400

uint32_t equations_nr_variables(const struct equations *e);
const struct flow_variable *equations_get_variable(const struct equations *e, uint32_t variable);
/* Return the n-th of the equations that do not hold, after solving, or NULL if there are not so many. */
const struct flow_equation *equations_get_violated(const struct equations *e, uint32_t n);

#endif
