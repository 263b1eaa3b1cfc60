/* SPDX-License-Identifier: MIT */
#include "analyzer/unwind/prologue_analysis.h"

#include "analyzer/symbols/insn.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/sorted.h"

#include <stdlib.h>
#include <string.h>

#define RSP 7
#define ENTRY_RSP (-8)	       /* at the first instruction, when the frame is only the return address */
#define FARTHEST (1 << 28)     /* larger numbers are not offsets in a frame */
#define NODES_MAX (1u << 18)
#define STEPS_A_NODE 24u       /* if more steps are needed, the function is not understood; most instructions take one or two */
#define RESTARTS_MAX 64

static const uint8_t saved_register[CODE_NR_SAVED] = { 3, 6, 12, 13, 14, 15 };
#define CALL_CLOBBERS (1u << 0 | 1u << 1 | 1u << 2 | 1u << 4 | 1u << 5 | 0xfu << 8)

/* A node is an instruction. reached: a path leads to it. */
struct node {
	uint32_t offset;
	uint32_t caller; /* 1 + the node of the call just before, if no other path leads here */
	bool reached, waits;
	bool no_return; /* a call that does not return */
	struct insn_step step;
	struct code_state state; /* before the instruction */
};

/* This is the state of the analysis of one function, which is kept only until its rows are made. */
struct prologue_reading {
	const unsigned char *code;
	uint32_t bytes;
	uint32_t *at; /* 1 + the node at each offset */
	ARRAY(struct node) nodes;
	ARRAY(uint32_t) waiting; /* nodes whose state has changed, and which are still to be followed */
	ARRAY(uint32_t) tables; /* nodes of jumps that may be by a table */
	uint64_t steps; /* work done; see STEPS_A_NODE */
	bool not_understood, restart;
};

/* Rows are kept in this form. Places are sorted by offset, and neighbours that have the same state share it. */
struct prologue_rows {
	struct code_place {
		uint32_t offset, bytes, state;
	} *place;
	uint32_t nr_places, nr_states;
	struct code_state *state;
};

static int saved_index(uint8_t reg)
{
	for (int i = 0; i < CODE_NR_SAVED; i++)
		if (saved_register[i] == reg)
			return i;
	return -1;
}

static bool is_frame_offset(int32_t v)
{
	return v != CODE_UNKNOWN && v != CODE_CALLERS;
}

static int32_t add_frame_offsets(int32_t a, int32_t b)
{
	int64_t v = (int64_t)a + b;

	return is_frame_offset(a) && v < FARTHEST && v > -FARTHEST ? (int32_t)v : CODE_UNKNOWN;
}

/* ------------------------------------------------------------------------------------------------------ instructions */

/* Forgets the registers that were saved in bytes of the frame that are overwritten. */
static void forget_memory(struct prologue_reading *r, struct code_state *s, int32_t at, int32_t bytes)
{
	for (int i = 0; is_frame_offset(at) && i < CODE_NR_SAVED; i++)
		if (s->slot[i] != CODE_UNKNOWN && s->slot[i] < at + bytes && at < s->slot[i] + 8)
			s->slot[i] = CODE_UNKNOWN;
	if (is_frame_offset(at) && at < 0 && at + bytes > -8) /* the return address is overwritten */
		r->not_understood = true;
}

static void store_register_to_frame(struct prologue_reading *r, struct code_state *s, int32_t at, uint8_t reg)
{
	int i = reg == INSN_NO_REGISTER ? -1 : saved_index(reg);
	bool callers = i >= 0 && s->reg[reg] == CODE_CALLERS;
	int32_t before = i >= 0 ? s->slot[i] : CODE_UNKNOWN;

	forget_memory(r, s, at, 8);
	if (callers && is_frame_offset(at) && at <= -16)
		s->slot[i] = before == CODE_UNKNOWN ? at : before;
}

