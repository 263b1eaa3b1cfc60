/* SPDX-License-Identifier: MIT */
/*
 * Finds the bytecode that an interpreter runs which keeps no frame pointer (CPython).  For each function there is a small piece of code,
 * the caller, which calls the interpreter (struct code.program).  So a frame of the caller tells the function.  The interpreter's frame,
 * which the caller has called, has the address of the bytecode.  The caller's frame is located by that address, which has a line.
 *
 * The compiler and the sampled instruction decide which word of the interpreter's frame has the address. Other words may be addresses of
 * bytecode that earlier calls have left. But a word that the interpreter's code loads next is in use.  So the code is read from the frame's
 * instruction on, and the first word that it loads and that lies in the function's bytecode is the address. If there is none, the address
 * is in a register. Code and stack are untrusted.  Context: thread.
 */
#ifndef TAILOR_PROGRAMS_H
#define TAILOR_PROGRAMS_H

#include "analyzer/model/model.h"
#include "analyzer/unwind/unwind.h"
#include "jitreg/base/grow.h"

/* These words of a frame are loaded by the code that follows an instruction: offsets above the stack pointer, in the order of loads. */
#define PROGRAM_WORDS_MAX 8
struct program_words {
	uint32_t nr;
	uint16_t offset[PROGRAM_WORDS_MAX];
};

/* This cache has the words by instruction. {0} at first. */
struct programs {
	struct hash_map known; /* (address, code's number + 1) -> 1 + index */
	ARRAY_OF(struct program_words);
};
void programs_fini(struct programs *c);

/* This struct has the registers of the frame that was visited last, which the frame that called it needs. */
struct program_callee {
	struct programs *cache;
	struct unwind_registers registers;
	bool is_known; /* false: no frame was visited */
};

/* Keeps the registers of a frame for that of its caller. */
static inline void program_note_callee(struct program_callee *callee, const struct process *p, const struct unwind_registers *r)
{
	if (!p->runs_programs.to)
		return;
	callee->registers = *r;
	callee->is_known = true;
}

/* Returns the address of the bytecode that runs in the frame that was visited last, if the code at address is its caller, else address.
 * rsp: stack pointer of the caller's frame. */
uint64_t program_address_of_caller(const struct process *p, const struct unwind_input *in, const struct program_callee *callee,
				   uint64_t rsp, uint64_t address, uint64_t time_ns);

static inline uint64_t program_address(const struct process *p, const struct unwind_input *in, const struct program_callee *callee,
				       uint64_t rsp, uint64_t address, uint64_t time_ns)
{
	if (!callee->is_known || address < p->runs_programs.from || address >= p->runs_programs.to)
		return address;
	return program_address_of_caller(p, in, callee, rsp, address, time_ns);
}

#endif
