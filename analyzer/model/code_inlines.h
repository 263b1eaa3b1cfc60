/* SPDX-License-Identifier: MIT */
/* Functions that a JIT inlined, by its INLINES records: from an address on, a stack of them.  Context: thread. */
#ifndef TAILOR_CODE_INLINES_H
#define TAILOR_CODE_INLINES_H

#include "analyzer/symbols/elf_object.h"
#include "jitreg/trace/reader.h"

struct code_inline {
	uint64_t address;
	uint32_t depth; /* 0: the function that has a frame */
	uint32_t line;	/* where the function around it calls it */
	char *function, *file; /* the file that its text is in */
};

/* From the record's list; NULL without memory.  *nr: how many. */
struct code_inline *code_inlines_read(const struct trace_value *list, size_t *nr);
void code_inlines_free(struct code_inline *inlines, size_t nr);
/* As elf_find_inlines(). */
size_t code_inlines_find(const struct code_inline *inlines, size_t nr, uint64_t address, struct elf_inline *out, size_t max);

#endif
