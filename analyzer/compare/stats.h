/* SPDX-License-Identifier: MIT */
/* Estimates with standard errors. Context: any. */
#ifndef TAILOR_STATS_H
#define TAILOR_STATS_H

#include <stddef.h>

struct estimate {
	double mean;
	double error; /* standard error of the mean */
	double df;    /* degrees of freedom of the error; 0: the error is unknown */
};

/* Return the mean of independent values. */
struct estimate stats_mean(const double *v, size_t nr);
/*
 * Return the ratio sum(part) / sum(whole) of pairs. Its error is estimated from the variation between the pairs (Cochran, Sampling
 * Techniques, 6.4).
 */
struct estimate stats_ratio(const double *part, const double *whole, size_t nr);
/* Return the difference b - a (Welch). */
struct estimate stats_difference(struct estimate a, struct estimate b);
/* Return x such that Student's t with df degrees of freedom lies in [-x, x] with probability 1 - alpha. df 0: infinity. */
double stats_t_quantile(double df, double alpha);

#endif
