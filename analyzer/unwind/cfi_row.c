/* SPDX-License-Identifier: MIT */
/*
 * Runs a call-frame program up to an address. cfi_is_safe() has found that its registers exist and its operands end inside of it. Every
 * read checks for the end nevertheless.
 */
#include "analyzer/unwind/cfi.h"

#include "jitreg/base/leb128.h"

#include <string.h>

#define REMEMBERED_MAX 8 /* compilers nest remembered states once */

struct machine {
	const struct cfi_program *p;
	uint64_t address, at; /* address: the wanted one; at: the one that the program has reached */
	struct cfi_row row, first;
	struct cfi_row remembered[REMEMBERED_MAX];
	unsigned nr_remembered;
	bool in_initial, lowered;
};

struct operands {
	const unsigned char *at, *end;
	bool bad;
};

static uint64_t read_uleb(struct operands *o)
{
	uint64_t u = 0;

	o->bad |= !leb128_take(&o->at, o->end, &u);
	return u;
}

static int64_t read_sleb(struct operands *o)
{
	int64_t s = 0;

	o->bad |= !leb128_take_signed(&o->at, o->end, &s);
	return s;
}

static uint64_t read_fixed_bytes(struct operands *o, size_t bytes)
{
	uint64_t u = 0;

	if ((size_t)(o->end - o->at) < bytes) {
		o->bad = true;
		return 0;
	}
	memcpy(&u, o->at, bytes);
	o->at += bytes;
	return u;
}

static unsigned read_register_number(struct operands *o)
{
	uint64_t r = read_uleb(o);

	o->bad |= r >= CFI_REGISTERS;
	return o->bad ? 0 : (unsigned)r;
}

static struct cfi_place read_expression(struct operands *o, enum cfi_where where)
{
	struct cfi_place p = { .where = where };
	uint64_t bytes = read_uleb(o);

	if (o->bad || bytes > (size_t)(o->end - o->at)) {
		o->bad = true;
		return p;
	}
	p.expression = o->at;
	p.expression_end = o->at += bytes;
	return p;
}

static int64_t scale_by_data_factor(const struct machine *m, uint64_t n)
{
	return (int64_t)(n * (uint64_t)m->p->data_factor);
}

static void set_register_place(struct machine *m, unsigned reg, enum cfi_where where, int64_t value)
{
	m->row.reg[reg] = (struct cfi_place){ .where = where, .value = value };
}

