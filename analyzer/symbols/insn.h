/* SPDX-License-Identifier: MIT */
/* One x86-64 instruction from its bytes, which are somebody else's.  The one door to Zydis.  Context: thread. */
#ifndef TAILOR_INSN_H
#define TAILOR_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum insn_kind { INSN_OTHER, INSN_JUMP, INSN_BRANCH /* a conditional jump */, INSN_CALL, INSN_RETURN };

struct insn {
	uint8_t bytes;
	enum insn_kind kind;
	uint64_t target; /* of a jump or call to a fixed address; 0: of none that is known */
	char text[112];	 /* Intel syntax */
};

/* The instruction at address, of which nr bytes are there.  false, with one byte as text: it is none. */
bool insn_decode(const void *bytes, size_t nr, uint64_t address, struct insn *out);

/* The memory that an instruction reads or writes: registers in DWARF's numbers (0 to 15), INSN_NO_REGISTER for none. */
#define INSN_NO_REGISTER 0xff
struct insn_operand {
	uint8_t base, index, scale;
	int64_t displacement; /* of a rip-relative operand: the address itself */
};

/* false: it touches no memory, or in a way that registers alone do not tell (a segment, a gather, push and call). */
bool insn_find_operand(const void *bytes, size_t nr, uint64_t address, struct insn_operand *out);

#endif