static void load_register_from_frame(struct code_state *s, int32_t at, uint8_t reg)
{
	int i = reg == INSN_NO_REGISTER ? -1 : saved_index(reg);

	if (reg != INSN_NO_REGISTER)
		s->reg[reg] = i >= 0 && is_frame_offset(at) && s->slot[i] == at ? CODE_CALLERS : CODE_UNKNOWN;
}

/* Sets rsp. Registers saved below the stack pointer are forgotten, because the memory there does not keep its values. */
static void set_rsp(struct code_state *s, int32_t value)
{
	s->reg[RSP] = value;
	for (int i = 0; value != CODE_UNKNOWN && i < CODE_NR_SAVED; i++)
		if (s->slot[i] < value)
			s->slot[i] = CODE_UNKNOWN;
}

static void apply_insn_step(struct prologue_reading *r, const struct insn_step *i, struct code_state *s)
{
	int32_t at = i->from == INSN_NO_REGISTER ? CODE_UNKNOWN : add_frame_offsets(s->reg[i->from], i->value);

	switch (i->effect) {
	case INSN_PUSH:
		s->reg[RSP] = add_frame_offsets(s->reg[RSP], -8);
		store_register_to_frame(r, s, s->reg[RSP], i->to);
		break;
	case INSN_POP:
		at = s->reg[RSP];
		load_register_from_frame(s, at, i->to);
		if (i->to != RSP)
			set_rsp(s, add_frame_offsets(at, 8));
		break;
	case INSN_LEAVE:
		at = s->reg[6];
		load_register_from_frame(s, at, 6);
		set_rsp(s, is_frame_offset(at) ? add_frame_offsets(at, 8) : CODE_UNKNOWN);
		break;
	case INSN_ADD:
		if (i->to == RSP)
			set_rsp(s, at);
		else if (i->to != i->from || i->value != 0)
			s->reg[i->to] = at;
		break;
	case INSN_STORE:
		store_register_to_frame(r, s, at, i->to);
		break;
	case INSN_LOAD:
		load_register_from_frame(s, at, i->to);
		break;
	case INSN_WRITE:
		forget_memory(r, s, at, i->memory_bytes);
		break;
	default:
		break;
	}
	for (unsigned n = 0; n < 16; n++)
		if (i->writes & 1u << n)
			s->reg[n] = CODE_UNKNOWN;
	if (i->kind == INSN_CALL)
		for (unsigned n = 0; n < 16; n++)
			if (CALL_CLOBBERS & 1u << n)
				s->reg[n] = CODE_UNKNOWN;
}

/* -------------------------------------------------------------------------------------------------------------- ways */

static void add_waiting_node(struct prologue_reading *r, uint32_t n)
{
	if (r->nodes.at[n].waits)
		return;
	if (!ARRAY_GROW(r->waiting)) {
		r->not_understood = true;
		return;
	}
	r->nodes.at[n].waits = true;
	r->waiting.at[r->waiting.nr++] = n;
}

/*
 * Returns the node at an offset, and makes it if there is none. Returns UINT32_MAX if no instruction is there. If there are too many nodes,
 * or memory runs out, the function is not understood.
 */
static uint32_t get_insn_node(struct prologue_reading *r, uint64_t offset)
{
	struct insn_step step;

	if (r->at[offset])
		return r->at[offset] - 1;
	if (!insn_read_step(r->code + offset, r->bytes - offset, offset, &step))
		return UINT32_MAX;
	if (r->nodes.nr == NODES_MAX || !ARRAY_GROW(r->nodes) ||
	    !ARRAY_GROW(r->tables)) {
		r->not_understood = true;
		return UINT32_MAX;
	}
	if (step.table)
		r->tables.at[r->tables.nr++] = r->nodes.nr;
	r->nodes.at[r->nodes.nr] = (struct node){ .offset = (uint32_t)offset, .step = step };
	r->at[offset] = ++r->nodes.nr;
	return r->nodes.nr - 1;
}

static bool join_register_value(int32_t *to, int32_t from)
{
	if (*to == from || *to == CODE_UNKNOWN)
		return false;
	*to = CODE_UNKNOWN;
	return true;
}

