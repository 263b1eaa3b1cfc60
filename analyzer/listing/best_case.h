/* SPDX-License-Identifier: MIT */
/*
 * Finds the cycles that a block of instructions takes at best, by LLVM's scheduling models. llvm-mc turns the bytes into text, and llvm-mca
 * simulates that. Both are child processes with limits of time and memory, and get the host's bytes only as numbers. Without these programs
 * no best case is known. Context: thread.
 */
#ifndef TAILOR_BEST_CASE_H
#define TAILOR_BEST_CASE_H

#include <stdbool.h>
#include <stddef.h>

#define BEST_CASE_NONE "none" /* name of a processor for which the programs are not called */

struct best_case_block {
	const unsigned char *bytes; /* the instructions without calls and returns, which llvm-mca does not model */
	size_t nr_bytes;
	int nr; /* number of instructions in the bytes */
	double cycles; /* cycles of one execution, if the block runs many times in a row; < 0: not known */
	/* cycles of one execution if no instruction waited for a result, but only for the processor's units; set if cycles is known */
	double floor;
};

struct best_cases; /* the answers so far, which are kept so that equal blocks are simulated once */

/* Return an empty collection, which best_cases_destroy() frees, or NULL if memory runs out. */
struct best_cases *best_cases_create(void);
void best_cases_destroy(struct best_cases *c);
/* Fill in cycles and floor of each block. processor: a name of llvm-mca's -mcpu, or NULL for its default. If it is BEST_CASE_NONE or a name
 * that llvm-mca does not know, if one of the programs is missing, if llvm-mc fails, or if they have taken a minute in total, no further
 * block is simulated. */
void best_cases_find(struct best_cases *c, const char *processor, struct best_case_block *block, size_t nr);
/* Return what simulated the blocks ("llvm-mca 14.0.6 for znver3"), or why nothing did, or NULL if no block was simulated yet. *known: it is
 * the former. */
const char *best_cases_about(const struct best_cases *c, bool *known);

#endif
