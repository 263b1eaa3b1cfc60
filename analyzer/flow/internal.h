/* SPDX-License-Identifier: MIT */
/* The data that equations.c and estimate.c share. */
#ifndef TAILOR_FLOW_INTERNAL_H
#define TAILOR_FLOW_INTERNAL_H

#include "analyzer/flow/equations.h"

struct term {
	uint32_t equation, variable;
	int sign;
};

struct equations {
	struct flow_variable *variable;
	struct flow_equation *equation;
	struct term *term; /* sorted by equation when they are solved */
	uint32_t *first;   /* first term of each equation; that of the next one is the end */
	uint32_t *use;	   /* terms by variable */
	uint32_t *first_use;
	uint32_t *violated;
	uint32_t nr_variables, variables_capacity, nr_equations, equations_capacity, nr_terms, terms_capacity;
	uint32_t nr_violated, violated_capacity;
	double eliminated, estimated; /* work so far, of all parts */
};

/* Unknowns, and the equations that contain only these. */
struct part {
	uint32_t *variable, *equation;
	uint32_t nr_variables, nr_equations;
	uint32_t *column_of; /* unknown -> its index in variable */
};

/* Return the sum of the known terms of an equation. */
__int128 equations_known_sum(const struct equations *e, uint32_t equation, uint32_t *nr_unknown);
/* Estimate unknowns that have several values. Return 0 or -ENOMEM. */
int equations_estimate(struct equations *e, const struct part *p);

#endif
