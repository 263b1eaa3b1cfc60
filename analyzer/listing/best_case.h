/* SPDX-License-Identifier: MIT */
/*
 * How many cycles a block of instructions takes at best, by LLVM's scheduling models: llvm-mc turns bytes into text, llvm-mca simulates it.
 * They are children with a limit of time and memory, and get the host's bytes as numbers; without them there is no answer.
 * Context: thread.
 */
#ifndef TAILOR_BEST_CASE_H
#define TAILOR_BEST_CASE_H

#include <stdbool.h>
#include <stddef.h>

#define BEST_CASE_NONE "none" /* as a processor's name: the tools are not called */

struct best_case_block {
	const unsigned char *bytes; /* without calls and returns, which llvm-mca has no model of */
	size_t nr_bytes;
	int nr; /* instructions in them */
	double cycles; /* of one execution in a row of them; < 0: not known */
	double floor;  /* cycles of an execution if no instruction waited for another's result: the processor's units alone */
};

struct best_cases; /* answers so far */

struct best_cases *best_cases_create(void);
void best_cases_destroy(struct best_cases *c);
/* Fill in cycles.  processor: a name of llvm-mca's -mcpu, NULL: its default. */
void best_cases_find(struct best_cases *c, const char *processor, struct best_case_block *block, size_t nr);
/* What the answers are by ("llvm-mca 14.0.6 for znver3"), or why there are none; NULL: no block was asked for. */
const char *best_cases_about(const struct best_cases *c, bool *known);

#endif
