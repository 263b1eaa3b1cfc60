/* SPDX-License-Identifier: MIT */
/*
 * Reads the bytes of code.  Those of generated code are left in the trace by the model, which knows the record of each (code.bytes_at).
 * Those of sampled functions of images are at their files' own addresses.  Context: thread.
 */
#ifndef TAILOR_CODE_BYTES_H
#define TAILOR_CODE_BYTES_H

#include "analyzer/query/report.h"

struct code_bytes {
	const struct code *code;
	uint64_t start, end; /* addresses wanted */
	unsigned char *bytes; /* malloc()ed, freed by the caller; NULL: not in the trace */
	uint64_t read_ns;     /* when the bytes were read from memory; 0: they came with the code */
};

/* Fills in the bytes of nr ranges. */
void code_bytes_read(const struct report *r, struct code_bytes *wanted, uint32_t nr);

/* Calls take() for each code object that a JIT registered one by one, with its bytes, in the order of the trace.  read_ns: as above. */
void code_bytes_each(const struct report *r,
		     void (*take)(void *context, const struct code *c, const void *bytes, uint64_t read_ns), void *context);

#endif
