/* SPDX-License-Identifier: MIT */
/*
 * Checks and evaluates call-frame programs (DWARF 5, section 6.4) of x86-64.
 *
 * libunwind runs any program. Its registers are indexes into arrays, which libunwind does not check everywhere, and its expressions may
 * loop or divide. Therefore cfi_is_safe() comes first, also before the evaluation here. Programs that compilers and assemblers emit pass
 * it. Context: any.
 */
#ifndef TAILOR_CFI_H
#define TAILOR_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CFI_REGISTERS 17 /* 0 to 15 are the general registers of x86-64 in DWARF, and 16 is the return address */
#define CFI_RSP 7
#define CFI_RETURN 16

/*
 * May libunwind and cfi_row_at() run the instructions of a CIE or an FDE? *expressions becomes true if some of them have expressions, and
 * otherwise stays as it is.
 */
bool cfi_is_safe(const unsigned char *instructions, size_t bytes, bool *expressions);

/* An FDE and its CIE make a call-frame program. The pointers lead into the section. */
struct cfi_program {
	uint64_t start, bytes; /* the code that the FDE describes */
	uint64_t code_factor;
	int64_t data_factor;
	const unsigned char *initial, *initial_end;
	const unsigned char *instructions, *instructions_end;
	bool signal_frame; /* the caller's address is that of an instruction, not of a return */
};

enum cfi_where {
	CFI_SAME, /* the register still has the caller's value */
	CFI_UNDEFINED,
	CFI_AT,		/* in memory at CFA + value */
	CFI_IS,		/* the value itself is CFA + value */
	CFI_REGISTER,	/* the CFA: register reg + value; others: register reg */
	CFI_EXPRESSION, /* in memory at the expression's result; the CFA: the result itself */
	CFI_COMPUTED,	/* the expression's result */
};

struct cfi_place {
	enum cfi_where where;
	uint32_t reg;
	int64_t value;
	const unsigned char *expression, *expression_end;
};

/* The caller's registers can be read from these places. */
struct cfi_row {
	struct cfi_place cfa;
	struct cfi_place reg[CFI_REGISTERS];
	/*
	 * The code up to the address has lowered the stack pointer, because this row or an earlier one has another CFA than rsp + 8. Then a
	 * register whose place lies below the stack pointer has already been restored from there. Otherwise the register may have been
	 * saved into the red zone.
	 */
	bool lowered;
};

/*
 * Finds the row for an address in [p->start, p->start + p->bytes). *out points into the section as p does. Returns false if the program is
 * malformed.
 */
bool cfi_row_at(const struct cfi_program *p, uint64_t address, struct cfi_row *out);

/* Expressions read these registers and this memory. */
struct cfi_machine {
	const uint64_t *reg;
	uint32_t known; /* bit per register */
	bool (*read)(void *context, uint64_t address, uint64_t *word);
	void *context;
};

/*
 * Evaluates an expression that cfi_is_safe() let pass. push: the first value on its stack (the CFA), or NULL. Returns false if the
 * expression needs a register or memory that is not known, or if it is malformed.
 */
bool cfi_evaluate(const unsigned char *at, const unsigned char *end, const uint64_t *push, const struct cfi_machine *m,
		  uint64_t *out);

#endif
