/* SPDX-License-Identifier: MIT */
/*
 * The common part of names that a person would call the same: names without addresses, numbers that count names, lines and columns, the
 * compiler's marks of a function's copies (.constprop.0), JavaScript's tiers, and folders in front of files. Context: thread.
 */
#ifndef TAILOR_ALIKE_H
#define TAILOR_ALIKE_H

#include <stdbool.h>
#include <stdint.h>

enum alike_how { ALIKE_BUT_NUMBERS, ALIKE_BUT_PLACES, NR_ALIKE }; /* places: also without lines, columns and folders */

struct alike {
	char *text[NR_ALIKE];
	uint64_t number; /* the first number that was left out, which may be an address or a line; 0: none */
	bool has_counter;
	bool is_of_one_run; /* the host numbers such names in the order of their use; in another run, the name may mean another function */
};

/* Make both texts of a name. Return 0 or -ENOMEM. */
int alike_make(const char *name, struct alike *out);
void alike_fini(struct alike *a);

#endif
