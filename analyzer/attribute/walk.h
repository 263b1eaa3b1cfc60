/* SPDX-License-Identifier: MIT */
/* Gives the unwinder a sample's registers and stack bytes, and finds what lay at an address of its process at its time.
 * Context: thread. */
#ifndef TAILOR_WALK_H
#define TAILOR_WALK_H

#include "analyzer/model/model.h"
#include "analyzer/unwind/unwind.h"

/* Reads the user's registers and stack bytes of sample i. rip is that of user code, also if the kernel was sampled. Returns false if
 * there are no registers of a 64-bit program. The stack is valid until the next call. Samples should be read in order
 * (sample_block_stack()). */
bool walk_input_of_sample(struct sample_block *b, uint32_t i, struct unwind_input *out);
#define WALK_ABI_64 2u /* PERF_SAMPLE_REGS_ABI_64: SAMPLE_COLUMN_REGISTERS_ABI of samples with registers */

/* Return perf's number of a register by DWARF's number, and perf's mask of registers by a mask of DWARF's numbers. */
uint32_t walk_perf_register(int dwarf);
uint64_t walk_perf_register_mask(uint32_t dwarf);

/* Adds to a mask of DWARF's numbers the registers that walk_input_of_sample() needs to find out whether those in the mask are known. */
uint32_t walk_needed_registers(uint32_t dwarf);

/* A stack is walked with the process and time of its sample. */
struct walk_place {
	const struct process *process;
	uint64_t time_ns;
};

/* Returns the address space that unwinding a sample of this process and time uses.  *at must stay valid as long as the result is used.
 * with_generation: set the number of the version of the process's code, which only unwinding by libunwind needs. */
struct unwind_space walk_unwind_space(const struct walk_place *at, bool with_generation);

/* ---- frames in an interpreter's code count for the program that it runs (INTERPRETER records) */

/* Returns the address that a frame in an interpreter's code is looked up by: that of the interpreted code which the frame executes, if a
 * register or the stack bytes say so, else address itself.  r: the frame's registers.  innermost: the frame has called nothing, so a
 * register may hold that address. */
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
