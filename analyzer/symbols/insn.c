/* SPDX-License-Identifier: MIT */
#include "analyzer/symbols/insn.h"

#include "jitreg/base/registers.h"

#include <Zydis/Zydis.h>
#include <stdio.h>
#include <string.h>

static enum insn_kind insn_kind_of_category(ZydisInstructionCategory category)
{
	switch (category) {
	case ZYDIS_CATEGORY_COND_BR:
		return INSN_BRANCH;
	case ZYDIS_CATEGORY_UNCOND_BR:
		return INSN_JUMP;
	case ZYDIS_CATEGORY_CALL:
		return INSN_CALL;
	case ZYDIS_CATEGORY_RET:
		return INSN_RETURN;
	default:
		return INSN_OTHER;
	}
}

bool insn_decode(const void *bytes, size_t nr, uint64_t address, struct insn *out)
{
	ZydisDisassembledInstruction i;

	memset(out, 0, sizeof(*out));
	if (nr == 0)
		return false;
	if (!ZYAN_SUCCESS(ZydisDisassembleIntel(ZYDIS_MACHINE_MODE_LONG_64, address, bytes, nr, &i))) {
		out->bytes = 1;
		snprintf(out->text, sizeof(out->text), ".byte 0x%02x", *(const unsigned char *)bytes);
		return false;
	}
	out->bytes = i.info.length;
	snprintf(out->text, sizeof(out->text), "%s", i.text);
	out->kind = insn_kind_of_category(i.info.meta.category);
	if ((out->kind == INSN_BRANCH || out->kind == INSN_JUMP || out->kind == INSN_CALL) && i.info.operand_count_visible &&
	    i.operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		ZydisCalcAbsoluteAddress(&i.info, &i.operands[0], address, &out->target);
	return true;
}

/* Converts Zydis's number of a register to DWARF's, INSN_NO_REGISTER for none. Returns false if r is neither none nor a general
 * register. */
static bool register_to_dwarf(ZydisRegister r, uint8_t *out)
{
#define DWARF_(name, dwarf, perf, instruction) [instruction] = dwarf,
	static const uint8_t dwarf[] = { REGISTERS(DWARF_) };
#undef DWARF_

	*out = INSN_NO_REGISTER;
	if (r == ZYDIS_REGISTER_NONE)
		return true;
	if (r < ZYDIS_REGISTER_RAX || r > ZYDIS_REGISTER_R15)
		return false;
	*out = dwarf[r - ZYDIS_REGISTER_RAX];
	return true;
}

bool insn_find_operand(const void *bytes, size_t nr, uint64_t address, struct insn_operand *out)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction i;
	ZydisDecoder decoder;

	if (nr == 0 || !ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, nr, &i, operands)))
		return false;
	for (int n = 0; n < i.operand_count_visible; n++) {
		const ZydisDecodedOperand *o = &operands[n];

		if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.type != ZYDIS_MEMOP_TYPE_MEM ||
		    o->mem.segment == ZYDIS_REGISTER_FS || o->mem.segment == ZYDIS_REGISTER_GS)
			continue;
		out->scale = o->mem.scale;
		out->displacement = o->mem.disp.has_displacement ? o->mem.disp.value : 0;
		if (o->mem.base == ZYDIS_REGISTER_RIP) {
			out->base = out->index = INSN_NO_REGISTER;
			out->displacement += (int64_t)(address + i.length);
			return true;
		}
		return register_to_dwarf(o->mem.base, &out->base) && register_to_dwarf(o->mem.index, &out->index);
	}
	return false;
}

/* -------------------------------------------------------------------------------------------------------------- work */

static bool is_division(ZydisMnemonic m)
{
	switch (m) {
#define DIVISIONS(X) \
	X(DIV) X(IDIV) X(DIVSS) X(DIVSD) X(DIVPS) X(DIVPD) X(VDIVSS) X(VDIVSD) X(VDIVPS) X(VDIVPD) \
	X(SQRTSS) X(SQRTSD) X(SQRTPS) X(SQRTPD) X(VSQRTSS) X(VSQRTSD) X(VSQRTPS) X(VSQRTPD) \
	X(FDIV) X(FDIVP) X(FDIVR) X(FDIVRP) X(FIDIV) X(FIDIVR) X(FSQRT) X(FPREM) X(FPREM1)
#define CASE_(name) case ZYDIS_MNEMONIC_##name:
	DIVISIONS(CASE_)
#undef CASE_
		return true;
	default:
		return false;
	}
}

/* These are latencies in cycles, each the longest of processors since 2010 (A. Fog, Instruction tables). */
#define LATENCY_LOAD 7
#define LATENCY_LOCKED 25
#define LATENCY_VECTOR 6
#define LATENCY_X87 100 /* transcendental functions */
#define LATENCY_GATHER 30
#define LATENCY_MULTIPLY 4

