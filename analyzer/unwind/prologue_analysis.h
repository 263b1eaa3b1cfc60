/* SPDX-License-Identifier: MIT */
/*
 * Finds out where a function without unwind information keeps its frame, by reading its instructions.
 *
 * At the function's first instruction, the return address is on top of the stack and all registers are the caller's. From there on every
 * path through the function is followed. At each instruction the analysis knows which registers hold an address in the frame (rsp and rbp
 * first), which are still the caller's, and where those are saved that calls preserve. Where two paths disagree, the register is unknown.
 * Where no register leads to the frame, there is no row. A function that returns with anything other than its return address on top of the
 * stack is not understood, and has no rows at all.
 *
 * The bytes are untrusted. Context: any.
 */
#ifndef TAILOR_PROLOGUE_ANALYSIS_H
#define TAILOR_PROLOGUE_ANALYSIS_H

#include "analyzer/unwind/cfi.h"

#define PROLOGUE_ROWS_BYTES_MAX (1u << 20) /* maximum size of a function; larger ones have no rows */

struct prologue_rows;

/* Makes the rows of a function. A function that is not understood gets an object without rows. If memory runs out, the result is such an
 * object or NULL. The caller frees it by prologue_rows_destroy(). */
struct prologue_rows *prologue_rows_create(const void *function, size_t bytes);
void prologue_rows_destroy(struct prologue_rows *r);
/* Returns how many bytes of memory the rows take. */
size_t prologue_rows_size(const struct prologue_rows *r);

/* Finds the row of the instruction that covers offset. Returns false if there is none. */
bool prologue_rows_find(const struct prologue_rows *r, uint64_t offset, struct cfi_row *out);

/* This struct is the state before an instruction, for tests. Numbers are addresses relative to the CFA. */
#define CODE_UNKNOWN INT32_MIN
#define CODE_CALLERS (INT32_MIN + 1) /* the register has the caller's value, unchanged */
#define CODE_NR_SAVED 6
struct code_state {
	int32_t reg[16];
	int32_t slot[CODE_NR_SAVED]; /* places where the caller's rbx, rbp and r12 to r15 are saved, or CODE_UNKNOWN */
};
/* Finds the state before the instruction that begins at offset. Returns false if no path leads to an instruction there. */
bool prologue_rows_state(const struct prologue_rows *r, uint64_t offset, struct code_state *out);

/*
 * Can the end of these bytes be a call instruction? Bytes before it are not read as instructions, so it may also be the end of a different
 * instruction.
 */
bool code_ends_with_call(const void *bytes, size_t nr);

#endif