/* Executes an instruction that has no operand in its first byte. */
static void execute_cfi_instruction(struct machine *m, unsigned char instruction, struct operands *o)
{
	unsigned reg;

	switch (instruction) {
	case 0x00: /* nop */
		break;
	case 0x02: /* advance_loc1, 2, 4 */
		m->at += read_fixed_bytes(o, 1) * m->p->code_factor;
		break;
	case 0x03:
		m->at += read_fixed_bytes(o, 2) * m->p->code_factor;
		break;
	case 0x04:
		m->at += read_fixed_bytes(o, 4) * m->p->code_factor;
		break;
	case 0x05: /* offset_extended, offset_extended_sf */
		reg = read_register_number(o);
		set_register_place(m, reg, CFI_AT, scale_by_data_factor(m, read_uleb(o)));
		break;
	case 0x11:
		reg = read_register_number(o);
		set_register_place(m, reg, CFI_AT, scale_by_data_factor(m, (uint64_t)read_sleb(o)));
		break;
	case 0x2f: /* GNU_negative_offset_extended */
		reg = read_register_number(o);
		set_register_place(m, reg, CFI_AT, -scale_by_data_factor(m, read_uleb(o)));
		break;
	case 0x06: /* restore_extended */
		reg = read_register_number(o);
		m->row.reg[reg] = m->first.reg[reg];
		break;
	case 0x07: /* undefined, same_value */
		set_register_place(m, read_register_number(o), CFI_UNDEFINED, 0);
		break;
	case 0x08:
		set_register_place(m, read_register_number(o), CFI_SAME, 0);
		break;
	case 0x09: /* register */
		reg = read_register_number(o);
		m->row.reg[reg] = (struct cfi_place){ .where = CFI_REGISTER, .reg = read_register_number(o) };
		break;
	case 0x0a: /* remember_state, restore_state */
		o->bad |= m->nr_remembered == REMEMBERED_MAX;
		if (!o->bad)
			m->remembered[m->nr_remembered++] = m->row;
		break;
	case 0x0b:
		o->bad |= m->nr_remembered == 0;
		if (!o->bad)
			m->row = m->remembered[--m->nr_remembered];
		break;
	case 0x0c: /* def_cfa, def_cfa_sf, def_cfa_register, def_cfa_offset, def_cfa_offset_sf, def_cfa_expression */
		reg = read_register_number(o);
		m->row.cfa = (struct cfi_place){ .where = CFI_REGISTER, .reg = reg, .value = (int64_t)read_uleb(o) };
		break;
	case 0x12:
		reg = read_register_number(o);
		m->row.cfa =
			(struct cfi_place){ .where = CFI_REGISTER, .reg = reg, .value = scale_by_data_factor(m, (uint64_t)read_sleb(o)) };
		break;
	case 0x0d:
		o->bad |= m->row.cfa.where != CFI_REGISTER;
		m->row.cfa.reg = read_register_number(o);
		break;
	case 0x0e:
		o->bad |= m->row.cfa.where != CFI_REGISTER;
		m->row.cfa.value = (int64_t)read_uleb(o);
		break;
	case 0x13:
		o->bad |= m->row.cfa.where != CFI_REGISTER;
		m->row.cfa.value = scale_by_data_factor(m, (uint64_t)read_sleb(o));
		break;
	case 0x0f:
		m->row.cfa = read_expression(o, CFI_EXPRESSION);
		break;
	case 0x10: /* expression, val_expression */
		reg = read_register_number(o);
		m->row.reg[reg] = read_expression(o, CFI_EXPRESSION);
		break;
	case 0x16:
		reg = read_register_number(o);
		m->row.reg[reg] = read_expression(o, CFI_COMPUTED);
		break;
	case 0x14: /* val_offset, val_offset_sf */
		reg = read_register_number(o);
		set_register_place(m, reg, CFI_IS, scale_by_data_factor(m, read_uleb(o)));
		break;
	case 0x15:
		reg = read_register_number(o);
		set_register_place(m, reg, CFI_IS, scale_by_data_factor(m, (uint64_t)read_sleb(o)));
		break;
	case 0x2e: /* GNU_args_size */
		read_uleb(o);
		break;
	default:
		o->bad = true;
	}
}

static bool execute_cfi_program(struct machine *m, const unsigned char *at, const unsigned char *end)
{
	struct operands o = { at, end, false };

	while (o.at < o.end && !o.bad) {
		unsigned char c = *o.at++;

		switch (c >> 6) {
		case 1: /* advance_loc */
			m->at += (c & 0x3f) * m->p->code_factor;
			break;
		case 2: /* offset */
			o.bad |= (c & 0x3f) >= CFI_REGISTERS;
			if (!o.bad)
				set_register_place(m, c & 0x3f, CFI_AT, scale_by_data_factor(m, read_uleb(&o)));
			break;
		case 3: /* restore */
			o.bad |= (c & 0x3f) >= CFI_REGISTERS;
			if (!o.bad)
				m->row.reg[c & 0x3f] = m->first.reg[c & 0x3f];
			break;
		default:
			execute_cfi_instruction(m, c, &o);
		}
		/* The next row begins here, and none of its instructions has been run yet. */
		if (!m->in_initial && m->at > m->address)
			return !o.bad;
		m->lowered |= m->row.cfa.where != CFI_REGISTER || m->row.cfa.reg != CFI_RSP || m->row.cfa.value != 8;
	}
	return !o.bad;
}

bool cfi_row_at(const struct cfi_program *p, uint64_t address, struct cfi_row *out)
{
	struct machine m;

	memset(&m.row, 0, sizeof(m.row));
	m.row.cfa.where = CFI_UNDEFINED;
	m.p = p;
	m.address = address;
	m.at = p->start;
	m.nr_remembered = 0;
	m.in_initial = true;
	m.lowered = false;
	m.first = m.row;
	if (!execute_cfi_program(&m, p->initial, p->initial_end))
		return false;
	m.first = m.row;
	m.at = p->start;
	m.in_initial = m.lowered = false;
	if (!execute_cfi_program(&m, p->instructions, p->instructions_end))
		return false;
	*out = m.row;
	out->lowered = m.lowered;
	return true;
}
