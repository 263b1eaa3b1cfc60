/* SPDX-License-Identifier: MIT */
/* Estimates the executions of a block from samples of retired instructions. Context: any. */
#ifndef TAILOR_SAMPLED_EXECUTIONS_H
#define TAILOR_SAMPLED_EXECUTIONS_H

#include <math.h>

#define SAMPLED_CERTAIN 1.96 /* standard errors of a 95 % interval */

struct block_frequency {
	double executions, low, high;
	const char *state; /* how the executions are known; "sampled": estimated from samples of retired instructions */
};

/* Estimate the executions of a class of blocks that the host does not count: its retired instructions (the sum of the samples' weights)
 * divided by the number of its instructions. weight_squares, the sum of squared weights, gives the error, on the assumption that samples
 * are independent (Poisson). */
static inline void sampled_executions(double weight, double weight_squares, double steps, struct block_frequency *out)
{
	double error = weight > 0 ? SAMPLED_CERTAIN * sqrt(weight_squares) / weight : 1;

	out->executions = weight / steps;
	out->low = out->executions * fmax(1 - error, 0);
	out->high = out->executions * (1 + error);
	out->state = "sampled";
}

#endif