/* Keeps of *to only what *from has, too. Returns true if less is known than before. */
static bool join_code_states(struct code_state *to, const struct code_state *from)
{
	bool changed = false;

	for (unsigned n = 0; n < 16; n++)
		changed |= join_register_value(&to->reg[n], from->reg[n]);
	for (unsigned n = 0; n < CODE_NR_SAVED; n++)
		changed |= join_register_value(&to->slot[n], from->slot[n]);
	return changed;
}

/* Notes that a path leads to an offset with state s. caller: 1 + the node of the call before it, or 0. */
static void lead_way_to_offset(struct prologue_reading *r, uint64_t offset, const struct code_state *s, uint32_t caller)
{
	uint32_t n = offset < r->bytes ? get_insn_node(r, offset) : UINT32_MAX;
	struct node *to;

	if (n == UINT32_MAX)
		return;
	to = &r->nodes.at[n];
	if (!to->reached) {
		to->reached = true;
		to->state = *s;
		to->caller = caller;
		add_waiting_node(r, n);
		return;
	}
	/*
	 * The stack cannot have two heights at one place. If one of the paths comes from a call, that call does not return, and the
	 * analysis restarts. Otherwise rsp is unknown there.
	 */
	if (is_frame_offset(s->reg[RSP]) && is_frame_offset(to->state.reg[RSP]) && s->reg[RSP] != to->state.reg[RSP]) {
		uint32_t call = caller ? caller : to->caller;

		if (call) {
			r->nodes.at[call - 1].no_return = r->restart = true;
			return;
		}
	}
	if (caller != to->caller)
		to->caller = 0;
	if (join_code_states(&to->state, s))
		add_waiting_node(r, n);
}

static void check_stack_at_return(struct prologue_reading *r, const struct code_state *s)
{
	if (s->reg[RSP] != CODE_UNKNOWN && s->reg[RSP] != ENTRY_RSP)
		r->not_understood = true;
}

static void follow_node(struct prologue_reading *r, uint32_t n)
{
	const struct node at = r->nodes.at[n];
	const struct insn_step *i = &at.step;
	struct code_state s = at.state;

	if (i->stops)
		return;
	apply_insn_step(r, i, &s);
	if (i->kind == INSN_RETURN)
		check_stack_at_return(r, &s);
	/* The target counts from the function's start. A target before the start is a very large number. */
	if ((i->kind == INSN_JUMP || i->kind == INSN_BRANCH) && i->target)
		lead_way_to_offset(r, i->target, &s, 0);
	if (i->kind != INSN_RETURN && i->kind != INSN_JUMP && !at.no_return)
		lead_way_to_offset(r, (uint64_t)at.offset + i->bytes, &s, i->kind == INSN_CALL ? n + 1 : 0);
}

static void follow_waiting_nodes(struct prologue_reading *r)
{
	while (r->waiting.nr && !r->not_understood && !r->restart) {
		uint32_t n = r->waiting.at[--r->waiting.nr];

		r->nodes.at[n].waits = false;
		if (++r->steps > (uint64_t)STEPS_A_NODE * (r->nodes.nr + 64))
			r->not_understood = true;
		else
			follow_node(r, n);
	}
}

static const struct code_state entry_state = {
	.reg = { CODE_UNKNOWN, CODE_UNKNOWN, CODE_UNKNOWN, CODE_CALLERS, CODE_UNKNOWN, CODE_UNKNOWN, CODE_CALLERS, ENTRY_RSP,
		 CODE_UNKNOWN, CODE_UNKNOWN, CODE_UNKNOWN, CODE_UNKNOWN, CODE_CALLERS, CODE_CALLERS, CODE_CALLERS, CODE_CALLERS },
	.slot = { CODE_UNKNOWN, CODE_UNKNOWN, CODE_UNKNOWN, CODE_UNKNOWN, CODE_UNKNOWN, CODE_UNKNOWN },
};

/*
 * A jump to a register's value is either a jump by a table or a tail call, which does not come back and is made when the frame is gone.
 * Where there is no frame, it counts as a jump by a table if the instruction just before computed the value.
 */
