/* SPDX-License-Identifier: MIT */
/*
 * A memo keeps one rule per code address in an open-addressed table, whose entries are cache lines. A step from a frame to its caller is
 * one look-up, and a load for the return address and for each register that the code has saved.
 *
 * An entry belongs to a place in an image, for all address spaces that map it (unwind_object.alike), or to an address in one space, for a
 * time. When other code lies there, the entry is made anew at the next look-up. A build starts one compiler a thousand times, and its rules
 * are made once.
 *
 * Nearly all code leaves a frame in one way: the CFA is a register plus a number, and the registers that calls preserve lie at fixed
 * offsets from it (RULE_PLAIN). Other rows (such as those with expressions) are kept whole.
 */
#include "analyzer/unwind/unwind_internal.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/base/sorted.h"

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
	uint64_t address; /* in an image: less its bias */
	uint64_t from_ns, until_ns; /* until_ns is 0 in a free entry */
	uint32_t space; /* number of the space, or IN_IMAGE and that of the image */
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

#define IN_IMAGE (1u << 31)

/* A part of a space in which an image lies that other spaces have as well. */
struct memo_range {
	uint64_t start, bytes, bias;
	uint64_t from_ns, until_ns;
	uint32_t image;
};

struct memo_space {
	ARRAY(struct memo_range) ranges; /* sorted by start; they do not overlap */
	uint32_t last; /* index of the range that was found last */
	uint64_t gap, gap_bytes; /* the addresses between two ranges where the last one without a range lay */
};

struct memo {
	struct knowledge *all;
	struct libunwind *libunwind;
	struct memo_entry *entry;
	uint32_t nr, capacity;
	ARRAY(struct cfi_row) rows;
	struct unwind_counts counts;
	struct memo_space *spaces; /* by number */
	uint32_t nr_spaces;
	struct memo_space nowhere; /* used if memory runs out */
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
	for (uint32_t i = 0; i < m->nr_spaces; i++)
		free(m->spaces[i].ranges.at);
	free(m->nowhere.ranges.at);
	free(m->spaces);
	free(m->entry);
	free(m->rows.at);
	free(m);
}

struct unwind_counts memo_counts(const struct memo *m)
{
	return m->counts;
}

/* ----------------------------------------------------------------------------------------------------------- ranges */

static struct memo_space *get_space(struct memo *m, uint32_t number)
{
	uint32_t more = 2 * m->nr_spaces > number ? 2 * m->nr_spaces : number + 1;
	struct memo_space *bigger;

	if (number < m->nr_spaces)
		return &m->spaces[number];
	bigger = number < IN_IMAGE ? realloc(m->spaces, more * sizeof(*bigger)) : NULL;
	if (!bigger)
		return &m->nowhere;
	memset(bigger + m->nr_spaces, 0, (more - m->nr_spaces) * sizeof(*bigger));
	m->spaces = bigger;
	m->nr_spaces = more;
	return &m->spaces[number];
}

static inline bool range_holds(const struct memo_range *r, uint64_t address, uint64_t time_ns)
{
	return address - r->start < r->bytes && time_ns >= r->from_ns && time_ns < r->until_ns;
}

static const struct memo_range *search_range(struct memo_space *s, uint64_t address, uint64_t time_ns)
{
	const uint32_t up_to = SORTED_COUNT(s->ranges.nr, i, s->ranges.at[i].start <= address);
	const struct memo_range *before = up_to ? &s->ranges.at[up_to - 1] : NULL;

	if (before && address - before->start < before->bytes) {
		s->last = up_to - 1;
		return range_holds(before, address, time_ns) ? before : NULL;
	}
	s->gap = before ? before->start + before->bytes : 0;
	s->gap_bytes = (up_to < s->ranges.nr ? s->ranges.at[up_to].start : UINT64_MAX) - s->gap;
	return NULL;
}

/* Returns the range that an address lies in at a time, or NULL. The range is valid until the next add_range(). */
static inline const struct memo_range *find_range(struct memo_space *s, uint64_t address, uint64_t time_ns)
{
	if (s->last < s->ranges.nr && range_holds(&s->ranges.at[s->last], address, time_ns))
		return &s->ranges.at[s->last];
	return address - s->gap < s->gap_bytes ? NULL : search_range(s, address, time_ns);
}

/* Adds the range of an object in place of those that it overlaps, which are of other times. Returns false if memory runs out, or if the
 * object is in no range at that time. */
