/* SPDX-License-Identifier: MIT */
/*
 * Where a function keeps its frame, read from its instructions: for code without unwind information.
 *
 * From the function's first instruction on, where the return address is on top of the stack and all registers are the
 * caller's, every way through it is followed, and at each instruction it is kept which registers hold an address in the frame (rsp
 * and rbp first), which are still the caller's, and where those lie that calls preserve.  Where two ways disagree the register
 * is unknown; where no register is left that leads to the frame there is no row.  Code that returns with anything else
 * on top of the stack than its return address is not understood, and has no rows at all.
 *
 * The bytes are hostile.  Context: any.
 */
#ifndef TAILOR_PROLOGUE_ANALYSIS_H
#define TAILOR_PROLOGUE_ANALYSIS_H

#include "analyzer/unwind/cfi.h"

#define PROLOGUE_ROWS_BYTES_MAX (1u << 20) /* of a function; larger ones have no rows */

struct prologue_rows;

/* NULL without memory.  Of a function that is not understood: without rows. */
struct prologue_rows *prologue_rows_create(const void *function, size_t bytes);
void prologue_rows_destroy(struct prologue_rows *r);
/* How much memory it takes. */
size_t prologue_rows_size(const struct prologue_rows *r);

/* offset: of any byte of an instruction.  false: there is no row for it. */
bool prologue_rows_find(const struct prologue_rows *r, uint64_t offset, struct cfi_row *out);

/* What is known at an instruction, for comparisons: registers as numbers from the CFA. */
#define CODE_UNKNOWN INT32_MIN
#define CODE_CALLERS (INT32_MIN + 1) /* the caller's, unchanged */
#define CODE_NR_SAVED 6
struct code_state {
	int32_t reg[16];
	int32_t slot[CODE_NR_SAVED]; /* where rbx, rbp, r12-r15 lie as the caller had them; or CODE_UNKNOWN */
};
/* offset: of the first byte of an instruction that a way leads to.  false: none does. */
bool prologue_rows_state(const struct prologue_rows *r, uint64_t offset, struct code_state *out);

/* Does a call end at the end of these bytes? */
bool code_ends_with_call(const void *bytes, size_t nr);

#endif
