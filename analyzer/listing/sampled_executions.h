/* SPDX-License-Identifier: MIT */
/* How often a block runs, by samples of retired instructions.  Context: any. */
#ifndef TAILOR_SAMPLED_EXECUTIONS_H
#define TAILOR_SAMPLED_EXECUTIONS_H

#include <math.h>

#define SAMPLED_CERTAIN 1.96 /* standard errors of 95 % */

struct block_frequency {
	double executions, low, high;
	const char *state; /* how it is known; "sampled": from retired instructions */
};

/* Of a class without counts: its retired instructions (a sum of weights, and of their squares) by how many it has.  Poisson: a sample is as
 * likely as any other. */
static inline void sampled_executions(double weight, double weight_squares, double steps, struct block_frequency *out)
{
	double error = weight > 0 ? SAMPLED_CERTAIN * sqrt(weight_squares) / weight : 1;

	out->executions = weight / steps;
	out->low = out->executions * fmax(1 - error, 0);
	out->high = out->executions * (1 + error);
	out->state = "sampled";
}

#endif
