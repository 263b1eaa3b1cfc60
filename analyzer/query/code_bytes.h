/* SPDX-License-Identifier: MIT */
/*
 * The bytes of code: of generated code, which the model leaves in the trace (it knows the record of each, code.bytes_at), and of sampled
 * functions of images, at their files' own addresses.  Context: thread.
 */
#ifndef TAILOR_CODE_BYTES_H
#define TAILOR_CODE_BYTES_H

#include "analyzer/query/report.h"

struct code_bytes {
	const struct code *code;
	uint64_t start, end; /* addresses wanted */
	unsigned char *bytes; /* malloc()ed, the caller's; NULL: the trace does not have them */
	uint64_t read_ns;     /* when they were read from memory; 0: they came with the code */
};

/* Fill in bytes for nr ranges. */
void code_bytes_read(const struct report *r, struct code_bytes *wanted, uint32_t nr);

/* Call for each code object that a JIT registered one by one, with its bytes, in the order of the trace.  read_ns: as above. */
void code_bytes_each(const struct report *r,
		     void (*take)(void *context, const struct code *c, const void *bytes, uint64_t read_ns), void *context);

#endif
