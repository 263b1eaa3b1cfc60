/* SPDX-License-Identifier: MIT */
/* The little statistics that comparing needs.  Context: any. */
#ifndef TAILOR_STATS_H
#define TAILOR_STATS_H

#include <stddef.h>

struct estimate {
	double mean;
	double error; /* standard error of the mean */
	double df;    /* degrees of freedom behind it; 0: none, the error says nothing */
};

/* Mean of independent values. */
struct estimate stats_mean(const double *v, size_t nr);
/*
 * The ratio sum(part) / sum(whole) of pairs (Cochran, Sampling Techniques, 6.4): its error comes from how much it differs
 * between the pairs.
 */
struct estimate stats_ratio(const double *part, const double *whole, size_t nr);
/* Their difference b - a (Welch). */
struct estimate stats_difference(struct estimate a, struct estimate b);
/* x such that Student's t with df degrees of freedom lies in [-x, x] with probability 1 - alpha; df 0: infinity. */
double stats_t_quantile(double df, double alpha);

#endif
