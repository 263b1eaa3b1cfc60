/* SPDX-License-Identifier: MIT */
/*
 * Linear equations between execution counts: what goes into a block comes out of it, and a procedure is entered as often as it is called.
 * Variables are counted, assumed, or to be found; those that follow are solved exactly, those that do not are estimated.
 * Context: thread.
 */
#ifndef TAILOR_EQUATIONS_H
#define TAILOR_EQUATIONS_H

#include <stdbool.h>
#include <stdint.h>

enum flow_state {
	FLOW_UNKNOWN,	/* nothing is known of it */
	FLOW_COUNTED,
	FLOW_ASSUMED,	/* the reader says so */
	FLOW_SOLVED,	/* follows from those above */
	FLOW_ESTIMATED, /* one of several solutions: near equal parts (least squares), within what is possible */
};

struct flow_variable {
	enum flow_state state;
	int64_t count;	/* of UNKNOWN: 0.  Below 0: the counts contradict each other */
	uint64_t most;	/* no solution is above it */
};

struct flow_equation {
	uint32_t owner;	    /* the caller's */
	int64_t difference; /* by how much it does not hold, though all of it is counted, assumed or solved */
};

struct equations;

/* NULL: no memory. */
struct equations *equations_create(void);
void equations_destroy(struct equations *e);

/* The number of a new variable, or of a new equation: the sum of its terms is 0.  UINT32_MAX: no memory. */
uint32_t equations_add_variable(struct equations *e);
uint32_t equations_add_equation(struct equations *e, uint32_t owner);
/* sign: 1 or -1.  0 or -ENOMEM. */
int equations_add_term(struct equations *e, uint32_t equation, uint32_t variable, int sign);
/* One that is known already stays as it is (false, if by another count). */
bool equations_set_known(struct equations *e, uint32_t variable, enum flow_state state, uint64_t count);

/* 0 or -ENOMEM.  Time: linear in terms, and at most a second for elimination (of parts of at most EQUATIONS_DENSE_MAX unknowns; what is not
 * eliminated is estimated) and for estimates (what is not refined stays near equal parts). */
int equations_solve(struct equations *e);
#define EQUATIONS_DENSE_MAX 400

uint32_t equations_nr_variables(const struct equations *e);
const struct flow_variable *equations_get_variable(const struct equations *e, uint32_t variable);
/* Equations that do not hold: the n-th of them, or NULL. */
const struct flow_equation *equations_get_violated(const struct equations *e, uint32_t n);

#endif
