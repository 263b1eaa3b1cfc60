/* SPDX-License-Identifier: MIT */
/*
 * A memo keeps one rule per code address in an open-addressed table, whose entries are cache lines. A step from a frame to its caller is
 * one look-up, and a load for the return address and for each register that the code has saved.
 *
 * An entry belongs to an address in an address space, and holds for a time. When other code lies there, the entry is made anew at the next
 * look-up. Nearly all code leaves a frame in one way: the CFA is a register plus a number, and the registers that calls preserve lie at
 * fixed offsets from it (RULE_PLAIN). Other rows (such as those with expressions) are kept whole.
 */
#include "analyzer/unwind/unwind_internal.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#include <stdlib.h>

#define ENTRIES_FIRST 4096u
#define ENTRIES_MAX (1u << 21) /* when half of them are used, or memory runs out, all entries are dropped */
#define ROWS_MAX 65536u

enum rule_kind {
	RULE_NO_INFO,
	RULE_BOTTOM, /* the frame has no caller: the return address is undefined, or the code is at the entry point */
	RULE_PLAIN,
	RULE_ROW,   /* rows[row] */
	RULE_ASK,   /* libunwind makes the step, because there is no row, or no room for it */
};

/* DWARF numbers of the registers that calls preserve. */
#define NR_SAVED 6
static const unsigned char saved_register[NR_SAVED] = { 3, 6, 12, 13, 14, 15 };

struct memo_entry {
	uint64_t address;
	uint64_t from_ns, until_ns; /* until_ns is 0 in a free entry */
	uint32_t space;
	uint32_t note;
	int32_t cfa;		/* RULE_PLAIN: the CFA is cfa_register + cfa */
	union {
		int16_t saved[NR_SAVED]; /* offsets from the CFA */
		uint32_t row;
	};
	int16_t ra;		/* the return address, as an offset from the CFA */
	unsigned char mask;	/* bit n: the register was saved at saved[n]; otherwise it is unchanged */
	unsigned char kind, cfa_register;
	bool code, frame_pointers, signal_frame, lowered;
	bool by_code; /* the rule was made from the instructions (known_code.c) */
	bool unregistered;
	bool no_call; /* address_is_behind_no_call() */
	uint32_t into; /* offset of the address in its function; UINT32_MAX: not known */
};

_Static_assert(sizeof(struct memo_entry) == 64, "an entry is a cache line");

struct memo {
	struct knowledge *all;
	struct libunwind *libunwind;
	struct memo_entry *entry;
	uint32_t nr, capacity;
	struct cfi_row *row;
	uint32_t nr_rows, rows_capacity;
	struct unwind_counts counts;
};

struct memo *memo_create(struct knowledge *all, struct libunwind *l)
{
	struct memo *m = calloc(1, sizeof(*m));

	if (m)
		m->entry = calloc(ENTRIES_FIRST, sizeof(*m->entry));
	if (!m || !m->entry) {
		free(m);
		return NULL;
	}
	m->capacity = ENTRIES_FIRST;
	m->all = all;
	m->libunwind = l;
	return m;
}

void memo_destroy(struct memo *m)
{
	if (!m)
		return;
	free(m->entry);
	free(m->row);
	free(m);
}

struct unwind_counts memo_counts(const struct memo *m)
{
	return m->counts;
}

/* ------------------------------------------------------------------------------------------------------------ rules */

static bool keep_row(struct memo *m, const struct cfi_row *row, struct memo_entry *e)
{
	if (m->nr_rows >= ROWS_MAX || !GROW(m->row, m->nr_rows, m->rows_capacity))
		return false;
	e->row = m->nr_rows;
	m->row[m->nr_rows++] = *row;
	return true;
}

static bool place_is_near_cfa(const struct cfi_place *p)
{
	return p->where == CFI_AT && p->value == (int16_t)p->value;
}

/* Makes a RULE_PLAIN of a row. Returns false if a RULE_PLAIN cannot express it. */
static bool make_plain_rule(const struct cfi_row *row, struct memo_entry *e)
{
	if (row->cfa.where != CFI_REGISTER || row->cfa.value != (int32_t)row->cfa.value || !place_is_near_cfa(&row->reg[CFI_RETURN]))
		return false;
	for (unsigned r = 0; r < CFI_RETURN; r++)
		if (!(SAVED_MASK & 1u << r) && r != CFI_RSP && row->reg[r].where != CFI_SAME && row->reg[r].where != CFI_UNDEFINED)
			return false;
	e->mask = 0;
	for (unsigned i = 0; i < NR_SAVED; i++) {
		const struct cfi_place *p = &row->reg[saved_register[i]];

		if (p->where == CFI_SAME)
			continue;
		if (!place_is_near_cfa(p))
			return false;
		e->mask |= (unsigned char)(1u << i);
		e->saved[i] = (int16_t)p->value;
	}
	e->cfa = (int32_t)row->cfa.value;
	e->cfa_register = (unsigned char)row->cfa.reg;
	e->ra = (int16_t)row->reg[CFI_RETURN].value;
	return true;
}

