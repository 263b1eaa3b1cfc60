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

#endif
