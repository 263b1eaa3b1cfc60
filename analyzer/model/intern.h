/* SPDX-License-Identifier: MIT */
/* A growing hash table from a pair of numbers to a number: what indexes and caches of the analyzer are made of.  Context:
 * thread. */
#ifndef TAILOR_INTERN_H
#define TAILOR_INTERN_H

#include <stdbool.h>
#include <stdint.h>

struct intern {
	struct intern_slot {
		uint64_t a, b;
		uint32_t value; /* 0: free */
	} *slot;
	uint32_t nr, capacity;
};

/* 0 when it is not there. */
uint32_t intern_find(const struct intern *i, uint64_t a, uint64_t b);
/* value: not 0.  A pair that is there already gets the new value.  false without memory. */
bool intern_set(struct intern *i, uint64_t a, uint64_t b, uint32_t value);
void intern_fini(struct intern *i);

#endif
