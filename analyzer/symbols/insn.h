/* SPDX-License-Identifier: MIT */
/* Decodes one x86-64 instruction from its bytes, which are untrusted. Only insn.c uses Zydis. Context: thread. */
#ifndef TAILOR_INSN_H
#define TAILOR_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_kind { INSN_OTHER, INSN_JUMP, INSN_BRANCH /* a conditional jump */, INSN_CALL, INSN_RETURN };

struct insn {
	uint8_t bytes;
	enum insn_kind kind;
	uint64_t target; /* target of a direct jump or call; 0: none, or unknown */
	char text[112];	 /* Intel syntax */
};

/* Decodes the instruction at address from nr bytes. If it is invalid, returns false, and out has one byte as text (none if nr is 0). */
bool insn_decode(const void *bytes, size_t nr, uint64_t address, struct insn *out);

#define INSN_NO_REGISTER 0xff

/* An instruction has one of these effects on registers (numbered as in DWARF) and on the stack. Values and addresses are a register plus a
 * constant. */
enum insn_effect {
	INSN_NOTHING, /* no other effect than that the registers in `writes` change */
	INSN_PUSH,    /* pushes register `to`, or another value if there is none */
	INSN_POP,     /* pops into register `to`, or into the flags if there is none */
	INSN_ADD,     /* to = from + value */
	INSN_STORE,   /* 8 bytes at from + value = register to */
	INSN_LOAD,    /* to = 8 bytes at from + value */
	INSN_WRITE,   /* memory_bytes at from + value become unknown */
	INSN_LEAVE,
};

struct insn_step {
	uint8_t bytes, kind; /* enum insn_kind */
	uint8_t effect;	     /* enum insn_effect */
	uint8_t to, from;    /* registers, or INSN_NO_REGISTER */
	bool stops;	     /* traps, so that the next instruction does not follow */
	bool table;	     /* may jump by a table, to the value of register `from` or of memory with an index */
	bool nothing;	     /* no-operation, as in padding */
	uint16_t writes;     /* registers that change in a way that effect does not describe, a bit per register */
	uint16_t memory_bytes;
	int32_t value;
	uint64_t target; /* the same as in struct insn; also 0 before a relocation has set it */
};

/* Reads the effect of the instruction at address.  Returns false if it is invalid.  The registers that a call changes are not in
 * `writes`. */
bool insn_read_step(const void *bytes, size_t nr, uint64_t address, struct insn_step *out);

/* A processor does this work for an instruction. */
struct insn_work {
	uint8_t loads, stores; /* memory operands, including those of push, pop, call and ret */
	bool divides;	       /* it divides or takes a square root, by a divider that is not pipelined */
	bool repeats;	       /* it has a rep prefix, and takes a time in proportion to its data */
	uint8_t latency; /* maximum number of cycles until the result is ready, if first-level caches hit; 0: division or no-operation */
};

/* Reads the work of an instruction.  Returns false if it is invalid.  A no-operation has 0 in all members. */
bool insn_read_work(const void *bytes, size_t nr, struct insn_work *out);

/* An instruction reads or writes memory at this address. Registers are DWARF's numbers (0 to 15), or INSN_NO_REGISTER. */
struct insn_operand {
	uint8_t base, index, scale;
	int64_t displacement; /* the address itself if the operand is rip-relative */
};

/* Finds the first memory operand.  Returns false if there is none, or if registers alone do not give its address (a segment, a gather,
 * push and call). */
bool insn_find_operand(const void *bytes, size_t nr, uint64_t address, struct insn_operand *out);

#endif
