/* SPDX-License-Identifier: MIT */
/* Samples as an unwinder sees them: their registers and stack bytes, and what lay where in their process at their time.
 * Context: thread. */
#ifndef TAILOR_WALK_H
#define TAILOR_WALK_H

#include "analyzer/model/model.h"
#include "analyzer/unwind/unwind.h"

/* The user's registers and stack bytes of sample i; rip is that of user code, also where the kernel was sampled.  false: there are
 * no registers.  The stack stays until the next call; ask in order (sample_block_stack()). */
bool walk_input_of_sample(struct sample_block *b, uint32_t i, struct unwind_input *out);
#define WALK_ABI_64 2u /* PERF_SAMPLE_REGS_ABI_64: what SAMPLE_COLUMN_REGISTERS_ABI says where there are registers */

/* perf's number of a register by DWARF's, and perf's mask of registers. */
uint32_t walk_perf_register(int dwarf);
uint64_t walk_perf_register_mask(uint32_t dwarf);

/* Registers (a mask of DWARF's numbers), and those without which it is unknown whether walk_input_of_sample() knows these. */
uint32_t walk_needed_registers(uint32_t dwarf);

/* Where and when a sample was. */
struct walk_place {
	const struct process *process;
	uint64_t time_ns;
};

/* The address space at a place, which must outlive it.  with_generation: libunwind needs it, the memo does not. */
struct unwind_space walk_unwind_space(const struct walk_place *at, bool with_generation);

/* ---- frames of interpreters belong to the code of the program that is interpreted, which the frame says (INTERPRETER in a trace) */

/* What a frame in an interpreter's code is looked up by: where it is in the program, if code is known there; else address itself.
 * r: the frame's registers; innermost: nothing was called from there. */
uint64_t interpreted_address_of_frame(const struct process *p, const struct unwind_input *in, const struct unwind_registers *r,
				      bool innermost, uint64_t address, uint64_t time_ns);

static inline uint64_t interpreted_address(const struct process *p, const struct unwind_input *in, const struct unwind_registers *r,
					   bool innermost, uint64_t address, uint64_t time_ns)
{
	if (address - p->interpreter.address >= p->interpreter.bytes)
		return address;
	return interpreted_address_of_frame(p, in, r, innermost, address, time_ns);
}

#endif
