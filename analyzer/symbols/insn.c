/* SPDX-License-Identifier: MIT */
#include "insn.h"

#include <Zydis/Zydis.h>
#include <stdio.h>
#include <string.h>

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
	switch (i.info.meta.category) {
	case ZYDIS_CATEGORY_COND_BR:
		out->kind = INSN_BRANCH;
		break;
	case ZYDIS_CATEGORY_UNCOND_BR:
		out->kind = INSN_JUMP;
		break;
	case ZYDIS_CATEGORY_CALL:
		out->kind = INSN_CALL;
		break;
	case ZYDIS_CATEGORY_RET:
		out->kind = INSN_RETURN;
		break;
	default:
		break;
	}
	if ((out->kind == INSN_BRANCH || out->kind == INSN_JUMP || out->kind == INSN_CALL) && i.info.operand_count_visible &&
	    i.operands[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE)
		ZydisCalcAbsoluteAddress(&i.info, &i.operands[0], address, &out->target);
	return true;
}

/* Zydis has the registers in the processor's order, DWARF in its own. */
static bool to_dwarf(ZydisRegister r, uint8_t *out)
{
	static const uint8_t dwarf[] = { 0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15 };

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
		return to_dwarf(o->mem.base, &out->base) && to_dwarf(o->mem.index, &out->index);
	}
	return false;
}