static bool is_table_jump(const struct prologue_reading *r, const struct node *n)
{
	if (!n->reached || !n->step.table)
		return false;
	if (n->step.from == INSN_NO_REGISTER || n->state.reg[RSP] != ENTRY_RSP)
		return true;
	for (uint32_t back = 1; back <= 15 && back <= n->offset; back++) {
		const struct node *before = r->at[n->offset - back] ? &r->nodes.at[r->at[n->offset - back] - 1] : NULL;

		if (before && before->reached && before->step.bytes == back)
			return before->step.writes & 1u << n->step.from;
	}
	return false;
}

/* Finds the joined state of all jumps by tables. Returns false if there are none, or their stack heights differ. */
static bool find_table_state(struct prologue_reading *r, struct code_state *out)
{
	bool found = false;

	for (uint32_t t = 0; t < r->tables.nr; t++) {
		const struct node *n = &r->nodes.at[r->tables.at[t]];

		if (!is_table_jump(r, n))
			continue;
		if (!found)
			*out = n->state;
		else if (out->reg[RSP] != n->state.reg[RSP])
			return false;
		else
			join_code_states(out, &n->state);
		found = true;
	}
	r->steps += r->tables.nr;
	return found;
}

/*
 * The targets of jumps by tables are not known. They are assumed where no path has led yet, behind an instruction after which the code does
 * not go on.
 */
static void follow_table_jumps(struct prologue_reading *r)
{
	struct code_state s;

	for (uint64_t offset = 0; offset < r->bytes && !r->not_understood && !r->restart;) {
		const struct node *n = r->at[offset] ? &r->nodes.at[r->at[offset] - 1] : NULL;
		struct insn_step step;

		if (n && n->reached) {
			offset += n->step.bytes;
			continue;
		}
		if (!insn_read_step(r->code + offset, r->bytes - offset, offset, &step))
			return; /* this is data, behind which instructions need not begin */
		if (step.nothing || step.stops) { /* padding between blocks */
			offset += step.bytes;
			continue;
		}
		if (!find_table_state(r, &s))
			return;
		lead_way_to_offset(r, offset, &s, 0);
		follow_waiting_nodes(r);
		if (!r->at[offset])
			return;
	}
}

static void follow_from_start(struct prologue_reading *r)
{
	int restarts = 0;

	do {
		r->restart = false;
		r->waiting.nr = 0;
		for (uint32_t n = 0; n < r->nodes.nr; n++)
			r->nodes.at[n].reached = r->nodes.at[n].waits = false;
		lead_way_to_offset(r, 0, &entry_state, 0);
		follow_waiting_nodes(r);
		follow_table_jumps(r);
	} while (r->restart && !r->not_understood && ++restarts < RESTARTS_MAX);
	r->not_understood |= r->restart;
}

static uint32_t copy_places(const struct prologue_reading *r, struct prologue_rows *to)
{
	const struct code_state *last = NULL;
	uint32_t nr = 0;

	to->nr_states = 0;
	for (uint32_t offset = 0; offset < r->bytes; offset++) {
		const struct node *n = r->at[offset] ? &r->nodes.at[r->at[offset] - 1] : NULL;

		if (!n || !n->reached)
			continue;
		if (!last || memcmp(last, &n->state, sizeof(*last)) != 0) {
			if (to->state)
				to->state[to->nr_states] = n->state;
			to->nr_states++;
			last = &n->state;
		}
		if (to->place)
			to->place[nr] = (struct code_place){ offset, n->step.bytes, to->nr_states - 1 };
		nr++;
	}
	return nr;
}

static bool keep_analyzed_rows(const struct prologue_reading *r, struct prologue_rows *to)
{
	uint32_t nr = copy_places(r, to);

	to->place = calloc(nr + 1, sizeof(*to->place));
	to->state = calloc(to->nr_states + 1, sizeof(*to->state));
	if (!to->place || !to->state)
		return false;
	to->nr_places = copy_places(r, to);
	return true;
}