static uint8_t latency_of_insn(const ZydisDecodedInstruction *i, const struct insn_work *w)
{
	uint8_t own = 1;

	if (w->divides)
		return 0;
	if (i->attributes & ZYDIS_ATTRIB_HAS_LOCK || i->mnemonic == ZYDIS_MNEMONIC_XCHG)
		own = LATENCY_LOCKED;
	else if (i->meta.category == ZYDIS_CATEGORY_X87_ALU)
		own = LATENCY_X87;
	else if (i->meta.category == ZYDIS_CATEGORY_GATHER || i->meta.category == ZYDIS_CATEGORY_AVX2GATHER)
		own = LATENCY_GATHER;
	else if (i->mnemonic == ZYDIS_MNEMONIC_IMUL || i->mnemonic == ZYDIS_MNEMONIC_MUL || i->mnemonic == ZYDIS_MNEMONIC_MULX)
		own = LATENCY_MULTIPLY;
	else if (i->meta.isa_set >= ZYDIS_ISA_SET_SSE && i->meta.isa_set <= ZYDIS_ISA_SET_SSSE3)
		own = LATENCY_VECTOR;
	else if (i->encoding == ZYDIS_INSTRUCTION_ENCODING_VEX || i->encoding == ZYDIS_INSTRUCTION_ENCODING_EVEX)
		own = LATENCY_VECTOR;
	return (uint8_t)(own + (w->loads ? LATENCY_LOAD : 0));
}

bool insn_read_work(const void *bytes, size_t nr, struct insn_work *out)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction i;
	ZydisDecoder decoder;

	memset(out, 0, sizeof(*out));
	if (nr == 0 || !ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, nr, &i, operands)))
		return false;
	if (i.meta.category == ZYDIS_CATEGORY_NOP || i.meta.category == ZYDIS_CATEGORY_WIDENOP)
		return true;
	for (int n = 0; n < i.operand_count; n++) {
		if (operands[n].type != ZYDIS_OPERAND_TYPE_MEMORY || operands[n].mem.type == ZYDIS_MEMOP_TYPE_AGEN)
			continue;
		out->loads += (operands[n].actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0;
		out->stores += (operands[n].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0;
	}
	out->divides = is_division(i.mnemonic);
	out->repeats = (i.attributes & (ZYDIS_ATTRIB_HAS_REP | ZYDIS_ATTRIB_HAS_REPE | ZYDIS_ATTRIB_HAS_REPNE)) != 0;
	out->latency = latency_of_insn(&i, out);
	return true;
}

/* ------------------------------------------------------------------------------------------------------------- steps */

/* Returns the 64-bit register that r is a part of, or INSN_NO_REGISTER if it is no part of a general register. */
static uint8_t holding_register(ZydisRegister r)
{
	uint8_t n;

	return register_to_dwarf(ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r), &n) ? n : INSN_NO_REGISTER;
}

/* Is the operand a whole general register of 64 bits? If so, sets *n to its number. */
static bool operand_is_whole_register(const ZydisDecodedOperand *o, uint8_t *n)
{
	return o->type == ZYDIS_OPERAND_TYPE_REGISTER && o->size == 64 && register_to_dwarf(o->reg.value, n) && *n != INSN_NO_REGISTER;
}

/* Is the operand memory whose address is a register plus a constant, without a segment? If so, sets *base and *value to these. */
static bool operand_is_near_memory(const ZydisDecodedOperand *o, uint8_t *base, int32_t *value)
{
	int64_t d = o->mem.disp.has_displacement ? o->mem.disp.value : 0;

	if (o->type != ZYDIS_OPERAND_TYPE_MEMORY || o->mem.index != ZYDIS_REGISTER_NONE || d != (int32_t)d ||
	    o->mem.segment == ZYDIS_REGISTER_FS || o->mem.segment == ZYDIS_REGISTER_GS || !register_to_dwarf(o->mem.base, base) ||
	    *base == INSN_NO_REGISTER)
		return false;
	*value = (int32_t)d;
	return true;
}

static bool operand_is_number(const ZydisDecodedOperand *o, int32_t *value)
{
	if (o->type != ZYDIS_OPERAND_TYPE_IMMEDIATE || o->imm.value.s != (int32_t)o->imm.value.s || o->imm.value.s == INT32_MIN)
		return false;
	*value = (int32_t)o->imm.value.s;
	return true;
}

