/* SPDX-License-Identifier: MIT */
/* Reads the functions that a JIT inlined from its INLINES records.  From each address on, a stack of functions holds.  Context: thread. */
#ifndef TAILOR_CODE_INLINES_H
#define TAILOR_CODE_INLINES_H

#include "analyzer/symbols/elf_object.h"
#include "jitreg/trace/reader.h"

struct code_inline {
	uint64_t address;
	uint32_t depth; /* 0: the function that has a frame */
	uint32_t line;	/* line of the call in the function around it */
	char *function, *file; /* file: the file of the function's text */
};

/* Reads the list of the record.  *nr: entries read.  NULL: out of memory. */
struct code_inline *code_inlines_read(const struct trace_value *list, size_t *nr);
void code_inlines_free(struct code_inline *inlines, size_t nr);
/* Does the same as elf_find_inlines(). */
size_t code_inlines_find(const struct code_inline *inlines, size_t nr, uint64_t address, struct elf_inline *out, size_t max);

#endif
