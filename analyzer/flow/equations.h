/* SPDX-License-Identifier: MIT */
/*
 * Linear equations between execution counts: the flow into a block is the flow out of it, and a procedure is entered as often as it is
 * called. Variables are counted, assumed, or unknown. Those that follow from the others are solved exactly, and the rest are estimated.
 * Context: thread.
 */
#ifndef TAILOR_EQUATIONS_H
#define TAILOR_EQUATIONS_H

#include <stdbool.h>
#include <stdint.h>

enum flow_state {
	FLOW_UNKNOWN,	/* no count is known */
	FLOW_COUNTED,
	FLOW_ASSUMED,	/* the reader assumes it */
	FLOW_SOLVED,	/* follows from those above */
	FLOW_ESTIMATED, /* one of several solutions within bounds: near equal parts (least squares) */
};

struct flow_variable {
	enum flow_state state;
	int64_t count;	/* 0 if the state is UNKNOWN; below 0: the counts contradict each other */
	uint64_t most;	/* no solution is above it */
};

struct flow_equation {
	uint32_t owner;	    /* the caller's number */
	int64_t difference; /* difference of its sides, though all terms are counted, assumed or solved */
};

struct equations;

/* Return NULL without memory. */
struct equations *equations_create(void);
void equations_destroy(struct equations *e);

/* Return the number of a new variable, or of a new equation, which says that the sum of its terms is 0. UINT32_MAX: no memory. */
uint32_t equations_add_variable(struct equations *e);
uint32_t equations_add_equation(struct equations *e, uint32_t owner);
/* sign: 1 or -1. Return 0 or -ENOMEM. */
int equations_add_term(struct equations *e, uint32_t equation, uint32_t variable, int sign);
/* Set a count. A variable that is known already keeps its count. Return false if that is another one. */
bool equations_set_known(struct equations *e, uint32_t variable, enum flow_state state, uint64_t count);

/* Solve the equations. Return 0 or -ENOMEM. Time: linear in terms, and at most a second for elimination (of parts of at most
 * EQUATIONS_DENSE_MAX unknowns; others are estimated) and for estimates (if time is over, unknowns stay near equal parts). */
int equations_solve(struct equations *e);
#define EQUATIONS_DENSE_MAX 400

uint32_t equations_nr_variables(const struct equations *e);
const struct flow_variable *equations_get_variable(const struct equations *e, uint32_t variable);
/* Return the n-th equation that does not hold, or NULL. */
const struct flow_equation *equations_get_violated(const struct equations *e, uint32_t n);

#endif
