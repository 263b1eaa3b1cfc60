/* SPDX-License-Identifier: MIT */
/*
 * The cycles that a block of instructions takes at best, by LLVM's scheduling models. llvm-mc turns the bytes into text, and llvm-mca
 * simulates it. Both are child processes with a limit of time and memory, and get the host's bytes as numbers. Without them no best case is
 * known. Context: thread.
 */
#ifndef TAILOR_BEST_CASE_H
#define TAILOR_BEST_CASE_H

#include <stdbool.h>
#include <stddef.h>

#define BEST_CASE_NONE "none" /* a processor's name with which the tools are not called */

struct best_case_block {
	const unsigned char *bytes; /* without calls and returns, which llvm-mca does not model */
	size_t nr_bytes;
	int nr; /* instructions in the bytes */
	double cycles; /* cycles of one execution among many in a row; < 0: not known */
	double floor;  /* cycles of an execution if no instruction waited for a result, but only for the processor's units */
};

struct best_cases; /* stores the answers so far */

struct best_cases *best_cases_create(void);
void best_cases_destroy(struct best_cases *c);
/* Fill in the cycles and floor of each block. processor: a name of llvm-mca's -mcpu. NULL: its default. */
void best_cases_find(struct best_cases *c, const char *processor, struct best_case_block *block, size_t nr);
/* Return the simulator of the answers ("llvm-mca 14.0.6 for znver3"), or why there are none. NULL: no block was simulated yet. */
const char *best_cases_about(const struct best_cases *c, bool *known);

#endif
