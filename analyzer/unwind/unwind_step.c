/* SPDX-License-Identifier: MIT */
/* Makes the steps from a frame to its caller that need no libunwind: by a row (struct cfi_row), and by the frame pointer. */
#include "analyzer/unwind/unwind_internal.h"

struct memory {
	const struct unwind_input *input;
	enum unwind_end end;
};

static bool read_memory(void *context, uint64_t address, uint64_t *word)
{
	struct memory *m = context;

	return stack_read(m->input, address, word, &m->end);
}

enum unwind_end unwind_step_row(const struct cfi_row *row, const struct unwind_input *in, struct unwind_registers *r)
{
	struct memory memory = { in, UNWIND_BROKEN };
	struct cfi_machine machine = { r->value, r->known, read_memory, &memory };
	struct unwind_registers out = { .known = 1u << UNWIND_RSP };
	uint64_t cfa = 0;

	switch (row->cfa.where) {
	case CFI_REGISTER:
		if (!(r->known & 1u << row->cfa.reg))
			return UNWIND_BROKEN;
		cfa = r->value[row->cfa.reg] + (uint64_t)row->cfa.value;
		break;
	case CFI_EXPRESSION:
		if (!cfi_evaluate(row->cfa.expression, row->cfa.expression_end, NULL, &machine, &cfa))
			return memory.end;
		break;
	default:
		return UNWIND_BROKEN;
	}
	for (unsigned i = 0; i < CFI_REGISTERS; i++) {
		const struct cfi_place *p = &row->reg[i];
		uint64_t value = 0;
		bool known = true;

		if (i == CFI_RSP)
			continue;
		switch (p->where) {
		case CFI_SAME:
			known = (SAVED_MASK & r->known & 1u << i) != 0;
			value = r->value[i];
			break;
		case CFI_UNDEFINED:
			known = false;
			break;
		case CFI_AT:
			value = r->value[i];
			known = row->lowered && cfa + (uint64_t)p->value < r->value[UNWIND_RSP] ?
				(SAVED_MASK & r->known & 1u << i) != 0 : read_memory(&memory, cfa + (uint64_t)p->value, &value);
			break;
		case CFI_IS:
			value = cfa + (uint64_t)p->value;
			break;
		case CFI_REGISTER:
			known = (r->known & 1u << p->reg) != 0;
			value = r->value[p->reg];
			break;
		case CFI_EXPRESSION:
			known = cfi_evaluate(p->expression, p->expression_end, &cfa, &machine, &value) &&
				read_memory(&memory, value, &value);
			break;
		case CFI_COMPUTED:
			known = cfi_evaluate(p->expression, p->expression_end, &cfa, &machine, &value);
			break;
		}
		if (!known)
			continue;
		out.value[i] = value;
		out.known |= 1u << i;
	}
	if (!(out.known & 1u << CFI_RETURN))
		return memory.end;
	out.value[UNWIND_RSP] = cfa;
	*r = out;
	return UNWIND_STOPPED;
}

enum frame_pointer_step unwind_step_by_frame_pointer(const struct unwind_input *in, bool in_chain, struct unwind_registers *r,
						      enum unwind_end *end)
{
	uint64_t rbp = r->value[UNWIND_RBP], above, ip;
	bool goes_on;

	*end = UNWIND_NO_INFO;
	if (!(r->known & 1u << UNWIND_RBP) || rbp < r->value[UNWIND_RSP] || rbp % 8)
		return FRAME_POINTER_NONE;
	if (!stack_read(in, rbp, &above, end) || !stack_read(in, rbp + 8, &ip, end)) {
		*end = *end == UNWIND_TRUNCATED ? UNWIND_TRUNCATED : UNWIND_NO_INFO;
		return FRAME_POINTER_NONE;
	}
	goes_on = !above || above > rbp;
	*r = (struct unwind_registers){ .known = 1u << UNWIND_RSP | 1u << UNWIND_RIP };
	r->known |= (unsigned)(goes_on || !in_chain) << UNWIND_RBP;
	r->value[UNWIND_RBP] = above;
	r->value[UNWIND_RSP] = rbp + 16;
	r->value[UNWIND_RIP] = ip;
	return goes_on || in_chain ? FRAME_POINTER_CHAIN : FRAME_POINTER_LAST;
}

#define PUSHED_MAX 7u /* number of words to look at, since up to six preserved registers may lie before the return address */

bool has_return_address(struct knowledge *all, const struct unwind_space *space, const struct unwind_input *in,
			const struct unwind_registers *r)
{
	uint64_t sp = r->value[UNWIND_RSP], word;
	enum unwind_end end;

	for (unsigned i = 0; i < PUSHED_MAX && sp + 8 * i < r->value[UNWIND_RBP] && stack_read(in, sp + 8 * i, &word, &end); i++) {
		struct cfi_program program;
		struct unwind_object o;
		struct fde_index *k;

		memset(&o, 0, sizeof(o));
		space->find(space->context, word - 1, &o);
		if (!o.code)
			continue;
		k = knowledge_get_index(all, &o);
		if (!k || !fde_index_find_program(k, word - o.bias, &program) || program.start != word - o.bias)
			return true; /* the word is a return address; a function's first address would be a pointer to it */
	}
	return false;
}
