/* SPDX-License-Identifier: MIT */
/*
 * Call-frame programs (DWARF 5, section 6.4) of x86-64: are they fit to be run, and what do they say of an address?
 *
 * libunwind runs what it finds: registers are indexes into its arrays, unchecked in places, and expressions may loop or
 * divide.  cfi_is_safe() therefore comes first, also before our own evaluation.  What compilers and assemblers emit passes.
 * Context: any.
 */
#ifndef TAILOR_CFI_H
#define TAILOR_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CFI_REGISTERS 17 /* of x86-64, as DWARF numbers them; the last is the return address */
#define CFI_RSP 7
#define CFI_RETURN 16

/* The instructions of a CIE or an FDE.  *expressions becomes true when there are some. */
bool cfi_is_safe(const unsigned char *instructions, size_t bytes, bool *expressions);

/* What an FDE and its CIE say; the bytes are the section's. */
struct cfi_program {
	uint64_t start, bytes; /* of the code */
	uint64_t code_factor;
	int64_t data_factor;
	const unsigned char *initial, *initial_end;
	const unsigned char *instructions, *instructions_end;
	bool signal_frame; /* its caller's address is that of an instruction, not of a return */
};

enum cfi_where {
	CFI_SAME, /* unchanged */
	CFI_UNDEFINED,
	CFI_AT,		/* at CFA + value */
	CFI_IS,		/* CFA + value */
	CFI_REGISTER,	/* register + value (the CFA), register (others) */
	CFI_EXPRESSION, /* at what it computes (the CFA: what it computes) */
	CFI_COMPUTED,	/* what it computes */
};

struct cfi_place {
	enum cfi_where where;
	uint32_t reg;
	int64_t value;
	const unsigned char *expression, *expression_end;
};

/* Where the caller's registers are. */
struct cfi_row {
	struct cfi_place cfa;
	struct cfi_place reg[CFI_REGISTERS];
	/* The code before has lowered the stack pointer: a register saved where now nothing is any more (below it) has been
	 * taken back from there.  Else it may have been saved into the red zone. */
	bool lowered;
};

/* The row for an address in [start, start + bytes).  false: the program makes no sense. */
bool cfi_row_at(const struct cfi_program *p, uint64_t address, struct cfi_row *out);

/* Registers and memory, for expressions. */
struct cfi_machine {
	const uint64_t *reg;
	uint32_t known; /* bit per register */
	bool (*read)(void *context, uint64_t address, uint64_t *word);
	void *context;
};

/* An expression that cfi_is_safe() let pass; push: what is on its stack first (the CFA), or NULL.  false: it needs a register
 * or memory that is not known. */
bool cfi_evaluate(const unsigned char *at, const unsigned char *end, const uint64_t *push, const struct cfi_machine *m,
		  uint64_t *out);

#endif
