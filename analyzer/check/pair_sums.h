/* SPDX-License-Identifier: MIT */
/* Counts samples by two numbers. Context: thread. */
#ifndef TAILOR_CHECK_PAIR_SUMS_H
#define TAILOR_CHECK_PAIR_SUMS_H

#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#include <stdint.h>

#define PAIR_WRONGS 2
struct pair_sum {
	uint64_t a, b;
	uint64_t samples, wrong[PAIR_WRONGS];
	uint64_t example; /* an example of a wrong sample, whose meaning the caller decides */
};

/* The samples that agree in two numbers are counted, and how many of them are wrong in each of two ways, which the caller defines. */
struct pair_sums {
	struct hash_map index; /* (a, b) -> 1 + index */
	ARRAY_OF(struct pair_sum);
};

/* Return the counts for two numbers, which are added if they are not there. Return NULL if memory runs out. The result is valid until the
 * next call. */
struct pair_sum *pair_sums_get(struct pair_sums *t, uint64_t a, uint64_t b);
void pair_sums_fini(struct pair_sums *t);

#endif
