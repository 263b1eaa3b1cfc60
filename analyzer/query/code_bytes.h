/* SPDX-License-Identifier: MIT */
/*
 * Reads the bytes of code.  The model leaves those of generated code in the trace, and knows the record of each (code.bytes_at).  Bytes of
 * images are at addresses of their ELF files.  Context: thread.
 */
#ifndef TAILOR_CODE_BYTES_H
#define TAILOR_CODE_BYTES_H

#include "analyzer/query/report.h"

struct code_bytes {
	const struct code *code;
	uint64_t start, end; /* the wanted addresses: for CODE_IMAGE in the ELF file, else in the process */
	/* The bytes are on the heap. The caller sets this to NULL before code_bytes_read(), and frees it. It stays NULL if the trace does
	 * not have the bytes, or if memory ran out. */
	unsigned char *bytes;
	uint64_t read_ns; /* when the bytes were read from memory; 0: they came with the code or file, or a whole region was read */
};

/* Sets bytes of nr ranges, and read_ns of those whose bytes were read from memory, except for whole regions. The caller sets both to 0
 * before. */
void code_bytes_read(const struct report *r, struct code_bytes *wanted, uint32_t nr);

/* Calls take() for each function that a JIT registered (CODE_LOAD) and of which the trace has the bytes, in the order of these in the
 * trace. read_ns: when the bytes were read from memory; 0: they came with the code. If memory runs out, take() is not called. */
void code_bytes_each(const struct report *r,
		     void (*take)(void *context, const struct code *c, const void *bytes, uint64_t read_ns), void *context);

#endif
