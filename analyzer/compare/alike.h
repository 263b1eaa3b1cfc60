/* SPDX-License-Identifier: MIT */
/*
 * Reduces names to what stays the same if a program is built or run again. Left out are addresses, numbers by which a compiler or host
 * counts names of a kind, the marks of copies of a function that compilers make (.constprop.0), hashes of Rust's names, and JavaScript's
 * tiers; in a second text also lines, columns, and the folders in front of file names. Context: thread.
 */
#ifndef TAILOR_ALIKE_H
#define TAILOR_ALIKE_H

#include <stdbool.h>
#include <stdint.h>

/* index of a text; ALIKE_BUT_PLACES: also without lines, columns and folders */
enum alike_how { ALIKE_BUT_NUMBERS, ALIKE_BUT_PLACES, NR_ALIKE };

struct alike {
	char *text[NR_ALIKE];
	uint64_t number; /* the first number above 0 that was left out, an address, a counter or a line; 0: none */
	bool has_counter; /* a number that counts names of a kind was left out */
	/* the host numbers such names in the order in which it makes them, so in another run the name may mean another function */
	bool is_of_one_run;
};

/* Make both texts of a name. Return 0, or -ENOMEM, after which there is nothing to free. */
int alike_make(const char *name, struct alike *out);
void alike_fini(struct alike *a);

#endif
