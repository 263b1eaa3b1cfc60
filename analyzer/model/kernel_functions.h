/* SPDX-License-Identifier: MIT */
/* Finds the kernel's functions by address, as far as a trace has them (KERNEL_FUNCTIONS records).  Context: thread. */
#ifndef TAILOR_KERNEL_FUNCTIONS_H
#define TAILOR_KERNEL_FUNCTIONS_H

#include "jitreg/base/grow.h"
#include "jitreg/trace/reader.h"

struct kernel_function {
	uint64_t address, bytes;
	char *name, *image; /* image: "[kernel]", or the function's module in brackets */
};

struct kernel_functions {
	ARRAY_OF(struct kernel_function); /* sorted by address and without overlap, once settled */
};

/* Adds the functions of a KERNEL_FUNCTIONS record. Those without a name or of 0 bytes are left out, and those for which memory runs out. */
void kernel_functions_read(struct kernel_functions *k, const struct trace_record *r);
/* The model calls this after the last record. It sorts the functions, drops all but one of those at one address, and cuts each where the
 * next one begins. */
void kernel_functions_settle(struct kernel_functions *k);
/* Returns 1 + the index of the function that contains an address, or 0 if there is none. */
uint32_t kernel_functions_find(const struct kernel_functions *k, uint64_t address);
void kernel_functions_fini(struct kernel_functions *k);

#endif
