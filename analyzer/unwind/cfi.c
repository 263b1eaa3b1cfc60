/* SPDX-License-Identifier: MIT */
/* The check is one pass over the bytes, because instructions have no jumps, and expressions with jumps are refused. */
#include "analyzer/unwind/cfi.h"

#include "jitreg/base/leb128.h"

#define PROGRAM_BYTES_MAX 65536u /* programs of compilers are far shorter */
#define DEPTH_MAX 32	       /* values on an expression's stack (libunwind has room for 64) */

struct reader {
	const unsigned char *at, *end;
};

static bool skip_bytes(struct reader *r, uint64_t bytes)
{
	if (bytes > (size_t)(r->end - r->at))
		return false;
	r->at += bytes;
	return true;
}

static bool read_leb(struct reader *r, uint64_t *out)
{
	return leb128_take(&r->at, r->end, out);
}

/*
 * Describes an operation of an expression: how many values it takes from the stack and leaves there, and the operand behind it, which is a
 * digit (its bytes) or L (a LEB128). Returns false for branches, divisions, register names, and all other operations that are not listed.
 */
static bool describe_expression_op(unsigned char op, int *takes, int *leaves, char *operand)
{
	*takes = 0;
	*leaves = 1;
	*operand = '0';
	if (op >= 0x30 && op <= 0x4f) /* DW_OP_lit0 to 31 */
		return true;
	if (op >= 0x70 && op < 0x70 + CFI_REGISTERS) { /* DW_OP_breg0 to 16 */
		*operand = 'L';
		return true;
	}
	switch (op) {
	case 0x03: /* addr */
	case 0x0e: /* const8u, const8s */
	case 0x0f:
		*operand = '8';
		return true;
	case 0x08: /* const1u, const1s */
	case 0x09:
		*operand = '1';
		return true;
	case 0x0a: /* const2u, const2s */
	case 0x0b:
		*operand = '2';
		return true;
	case 0x0c: /* const4u, const4s */
	case 0x0d:
		*operand = '4';
		return true;
	case 0x10: /* constu, consts */
	case 0x11:
		*operand = 'L';
		return true;
	case 0x06: /* deref */
	case 0x1f: /* neg, not */
	case 0x20:
		*takes = 1;
		return true;
	case 0x94: /* deref_size */
		*takes = 1;
		*operand = '1';
		return true;
	case 0x23: /* plus_uconst */
		*takes = 1;
		*operand = 'L';
		return true;
	case 0x1a: /* the operators and, minus, mul, or, plus, shl, shr, shra, xor, then eq, ge, gt, le, lt, ne */
	case 0x1c:
	case 0x1e:
	case 0x21:
	case 0x22:
	case 0x24:
	case 0x25:
	case 0x26:
	case 0x27:
	case 0x29:
	case 0x2a:
	case 0x2b:
	case 0x2c:
	case 0x2d:
	case 0x2e:
		*takes = 2;
		return true;
	default:
		return false;
	}
}

/* Checks a length and the expression of so many bytes behind it, which starts with depth values on its stack. */
static bool check_expression(struct reader *program, int depth)
{
	struct reader r;
	uint64_t bytes, ignored;

	if (!read_leb(program, &bytes))
		return false;
	r.at = program->at;
	if (!skip_bytes(program, bytes))
		return false;
	r.end = program->at;
	while (r.at < r.end) {
		int takes, leaves;
		char operand;

		if (!describe_expression_op(*r.at++, &takes, &leaves, &operand) || depth < takes)
			return false;
		depth += leaves - takes;
		if (depth > DEPTH_MAX || !(operand == 'L' ? read_leb(&r, &ignored) : skip_bytes(&r, (uint64_t)(operand - '0'))))
			return false;
	}
	return depth > 0;
}

/*
 * Returns the operands of an instruction, from DW_CFA_nop on. R is a register, L a LEB128, a digit so many bytes, X an expression that
 * starts with the CFA on its stack, and C one that makes the CFA. "-" means that the instruction is refused. Refused are DW_CFA_set_loc,
 * and DW_CFA_val_offset and _sf, which no compiler emits. libunwind 1.6 does not step over the second operand of these two, and runs it as
 * an instruction.
 */
static const char *operand_kinds_of(unsigned char instruction)
{
	static const char *const known[] = { "", "-", "1", "2", "4", "RL", "R", "R", "R", "RR", "", "", "RL", "R", "L", "C", "RX",
					     "RL", "RL", "L", "-", "-", "RX" };

	if (instruction == 0x2e) /* DW_CFA_GNU_args_size */
		return "L";
	if (instruction == 0x2f) /* DW_CFA_GNU_negative_offset_extended */
		return "RL";
	return instruction < sizeof(known) / sizeof(known[0]) ? known[instruction] : "-";
}

static bool check_operand(struct reader *r, char kind)
{
	uint64_t n;

	switch (kind) {
	case 'R':
		return read_leb(r, &n) && n < CFI_REGISTERS;
	case 'L':
		return read_leb(r, &n);
	case 'X':
		return check_expression(r, 1);
	case 'C':
		return check_expression(r, 0);
	case '-':
		return false;
	default:
		return skip_bytes(r, (uint64_t)(kind - '0'));
	}
}

bool cfi_is_safe(const unsigned char *instructions, size_t bytes, bool *expressions)
{
	struct reader r = { instructions, instructions + bytes };

	if (bytes > PROGRAM_BYTES_MAX)
		return false;
	while (r.at < r.end) {
		unsigned char c = *r.at++;
		const char *kinds = operand_kinds_of(c);

		switch (c >> 6) {
		case 1: /* DW_CFA_advance_loc */
			continue;
		case 3: /* DW_CFA_restore */
			if ((c & 0x3f) >= CFI_REGISTERS)
				return false;
			continue;
		case 2: /* DW_CFA_offset */
			if ((c & 0x3f) >= CFI_REGISTERS)
				return false;
			kinds = "L";
			break;
		}
		for (; *kinds; kinds++) {
			*expressions |= *kinds == 'X' || *kinds == 'C';
			if (!check_operand(&r, *kinds))
				return false;
		}
	}
	return true;
}
