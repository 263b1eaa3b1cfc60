/* SPDX-License-Identifier: MIT */
/* Computes the median, the quartiles and a confidence interval of a few measurements, and random numbers. Context: thread. */
#ifndef TAILOR_STATISTICS_H
#define TAILOR_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

/* This struct has the spread of nr measurements.  If nr is 0, all other members are NAN. */
struct spread {
	double median, lower_quartile, upper_quartile;
	double low, high; /* 95 % confidence interval of the median */
	size_t nr;
};

/* Returns the spread of nr values, which it sorts in place.  NANs among them are ignored.  The interval is computed by a percentile
 * bootstrap (B. Efron, 1979) with a fixed seed, so the same values give the same interval. */
struct spread spread_of_values(double *values, size_t nr);

/* Returns a random number below limit (xorshift64*, S. Vigna, 2016).  *state must not be 0, and is changed. */
uint64_t random_below(uint64_t *state, uint64_t limit);

#endif
