/* SPDX-License-Identifier: MIT */
/*
 * SORTED_COUNT() finds how many elements at the beginning of a sorted array meet a condition on their index, by binary search. The
 * condition must be false for all elements behind the first one for which it is false.
 *
 *	uint32_t n = SORTED_COUNT(nr, i, line[i].address <= address);	(line[n - 1] is the last that begins at address or before it)
 *
 * Context: any.
 */
#ifndef TAILOR_SORTED_H
#define TAILOR_SORTED_H

#include <stdint.h>

/* Compare two numbers for qsort(), so that the smallest comes first. */
static inline int sorted_by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static inline int sorted_by_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

#define SORTED_COUNT(nr, index, condition) \
	({ \
		__typeof__((nr) + 0) sorted_low = 0, sorted_high = (nr); \
\
		while (sorted_low < sorted_high) { \
			const __typeof__(sorted_low) index = sorted_low + (sorted_high - sorted_low) / 2; \
\
			if (condition) \
				sorted_low = index + 1; \
			else \
				sorted_high = index; \
		} \
		sorted_low; \
	})

#endif
