/* SPDX-License-Identifier: MIT */
/* Declares what equations.c and estimate.c share. Context: thread. */
#ifndef TAILOR_FLOW_INTERNAL_H
#define TAILOR_FLOW_INTERNAL_H

#include "analyzer/flow/equations.h"
#include "jitreg/base/grow.h"

struct term {
	uint32_t equation, variable;
	int sign;
};

struct equations {
	ARRAY(struct flow_variable) variables;
	ARRAY(struct flow_equation) equations;
	ARRAY(struct term) terms; /* sorted by equation by index_terms(), before the equations are solved */
	uint32_t *first;   /* index of the first term of each equation, and, behind the last equation, the end */
	uint32_t *use;	   /* indexes of terms, sorted by variable; those of variable v begin at use[first_use[v]] */
	uint32_t *first_use;
	ARRAY(uint32_t) violated;
	double eliminated, estimated; /* work of elimination and of estimates so far, over all parts */
};

/* A part has unknowns that equations connect, and all equations that contain them. */
struct part {
	uint32_t *variable, *equation;
	uint32_t nr_variables, nr_equations;
	uint32_t *column_of; /* by variable: its index in variable[] of this part */
};

/* Return the sum of the known terms of an equation, and set *nr_unknown to the number of its other terms. */
__int128 equations_known_sum(const struct equations *e, uint32_t equation, uint32_t *nr_unknown);
/* Estimate the unknowns of a part that elimination has not solved. They stay unknown if no equation of the part has a known term. Return 0
 * or -ENOMEM. */
int equations_estimate(struct equations *e, const struct part *p);

#endif