static bool add_range(struct memo_space *s, const struct unwind_object *o, uint64_t address, uint64_t time_ns)
{
	const struct memo_range new = { o->alike_start, o->alike_end - o->alike_start, o->bias, o->from_ns, o->until_ns, o->alike };
	uint32_t first, behind;

	if (!o->alike || o->alike >= IN_IMAGE || !range_holds(&new, address, time_ns) || !ARRAY_GROW(s->ranges))
		return false;
	first = SORTED_COUNT(s->ranges.nr, i, s->ranges.at[i].start + s->ranges.at[i].bytes <= new.start);
	behind = SORTED_COUNT(s->ranges.nr, i, s->ranges.at[i].start < o->alike_end);
	memmove(s->ranges.at + first + 1, s->ranges.at + behind, (s->ranges.nr - behind) * sizeof(new));
	s->ranges.nr -= behind - first;
	s->ranges.at[first] = new;
	s->ranges.nr++;
	s->last = first;
	s->gap_bytes = 0;
	return true;
}

/* ------------------------------------------------------------------------------------------------------------ rules */

static bool keep_row(struct memo *m, const struct cfi_row *row, struct memo_entry *e)
{
	if (m->rows.nr >= ROWS_MAX || !ARRAY_GROW(m->rows))
		return false;
	e->row = m->rows.nr;
	m->rows.at[m->rows.nr++] = *row;
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

/* Entries are found by an address of a space, or by the place in an image. */
struct memo_key {
	uint64_t address;
	uint32_t space;
};

static inline struct memo_key key_of_address(const struct unwind_space *space, const struct memo_range *r, uint64_t address)
{
	return r ? (struct memo_key){ address - r->bias, r->image | IN_IMAGE } : (struct memo_key){ address, space->number };
}

/* The range of what is in an image has the times. */
static void set_time_of_rule(const struct unwind_space *space, const struct unwind_object *o, struct memo_entry *e)
{
	e->from_ns = o->from_ns;
	e->until_ns = o->until_ns;
	if (e->space & IN_IMAGE) {
		e->from_ns = 0;
		e->until_ns = UINT64_MAX;
	} else if (space->time_ns < e->from_ns || space->time_ns >= e->until_ns) { /* that is wrong, so it is used for this time only */
		e->from_ns = space->time_ns;
		e->until_ns = space->time_ns + 1;
	}
}

static void make_address_rule(struct memo *m, const struct unwind_space *space, const struct unwind_object *o, uint64_t address,
			      struct memo_key key, struct memo_entry *e)
{
	struct cfi_program program;
	struct cfi_row row;
	struct fde_index *k;
	uint64_t function;

	memset(e, 0, sizeof(*e));
	e->address = key.address;
	e->space = key.space;
	set_time_of_rule(space, o, e);
	e->code = o->code;
	e->frame_pointers = o->frame_pointers;
	e->unregistered = o->unregistered;
	e->no_call = address_is_behind_no_call(o, address);
	e->kind = RULE_NO_INFO;
	function = knowledge_function_start(m->all, o, address);
	e->into = function && address - function < UINT32_MAX ? (uint32_t)(address - function) : UINT32_MAX;
	m->counts.rules++;
	k = knowledge_get_index(m->all, o);
	if (!k || !fde_index_find_program(k, address - o->bias, &program)) {
		if (o->elf && elf_is_entry(o->elf, address - o->bias)) {
			e->kind = RULE_BOTTOM;
			return;
		}
		e->frame_pointers = knowledge_has_frame_pointers(m->all, o, address);
		e->by_code = knowledge_read_code_row(m->all, o, address, &row) && set_rule_of_row(m, &row, e);
		return;
	}
	e->signal_frame = program.signal_frame;
	if (!cfi_row_at(&program, address - o->bias, &row)) {
		e->kind = RULE_ASK;
		return;
	}
	if (row.reg[CFI_RETURN].where == CFI_UNDEFINED)
		e->kind = RULE_BOTTOM;
	else if (!set_rule_of_row(m, &row, e))
		e->kind = RULE_ASK;
}

/* ------------------------------------------------------------------------------------------------------------ table */

static uint32_t slot_of_key(const struct memo *m, struct memo_key key)
{
	return (uint32_t)hash_pair(key.address, key.space) & (m->capacity - 1);
}

static void grow_or_clear_entries(struct memo *m)
{
	uint32_t capacity = m->capacity;
	struct memo_entry *old = m->entry, *bigger = capacity < ENTRIES_MAX ? calloc(2 * (size_t)capacity, sizeof(*bigger)) : NULL;

	if (!bigger) {
		memset(m->entry, 0, capacity * sizeof(*m->entry));
		m->nr = m->rows.nr = 0;
		return;
	}
	m->entry = bigger;
	m->capacity = 2 * capacity;
	for (uint32_t i = 0; i < capacity; i++)
		if (old[i].until_ns) {
			uint32_t at = slot_of_key(m, (struct memo_key){ old[i].address, old[i].space });

			while (bigger[at].until_ns)
				at = (at + 1) & (m->capacity - 1);
			bigger[at] = old[i];
		}
	free(old);
}

/* Returns the entry of a key, or a free one, which is to be filled. */
static struct memo_entry *find_entry(struct memo *m, struct memo_key key)
{
	uint32_t at = slot_of_key(m, key);

	while (m->entry[at].until_ns && (m->entry[at].address != key.address || m->entry[at].space != key.space))
		at = (at + 1) & (m->capacity - 1);
	return &m->entry[at];
}

static struct memo_entry *add_entry(struct memo *m, struct memo_space *s, const struct unwind_space *space, uint64_t address)
{
	const struct memo_range *r = find_range(s, address, space->time_ns);
	struct unwind_object o;
	struct memo_entry *e;
	struct memo_key key;

	memset(&o, 0, sizeof(o));
	space->find(space->context, address, &o);
	if (!r && add_range(s, &o, address, space->time_ns))
		r = &s->ranges.at[s->last];
	key = key_of_address(space, r, address);
	e = find_entry(m, key);
	if (r && e->until_ns) /* another space has asked */
		return e;
	if (!e->until_ns && 2 * m->nr >= m->capacity) {
		grow_or_clear_entries(m);
		e = find_entry(m, key);
	}
	m->nr += !e->until_ns;
	make_address_rule(m, space, &o, address, key, e);
	return e;
}

/* Returns the entry of an address, and makes it if there is none that holds at the time. The entry is valid until the next call. */
static inline struct memo_entry *get_entry(struct memo *m, struct memo_space *s, const struct unwind_space *space, uint64_t address)
{
	struct memo_entry *e = find_entry(m, key_of_address(space, find_range(s, address, space->time_ns), address));

	if (e->until_ns && space->time_ns >= e->from_ns && space->time_ns < e->until_ns)
		return e;
	return add_entry(m, s, space, address);
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

static inline uint64_t function_of_entry(const struct memo_entry *e, uint64_t address)
{
	return e->into == UINT32_MAX ? 0 : address - e->into;
}

uint64_t memo_function(struct memo *m, const struct unwind_space *space, uint64_t address)
{
	return function_of_entry(get_entry(m, get_space(m, space->number), space, address), address);
}

enum unwind_end memo_walk(struct memo *m, const struct unwind_space *space, const struct unwind_input *input,
			  bool (*frame)(void *context, const struct unwind_frame *f), void *context)
{
	enum frame_pointer_step guess = FRAME_POINTER_NONE; /* how the frame pointer led to this frame, if it did */
	struct memo_space *const s = get_space(m, space->number);
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

		e = get_entry(m, s, space, f.address);
		/* The address before ip is no code, or not the end of a call. */
		if (f.found != UNWIND_BY_INFORMATION && (!e->code || e->no_call))
			return UNWIND_NO_INFO;
		if (guess == FRAME_POINTER_LAST && e->kind == RULE_NO_INFO)
			return UNWIND_NO_INFO;
		f.note = &e->note;
		f.function = function_of_entry(e, f.address);
		if (f.depth == 0 && (e->kind == RULE_PLAIN || e->kind == RULE_NO_INFO || e->kind == RULE_BOTTOM)) {
			const struct memo_range *r = e->space & IN_IMAGE ? &s->ranges.at[s->last] : NULL;

			f.same_end_from_ns = r ? r->from_ns : e->from_ns; /* with these kinds, only the stack leads to a caller */
			f.same_end_until_ns = r ? r->until_ns : e->until_ns;
		}
		if (!frame(context, &f))
			return UNWIND_STOPPED;
		guess = FRAME_POINTER_NONE;
		switch (e->kind) {
		case RULE_PLAIN:
			end = unwind_step_plain(e, input, &f.registers);
			break;
		case RULE_ROW:
			end = unwind_step_row(&m->rows.at[e->row], input, &f.registers);
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