/* Makes a rule of a row. Returns false if there is no room or memory for it. */
static bool set_rule_of_row(struct memo *m, const struct cfi_row *row, struct memo_entry *e)
{
	e->lowered = row->lowered;
	if (make_plain_rule(row, e))
		e->kind = RULE_PLAIN;
	else if (keep_row(m, row, e))
		e->kind = RULE_ROW;
	else
		return false;
	return true;
}

static void make_address_rule(struct memo *m, const struct unwind_space *space, uint64_t address, struct memo_entry *e)
{
	struct unwind_object o;
	struct cfi_program program;
	struct cfi_row row;
	struct fde_index *k;
	uint64_t function;

	memset(&o, 0, sizeof(o));
	memset(e, 0, sizeof(*e));
	space->find(space->context, address, &o);
	e->address = address;
	e->space = space->number;
	e->from_ns = o.from_ns;
	e->until_ns = o.until_ns;
	/* The range is wrong, so the entry is used for this time only. */
	if (space->time_ns < e->from_ns || space->time_ns >= e->until_ns) {
		e->from_ns = space->time_ns;
		e->until_ns = space->time_ns + 1;
	}
	e->code = o.code;
	e->frame_pointers = o.frame_pointers;
	e->unregistered = o.unregistered;
	e->no_call = address_is_behind_no_call(&o, address);
	e->kind = RULE_NO_INFO;
	function = knowledge_function_start(m->all, &o, address);
	e->into = function && address - function < UINT32_MAX ? (uint32_t)(address - function) : UINT32_MAX;
	m->counts.rules++;
	k = knowledge_get_index(m->all, &o);
	if (!k || !fde_index_find_program(k, address - o.bias, &program)) {
		if (o.elf && elf_is_entry(o.elf, address - o.bias)) {
			e->kind = RULE_BOTTOM;
			return;
		}
		e->frame_pointers = knowledge_has_frame_pointers(m->all, &o, address);
		e->by_code = knowledge_read_code_row(m->all, &o, address, &row) && set_rule_of_row(m, &row, e);
		return;
	}
	e->signal_frame = program.signal_frame;
	if (!cfi_row_at(&program, address - o.bias, &row)) {
		e->kind = RULE_ASK;
		return;
	}
	if (row.reg[CFI_RETURN].where == CFI_UNDEFINED)
		e->kind = RULE_BOTTOM;
	else if (!set_rule_of_row(m, &row, e))
		e->kind = RULE_ASK;
}

/* ------------------------------------------------------------------------------------------------------------ table */

static uint32_t slot_of_address(const struct memo *m, uint64_t address, uint32_t space)
{
	return (uint32_t)hash_pair(address, space) & (m->capacity - 1);
}

static void grow_or_clear_entries(struct memo *m)
{
	uint32_t capacity = m->capacity;
	struct memo_entry *old = m->entry, *bigger = capacity < ENTRIES_MAX ? calloc(2 * (size_t)capacity, sizeof(*bigger)) : NULL;

	if (!bigger) {
		memset(m->entry, 0, capacity * sizeof(*m->entry));
		m->nr = m->nr_rows = 0;
		return;
	}
	m->entry = bigger;
	m->capacity = 2 * capacity;
	for (uint32_t i = 0; i < capacity; i++)
		if (old[i].until_ns) {
			uint32_t at = slot_of_address(m, old[i].address, old[i].space);

			while (bigger[at].until_ns)
				at = (at + 1) & (m->capacity - 1);
			bigger[at] = old[i];
		}
	free(old);
}

/* Returns the entry of an address, and makes it if there is none that holds at the time. The entry is valid until the next call. */
static inline struct memo_entry *get_entry(struct memo *m, const struct unwind_space *space, uint64_t address)
{
	uint32_t at = slot_of_address(m, address, space->number);
	struct memo_entry *e;

	for (;; at = (at + 1) & (m->capacity - 1)) {
		e = &m->entry[at];
		if (!e->until_ns)
			break;
		if (e->address == address && e->space == space->number) {
			if (space->time_ns < e->from_ns || space->time_ns >= e->until_ns)
				make_address_rule(m, space, address, e);
			return e;
		}
	}
	if (2 * m->nr >= m->capacity) {
		grow_or_clear_entries(m);
		at = slot_of_address(m, address, space->number);
		while (m->entry[at].until_ns)
			at = (at + 1) & (m->capacity - 1);
		e = &m->entry[at];
	}
	m->nr++;
	make_address_rule(m, space, address, e);
	return e;
}

/* ------------------------------------------------------------------------------------------------------------ steps */

