/* SPDX-License-Identifier: MIT */
/* One x86-64 instruction from its bytes, which are hostile.  The one door to Zydis.  Context: thread. */
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

#define INSN_NO_REGISTER 0xff

/* What an instruction does to the registers (DWARF's numbers) and the stack; values and addresses count from a register. */
enum insn_effect {
	INSN_NOTHING, /* but for what it writes */
	INSN_PUSH,    /* of register to, or of something else */
	INSN_POP,     /* into register to, or elsewhere */
	INSN_ADD,     /* to = from + value */
	INSN_STORE,   /* 8 bytes at from + value = register to */
	INSN_LOAD,    /* to = 8 bytes at from + value */
	INSN_WRITE,   /* memory_bytes at from + value become something else */
	INSN_LEAVE,
};

struct insn_step {
	uint8_t bytes, kind; /* enum insn_kind */
	uint8_t effect;	     /* enum insn_effect */
	uint8_t to, from;    /* registers, or INSN_NO_REGISTER */
	bool stops;	     /* traps: what stands behind it does not follow */
	bool table;	     /* a jump that may be one by a table: to the value of register from, or of memory at an index */
	bool nothing;	     /* a no-operation: padding */
	uint16_t writes;     /* other registers that change: bit per register */
	uint16_t memory_bytes;
	int32_t value;
	uint64_t target; /* as in struct insn; also 0 where a relocation has yet to say */
};

/* false: there is no instruction. */
bool insn_read_step(const void *bytes, size_t nr, uint64_t address, struct insn_step *out);

/* What an instruction asks of a processor. */
struct insn_work {
	uint8_t loads, stores; /* memory operands, those of push, pop, call and ret included */
	bool divides;	       /* or takes a square root: by a divider that is no pipeline */
	bool repeats;	       /* rep: it takes as long as its data is long */
	uint8_t latency; /* cycles until its result is there, with first-level hits, at most; 0: of a division, or it has none */
};

/* false: there is no instruction. */
bool insn_read_work(const void *bytes, size_t nr, struct insn_work *out);

/* The memory that an instruction reads or writes: registers in DWARF's numbers (0 to 15), INSN_NO_REGISTER for none. */
struct insn_operand {
	uint8_t base, index, scale;
	int64_t displacement; /* of a rip-relative operand: the address itself */
};

/* false: it touches no memory, or in a way that registers alone do not tell (a segment, a gather, push and call). */
bool insn_find_operand(const void *bytes, size_t nr, uint64_t address, struct insn_operand *out);

#endif
