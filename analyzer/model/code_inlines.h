/* SPDX-License-Identifier: MIT */
/*
 * A JIT lists the functions that it inlined in INLINES records, which read_code.c reads. The entries with one address are a stack of
 * functions, to which the code belongs from that address on. Context: thread.
 */
#ifndef TAILOR_CODE_INLINES_H
#define TAILOR_CODE_INLINES_H

#include "analyzer/symbols/elf_object.h"
#include "jitreg/trace/reader.h"

struct code_inline {
	uint64_t address;
	uint32_t depth; /* 0: the code object's own function, which has the frame; 1: a function that is inlined into it; and so on */
	uint32_t line;	/* line of the call in the function around it */
	char *function, *file; /* file: the file of the function's text */
};

/* Copies the list of a record, sorted by address and depth. The caller frees the copy by code_inlines_free(). *nr: number of entries,
 * which is smaller if memory runs out on the way. Returns NULL if memory ran out, or if list is no list. */
struct code_inline *code_inlines_read(const struct trace_value *list, size_t *nr);
void code_inlines_free(struct code_inline *inlines, size_t nr);
/* Stores the inlined functions around address, the innermost first, with the lines of their calls.  Returns how many, at most max. */
size_t code_inlines_find(const struct code_inline *inlines, size_t nr, uint64_t address, struct elf_inline *out, size_t max);

#endif
