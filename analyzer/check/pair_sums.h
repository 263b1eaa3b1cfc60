/* SPDX-License-Identifier: MIT */
/* Samples counted by two numbers. Context: thread. */
#ifndef TAILOR_CHECK_PAIR_SUMS_H
#define TAILOR_CHECK_PAIR_SUMS_H

#include "jitreg/base/hash_map.h"

#include <stdint.h>

/* Samples that agree in two numbers, and how many of them are wrong in each of two ways. */
#define PAIR_WRONGS 2
struct pair_sums {
	struct hash_map index; /* (a, b) -> 1 + index in of */
	struct pair_sum {
		uint64_t a, b;
		uint64_t samples, wrong[PAIR_WRONGS];
		uint64_t example; /* example of a wrong sample; the caller decides what it holds */
	} *of;
	uint32_t nr, capacity;
};

/* Return the sum of the two numbers, which is made if there is none. NULL without memory. */
struct pair_sum *pair_sums_get(struct pair_sums *t, uint64_t a, uint64_t b);
void pair_sums_fini(struct pair_sums *t);

#endif
