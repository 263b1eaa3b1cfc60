/* SPDX-License-Identifier: MIT */
/* The functions of the kernel that a trace has names for, by address.  Context: thread. */
#ifndef TAILOR_KERNEL_FUNCTIONS_H
#define TAILOR_KERNEL_FUNCTIONS_H

#include "jitreg/trace/reader.h"

struct kernel_function {
	uint64_t address, bytes;
	char *name, *image; /* image: [kernel], or its module in brackets */
};

struct kernel_functions {
	struct kernel_function *function; /* sorted by address and without overlap, once settled */
	uint32_t nr, capacity;
};

/* Adds the functions of a KERNEL_FUNCTIONS record. */
void kernel_functions_read(struct kernel_functions *k, const struct trace_record *r);
/* Sorts the functions when all records have been read. */
void kernel_functions_settle(struct kernel_functions *k);
/* Returns 1 + the index of the function at an address.  0: none. */
uint32_t kernel_functions_find(const struct kernel_functions *k, uint64_t address);
void kernel_functions_fini(struct kernel_functions *k);

#endif
