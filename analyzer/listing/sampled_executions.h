/* SPDX-License-Identifier: MIT */
/* The executions of a block, estimated from samples of retired instructions. Context: any. */
#ifndef TAILOR_SAMPLED_EXECUTIONS_H
#define TAILOR_SAMPLED_EXECUTIONS_H

#include <math.h>

#define SAMPLED_CERTAIN 1.96 /* standard errors of 95 % */

struct block_frequency {
	double executions, low, high;
	const char *state; /* how the executions are known; "sampled": from retired instructions */
};

/* Estimate the executions of a class without counts: its retired instructions (the sum of the samples' weights) divided by how many
 * instructions it has. weight_squares, the sum of squared weights, gives the error. Poisson: one sample is as likely as another. */
static inline void sampled_executions(double weight, double weight_squares, double steps, struct block_frequency *out)
{
	double error = weight > 0 ? SAMPLED_CERTAIN * sqrt(weight_squares) / weight : 1;

	out->executions = weight / steps;
	out->low = out->executions * fmax(1 - error, 0);
	out->high = out->executions * (1 + error);
	out->state = "sampled";
}

#endif
