/* SPDX-License-Identifier: MIT */
/*
 * What two names have in common that a person would call the same: without addresses, numbers that are given one after the other, lines and
 * columns, the compiler's marks of a function's copies (.constprop.0), JavaScript's tiers, and folders in front of files.  Context: thread.
 */
#ifndef TAILOR_ALIKE_H
#define TAILOR_ALIKE_H

#include <stdbool.h>
#include <stdint.h>

enum alike_how { ALIKE_BUT_NUMBERS, ALIKE_BUT_PLACES, NR_ALIKE }; /* places: lines, columns and folders, besides */

struct alike {
	char *text[NR_ALIKE];
	uint64_t number; /* the first that was left out, an address or a line, too; 0: none was */
	bool has_counter;
	bool is_of_one_run; /* the host numbers such names in the order of their use: the same name may mean another in another run */
};

/* 0 or -ENOMEM. */
int alike_make(const char *name, struct alike *out);
void alike_fini(struct alike *a);

#endif
