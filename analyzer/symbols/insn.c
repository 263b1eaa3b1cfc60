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