static inline enum unwind_end unwind_step_plain(const struct memo_entry *e, const struct unwind_input *in, struct unwind_registers *r)
{
	uint64_t cfa = r->value[e->cfa_register] + (uint64_t)(int64_t)e->cfa, sp = r->value[UNWIND_RSP];
	enum unwind_end end;

	if (!(r->known & 1u << e->cfa_register))
		return UNWIND_BROKEN;
	if (!stack_read(in, cfa + (uint64_t)(int64_t)e->ra, &r->value[UNWIND_RIP], &end))
		return end;
	r->known &= SAVED_MASK;
	for (unsigned mask = e->mask; mask; mask &= mask - 1) {
		unsigned i = (unsigned)__builtin_ctz(mask), reg = saved_register[i];
		uint64_t slot = cfa + (uint64_t)(int64_t)e->saved[i];

		if (slot < sp && e->lowered) /* the register has been restored already */
			continue;
		if (stack_read(in, slot, &r->value[reg], &end))
			r->known |= 1u << reg;
		else
			r->known &= ~(1u << reg);
	}
	r->value[UNWIND_RSP] = cfa;
	r->known |= 1u << UNWIND_RSP | 1u << UNWIND_RIP;
	return UNWIND_STOPPED;
}

static inline uint64_t function_of_entry(const struct memo_entry *e)
{
	return e->into == UINT32_MAX ? 0 : e->address - e->into;
}

uint64_t memo_function(struct memo *m, const struct unwind_space *space, uint64_t address)
{
	return function_of_entry(get_entry(m, space, address));
}

enum unwind_end memo_walk(struct memo *m, const struct unwind_space *space, const struct unwind_input *input,
			  bool (*frame)(void *context, const struct unwind_frame *f), void *context)
{
	enum frame_pointer_step guess = FRAME_POINTER_NONE; /* how the frame pointer led to this frame, if it did */
	const int most = unwind_frames_max(input);
	bool any_guessed = false;
	struct unwind_frame f;
	struct memo_entry *e;

	f.ip = f.address = input->registers.value[UNWIND_RIP];
	f.registers = input->registers;
	f.found = UNWIND_BY_INFORMATION;
	f.same_end_from_ns = f.same_end_until_ns = 0;
	for (f.depth = 0; f.depth < most; f.depth++) {
		enum unwind_end end = UNWIND_STOPPED;
		uint64_t sp = f.registers.value[UNWIND_RSP];

		e = get_entry(m, space, f.address);
		/* The address before ip is no code, or not the end of a call. */
		if (f.found != UNWIND_BY_INFORMATION && (!e->code || e->no_call))
			return UNWIND_NO_INFO;
		if (guess == FRAME_POINTER_LAST && e->kind == RULE_NO_INFO)
			return UNWIND_NO_INFO;
		f.note = &e->note;
		f.function = function_of_entry(e);
		if (f.depth == 0 && (e->kind == RULE_PLAIN || e->kind == RULE_NO_INFO || e->kind == RULE_BOTTOM)) {
			f.same_end_from_ns = e->from_ns; /* with these kinds, only the stack leads to a caller */
			f.same_end_until_ns = e->until_ns;
		}
		if (!frame(context, &f))
			return UNWIND_STOPPED;
		guess = FRAME_POINTER_NONE;
		switch (e->kind) {
		case RULE_PLAIN:
			end = unwind_step_plain(e, input, &f.registers);
			break;
		case RULE_ROW:
			end = unwind_step_row(&m->row[e->row], input, &f.registers);
			break;
		case RULE_ASK:
			m->counts.steps++;
			end = libunwind_step(m->libunwind, space, input, f.address, &f.registers);
			break;
		case RULE_BOTTOM:
			return UNWIND_COMPLETE;
		case RULE_NO_INFO:
			if (any_guessed && e->frame_pointers && is_last_by_frame_pointer(&f.registers))
				return UNWIND_COMPLETE;
			if ((e->frame_pointers || (any_guessed && e->code)) &&
			    !(e->unregistered && has_return_address(m->all, space, input, &f.registers)))
				guess = unwind_step_by_frame_pointer(input, any_guessed, &f.registers, &end);
			if (guess == FRAME_POINTER_NONE)
				return end == UNWIND_STOPPED ? UNWIND_NO_INFO : end;
			end = UNWIND_STOPPED;
			break;
		}
		if (end != UNWIND_STOPPED)
			return end;
		m->counts.frames++;
		f.found = guess ? UNWIND_BY_FRAME_POINTER : e->by_code ? UNWIND_BY_CODE : UNWIND_BY_INFORMATION;
		any_guessed |= guess != FRAME_POINTER_NONE;
		f.ip = f.registers.value[UNWIND_RIP];
		if (f.ip == 0)
			return UNWIND_COMPLETE;
		if (f.registers.value[UNWIND_RSP] <= sp)
			return UNWIND_BROKEN;
		f.address = f.ip - !e->signal_frame;
	}
	return UNWIND_BROKEN;
}
