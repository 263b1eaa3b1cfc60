/* SPDX-License-Identifier: MIT */
/* Median, quartiles and a confidence interval of a few measurements.  Context: thread. */
#ifndef TAILOR_STATISTICS_H
#define TAILOR_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

/* Without measurements, nr is 0 and all others are NAN. */
struct spread {
	double median, lower_quartile, upper_quartile;
	double low, high; /* 95 % interval of the median */
	size_t nr;
};

/* Sorts values in place.  NANs among them are ignored.  The interval is a percentile bootstrap (B. Efron, 1979) from a fixed seed, so the
 * same values give the same interval. */
struct spread spread_of_values(double *values, size_t nr);

/* Random numbers for shuffling and drawing (xorshift64*, S. Vigna 2016); state is not 0. */
uint64_t random_below(uint64_t *state, uint64_t limit);

#endif