struct prologue_rows *prologue_rows_create(const void *function, size_t bytes)
{
	struct prologue_reading r = { .code = function, .bytes = (uint32_t)bytes };
	struct prologue_rows *out = calloc(1, sizeof(*out));

	if (!out || !bytes || bytes > PROLOGUE_ROWS_BYTES_MAX)
		return out;
	r.at = calloc(bytes, sizeof(*r.at));
	r.not_understood = !r.at;
	if (r.at)
		follow_from_start(&r);
	if (!r.not_understood && !keep_analyzed_rows(&r, out)) {
		prologue_rows_destroy(out);
		out = NULL;
	}
	free(r.waiting.at);
	free(r.tables.at);
	free(r.nodes.at);
	free(r.at);
	return out;
}

void prologue_rows_destroy(struct prologue_rows *r)
{
	if (!r)
		return;
	free(r->place);
	free(r->state);
	free(r);
}

size_t prologue_rows_size(const struct prologue_rows *r)
{
	return sizeof(*r) + r->nr_places * sizeof(*r->place) + r->nr_states * sizeof(*r->state);
}

/* ------------------------------------------------------------------------------------------------------------- answers */

/* Finds the last instruction that begins at an offset or before, if it covers the offset. */
static const struct code_place *find_code_place(const struct prologue_rows *r, uint64_t offset)
{
	uint32_t up_to = SORTED_COUNT(r->nr_places, i, r->place[i].offset <= offset);

	return up_to && offset - r->place[up_to - 1].offset < r->place[up_to - 1].bytes ? &r->place[up_to - 1] : NULL;
}

bool prologue_rows_state(const struct prologue_rows *r, uint64_t offset, struct code_state *out)
{
	const struct code_place *p = find_code_place(r, offset);

	if (!p || p->offset != offset)
		return false;
	*out = r->state[p->state];
	return true;
}

/* Makes the CFA of rsp if possible, else of rbp, else of the first register that leads to the frame. */
static bool find_cfa(const struct code_state *s, struct cfi_place *out)
{
	static const uint8_t first[] = { RSP, 6 };
	uint32_t reg = CFI_REGISTERS;

	for (uint32_t n = 16; n-- > 0;)
		if (is_frame_offset(s->reg[n]))
			reg = n;
	for (size_t n = sizeof(first); n-- > 0;)
		if (is_frame_offset(s->reg[first[n]]))
			reg = first[n];
	if (reg == CFI_REGISTERS)
		return false;
	*out = (struct cfi_place){ .where = CFI_REGISTER, .reg = reg, .value = -(int64_t)s->reg[reg] };
	return true;
}

bool prologue_rows_find(const struct prologue_rows *r, uint64_t offset, struct cfi_row *out)
{
	const struct code_place *at = find_code_place(r, offset);
	const struct code_state *s = at ? &r->state[at->state] : NULL;

	memset(out, 0, sizeof(*out));
	if (!s || !find_cfa(s, &out->cfa))
		return false;
	for (unsigned n = 0; n < CFI_REGISTERS; n++)
		out->reg[n].where = CFI_UNDEFINED;
	for (unsigned i = 0; i < CODE_NR_SAVED; i++) {
		struct cfi_place *p = &out->reg[saved_register[i]];

		if (s->reg[saved_register[i]] == CODE_CALLERS)
			p->where = CFI_SAME;
		else if (s->slot[i] != CODE_UNKNOWN)
			*p = (struct cfi_place){ .where = CFI_AT, .value = s->slot[i] };
	}
	out->reg[CFI_RETURN] = (struct cfi_place){ .where = CFI_AT, .value = -8 };
	return true;
}

bool code_ends_with_call(const void *bytes, size_t nr)
{
	struct insn_step i;

	for (size_t n = 2; n <= 8 && n <= nr; n++)
		if (insn_read_step((const unsigned char *)bytes + nr - n, n, 0, &i) && i.bytes == n && i.kind == INSN_CALL)
			return true;
	return false;
}