static void read_effect(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o, struct insn_step *out)
{
	enum insn_effect effect = INSN_NOTHING;
	uint8_t to = INSN_NO_REGISTER, from = INSN_NO_REGISTER;
	int32_t value = 0;

	switch (i->mnemonic) {
	case ZYDIS_MNEMONIC_PUSH:
	case ZYDIS_MNEMONIC_PUSHFQ:
	case ZYDIS_MNEMONIC_POP:
	case ZYDIS_MNEMONIC_POPFQ:
		if (i->operand_width != 64)
			return;
		effect = i->mnemonic == ZYDIS_MNEMONIC_PUSH || i->mnemonic == ZYDIS_MNEMONIC_PUSHFQ ? INSN_PUSH : INSN_POP;
		if (!i->operand_count_visible || !operand_is_whole_register(&o[0], &to))
			to = INSN_NO_REGISTER;
		if (i->mnemonic == ZYDIS_MNEMONIC_POP && to == INSN_NO_REGISTER)
			return; /* compilers write no pop into memory */
		out->writes &= (uint16_t)~(1u << 7);
		break;
	case ZYDIS_MNEMONIC_LEAVE:
		if (i->operand_width != 64)
			return;
		effect = INSN_LEAVE;
		break;
	case ZYDIS_MNEMONIC_MOV:
		if (operand_is_whole_register(&o[0], &to) && operand_is_whole_register(&o[1], &from))
			effect = INSN_ADD;
		else if (operand_is_whole_register(&o[0], &to) && operand_is_near_memory(&o[1], &from, &value))
			effect = INSN_LOAD;
		else if (operand_is_near_memory(&o[0], &from, &value) && operand_is_whole_register(&o[1], &to))
			effect = INSN_STORE;
		break;
	case ZYDIS_MNEMONIC_LEA:
		if (operand_is_whole_register(&o[0], &to) && i->address_width == 64 && operand_is_near_memory(&o[1], &from, &value))
			effect = INSN_ADD;
		break;
	case ZYDIS_MNEMONIC_ADD:
	case ZYDIS_MNEMONIC_SUB:
		if (operand_is_whole_register(&o[0], &to) && operand_is_number(&o[1], &value)) {
			effect = INSN_ADD;
			from = to;
			value = i->mnemonic == ZYDIS_MNEMONIC_SUB ? -value : value;
		}
		break;
	default:
		break;
	}
	for (int n = 0; effect == INSN_NOTHING && n < i->operand_count; n++)
		if (o[n].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE && operand_is_near_memory(&o[n], &from, &value)) {
			effect = INSN_WRITE;
			out->memory_bytes = o[n].size / 8;
		}
	if (effect == INSN_NOTHING)
		return;
	out->effect = (uint8_t)effect;
	out->to = to;
	out->from = from;
	out->value = value;
	if (to != INSN_NO_REGISTER && effect != INSN_PUSH && effect != INSN_STORE && effect != INSN_WRITE)
		out->writes &= (uint16_t)~(1u << to);
}

static void read_flow(const ZydisDecodedInstruction *i, const ZydisDecodedOperand *o, uint64_t address, struct insn_step *out)
{
	out->kind = insn_kind_of_category(i->meta.category);
	if (out->kind == INSN_OTHER) {
		out->stops = i->mnemonic == ZYDIS_MNEMONIC_UD2 || i->mnemonic == ZYDIS_MNEMONIC_UD1 || i->mnemonic == ZYDIS_MNEMONIC_UD0 ||
			i->mnemonic == ZYDIS_MNEMONIC_HLT || i->mnemonic == ZYDIS_MNEMONIC_INT3;
		return;
	}
	if (i->operand_count_visible == 0)
		return;
	if (o[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && (i->raw.imm[0].size != 32 || i->raw.imm[0].value.s != 0))
		ZydisCalcAbsoluteAddress(i, &o[0], address, &out->target);
	if (out->kind != INSN_JUMP)
		return;
	out->table = operand_is_whole_register(&o[0], &out->from) ||
		     (o[0].type == ZYDIS_OPERAND_TYPE_MEMORY && o[0].mem.index != ZYDIS_REGISTER_NONE);
}

bool insn_read_step(const void *bytes, size_t nr, uint64_t address, struct insn_step *out)
{
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	ZydisDecodedInstruction i;
	ZydisDecoder decoder;

	memset(out, 0, sizeof(*out));
	out->to = out->from = INSN_NO_REGISTER;
	if (nr == 0 || !ZYAN_SUCCESS(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
	    !ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, nr, &i, operands)))
		return false;
	out->bytes = i.length;
	out->nothing = i.meta.category == ZYDIS_CATEGORY_NOP || i.meta.category == ZYDIS_CATEGORY_WIDENOP ||
		(i.mnemonic == ZYDIS_MNEMONIC_XCHG && i.length == 2 && *(const unsigned char *)bytes == 0x66); /* xchg ax, ax */
	read_flow(&i, operands, address, out);
	if (out->kind != INSN_OTHER && out->kind != INSN_BRANCH)
		return true;
	for (int n = 0; n < i.operand_count; n++) {
		uint8_t written = INSN_NO_REGISTER;

		if (operands[n].type == ZYDIS_OPERAND_TYPE_REGISTER && operands[n].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE)
			written = holding_register(operands[n].reg.value);
		if (written != INSN_NO_REGISTER)
			out->writes |= (uint16_t)(1u << written);
	}
	read_effect(&i, operands, out);
	return true;
}
