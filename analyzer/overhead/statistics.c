/* SPDX-License-Identifier: MIT */
#include "analyzer/overhead/statistics.h"

#include "jitreg/base/sorted.h"

#include <math.h>
#include <stdlib.h>

#define DRAWS 2000
#define VALUES_MAX 64 /* maximum number of values that the bootstrap draws from; if there are more, it takes every nth */
#define SEED 0x9e3779b97f4a7c15ull

uint64_t random_below(uint64_t *state, uint64_t limit)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return (uint64_t)(((__uint128_t)(x * 0x2545f4914f6cdd1dull) * limit) >> 64);
}

/* Returns quantile q (0 to 1) of nr sorted values, interpolated linearly between two of them (type 7 of R. Hyndman and Y. Fan, 1996). */
static double quantile(const double *sorted, size_t nr, double q)
{
	double at = q * (double)(nr - 1);
	size_t below = (size_t)at;

	return below + 1 < nr ? sorted[below] + (at - (double)below) * (sorted[below + 1] - sorted[below]) : sorted[nr - 1];
}

struct spread spread_of_values(double *values, size_t nr)
{
	struct spread s = { NAN, NAN, NAN, NAN, NAN, 0 };
	double drawn[VALUES_MAX], medians[DRAWS];
	uint64_t state = SEED;
	size_t step, few;

	for (size_t i = 0; i < nr; i++)
		if (!isnan(values[i]))
			values[s.nr++] = values[i];
	if (!s.nr)
		return s;
	qsort(values, s.nr, sizeof(*values), sorted_by_double);
	s.median = quantile(values, s.nr, 0.5);
	s.lower_quartile = quantile(values, s.nr, 0.25);
	s.upper_quartile = quantile(values, s.nr, 0.75);
	step = (s.nr + VALUES_MAX - 1) / VALUES_MAX;
	few = (s.nr + step - 1) / step;
	for (size_t d = 0; d < DRAWS; d++) {
		for (size_t i = 0; i < few; i++)
			drawn[i] = values[step * random_below(&state, few)];
		qsort(drawn, few, sizeof(*drawn), sorted_by_double);
		medians[d] = quantile(drawn, few, 0.5);
	}
	qsort(medians, DRAWS, sizeof(*medians), sorted_by_double);
	s.low = quantile(medians, DRAWS, 0.025);
	s.high = quantile(medians, DRAWS, 0.975);
	return s;
}
