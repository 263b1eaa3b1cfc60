/* SPDX-License-Identifier: MIT */
/* Computes estimates with their standard errors. Context: any. */
#ifndef TAILOR_STATS_H
#define TAILOR_STATS_H

#include <stddef.h>

struct estimate {
	double mean;
	double error; /* standard error of the mean */
	double df;    /* degrees of freedom of the error; 0: there are too few values for an error */
};

/* Return the mean of nr independent values, with its error. */
struct estimate stats_mean(const double *v, size_t nr);
/*
 * Return the ratio sum(part) / sum(whole) of nr pairs. Its error is estimated from the variation between the pairs (W. Cochran, Sampling
 * Techniques, 6.4). Return zeros if sum(whole) is not above 0.
 */
struct estimate stats_ratio(const double *part, const double *whole, size_t nr);
/* Return the difference b - a, with B. Welch's approximation of its degrees of freedom. */
struct estimate stats_difference(struct estimate a, struct estimate b);
/* Return x such that Student's t with df degrees of freedom lies in [-x, x] with probability 1 - alpha. Return infinity if df is 0. */
double stats_t_quantile(double df, double alpha);

#endif
