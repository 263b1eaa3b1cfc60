/* SPDX-License-Identifier: MIT */
#include "analyzer/unwind/epilogue_analysis.h"

#include "analyzer/symbols/insn.h"

#include <string.h>

#define RSP 7u
#define RBP 6u
#define UNKNOWN INT32_MIN
#define SAME (INT32_MIN + 1) /* unchanged since the first instruction */
#define FARTHEST (1 << 20) /* maximum number of bytes between rsp or rbp and a place in the frame */
#define BY_RBP (1 << 24)   /* offsets near it count from the value of rbp at the first instruction */
#define NR_SAVED 6u
#define STEPS_MAX 4096u
#define STEPS_MORE 256u /* maximum number of steps after the first return, in which other returns are looked for */
#define WAYS_MAX 64u
#define SEEN_BITS 13u
#define RESTARTS_MAX 8u

static const uint8_t saved_register[NR_SAVED] = { 3, RBP, 12, 13, 14, 15 };

/* This is a path through the code. Offsets in the frame count from the stack pointer at the first instruction. */
struct way {
	uint32_t offset;
	uint32_t caller; /* 1 + the call that lies just before; 0: there is none, or a jump led here */
	int32_t rsp;
	int32_t rsp_at_call;	/* the highest stack pointer at a call of this path; UNKNOWN before the first one */
	int32_t at[16];		/* a register's value, if it is an address in the frame */
	int32_t from[NR_SAVED]; /* SAME, UNKNOWN, or the place on the stack from which the value was loaded */
	int32_t slot[NR_SAVED]; /* slot: the place on the stack where the register was stored. stored: the value of from at that time. */
	int32_t stored[NR_SAVED];
};

struct epilogue_reading {
	const unsigned char *code;
	uint64_t bytes;
	struct seen {
		uint32_t offset; /* 1 + the instruction's offset; 0: free */
		uint32_t caller;
		int32_t rsp;
	} seen[1u << SEEN_BITS];
	struct way way[WAYS_MAX];
	uint32_t nr_ways, steps, nr_no_return;
	uint32_t no_return[RESTARTS_MAX];
	struct way exit; /* state at the return with the highest stack pointer, if found */
	bool found, disagree, restart;
};

static int saved_index(uint8_t reg)
{
	for (unsigned i = 0; i < NR_SAVED; i++)
		if (saved_register[i] == reg)
			return (int)i;
	return -1;
}

static int32_t add_frame_offsets(int32_t a, int32_t b)
{
	int64_t v = (int64_t)a + b, far = a >= BY_RBP - FARTHEST ? v - BY_RBP : v;

	return a != UNKNOWN && far < FARTHEST && far > -FARTHEST ? (int32_t)v : UNKNOWN;
}

static bool offset_counts_from_rbp(int32_t v)
{
	return v >= BY_RBP - FARTHEST;
}

/* ------------------------------------------------------------------------------------------------------- instructions */

static int32_t value_of_register(const struct way *w, uint8_t reg)
{
	return reg == RSP ? w->rsp : reg < 16 ? w->at[reg] : UNKNOWN;
}

static void store_register_to_frame(struct way *w, int32_t at, uint8_t reg)
{
	int saved = reg == INSN_NO_REGISTER ? -1 : saved_index(reg);

	for (unsigned i = 0; at != UNKNOWN && i < NR_SAVED; i++)
		if (w->slot[i] != UNKNOWN && w->slot[i] < at + 8 && at < w->slot[i] + 8)
			w->slot[i] = UNKNOWN;
	if (saved >= 0 && w->from[saved] != UNKNOWN && at != UNKNOWN) {
		w->slot[saved] = at;
		w->stored[saved] = w->from[saved];
	}
}

static void load_register_from_frame(struct way *w, int32_t at, uint8_t reg)
{
	int saved = reg == INSN_NO_REGISTER ? -1 : saved_index(reg);
	int32_t from = at != UNKNOWN && at >= 0 ? at : UNKNOWN;

	for (unsigned i = 0; at != UNKNOWN && i < NR_SAVED; i++)
		if (w->slot[i] == at)
			from = (int)i == saved ? w->stored[i] : UNKNOWN;
	/*
	 * A register that was stored at an offset from rsp and is loaded at an offset from rbp (or vice versa) may come from the same
	 * place.
	 */
	if (saved >= 0 && w->slot[saved] != UNKNOWN && offset_counts_from_rbp(w->slot[saved]) != offset_counts_from_rbp(at))
		from = UNKNOWN;
	if (reg < 16)
		w->at[reg] = UNKNOWN;
	if (saved >= 0)
		w->from[saved] = from;
}

static void set_register_value(struct way *w, uint8_t reg, int32_t value)
{
	int saved = saved_index(reg);

	if (reg == RSP)
		w->rsp = value;
	else
		w->at[reg] = value;
	if (saved >= 0)
		w->from[saved] = UNKNOWN;
}

static void apply_insn_step(const struct insn_step *i, struct way *w)
{
	int32_t at = i->from == INSN_NO_REGISTER ? UNKNOWN : add_frame_offsets(value_of_register(w, i->from), i->value);

	switch (i->effect) {
	case INSN_PUSH:
		w->rsp = add_frame_offsets(w->rsp, -8);
		store_register_to_frame(w, w->rsp, i->to);
		break;
	case INSN_POP:
		at = w->rsp;
		w->rsp = add_frame_offsets(at, 8);
		if (i->to == RSP)
			w->rsp = UNKNOWN;
		else
			load_register_from_frame(w, at, i->to);
		break;
	case INSN_LEAVE:
		at = w->at[RBP];
		w->rsp = add_frame_offsets(at, 8);
		load_register_from_frame(w, at, RBP);
		break;
	case INSN_ADD:
		if (i->to != i->from || i->value != 0)
			set_register_value(w, i->to, at);
		break;
	case INSN_STORE:
		store_register_to_frame(w, at, i->to);
		break;
	case INSN_LOAD:
		if (i->to == RSP)
			w->rsp = UNKNOWN;
		else
			load_register_from_frame(w, at, i->to);
		break;
	case INSN_WRITE:
		store_register_to_frame(w, at, INSN_NO_REGISTER);
		break;
	default:
		break;
	}
	for (uint8_t n = 0; i->effect != INSN_LEAVE && n < 16; n++)
		if (i->writes & 1u << n)
			set_register_value(w, n, UNKNOWN);
	for (uint8_t n = 0; i->kind == INSN_CALL && n < 16; n++)
		if (saved_index(n) < 0 && n != RSP)
			w->at[n] = UNKNOWN;
}

/* --------------------------------------------------------------------------------------------------------------- ways */

static bool call_returns(const struct epilogue_reading *r, uint32_t offset)
{
	for (uint32_t i = 0; i < r->nr_no_return; i++)
		if (r->no_return[i] == offset)
			return false;
	return true;
}

static void call_does_not_return(struct epilogue_reading *r, uint32_t caller)
{
	if (!caller || r->nr_no_return == RESTARTS_MAX) {
		r->disagree = true;
		return;
	}
	r->no_return[r->nr_no_return++] = caller - 1;
	r->restart = true;
}

/*
 * Marks an instruction as seen. Returns false if a path was there before. If that had another stack pointer, one of the two paths comes
 * from a call that does not return, and the analysis begins anew with that knowledge. It gives up if neither path comes from a call, or
 * after RESTARTS_MAX such calls (call_does_not_return()).
 */
static bool way_is_new(struct epilogue_reading *r, const struct way *w)
{
	uint32_t at = w->offset * 2654435761u >> (32 - SEEN_BITS);
	struct seen *s = &r->seen[at];

	for (; s->offset && s->offset != w->offset + 1; s = &r->seen[at = (at + 1) & ((1u << SEEN_BITS) - 1)])
		;
	if (!s->offset) {
		*s = (struct seen){ w->offset + 1, w->caller, w->rsp };
		return true;
	}
	if (s->rsp != w->rsp && offset_counts_from_rbp(s->rsp) == offset_counts_from_rbp(w->rsp))
		call_does_not_return(r, w->caller ? w->caller : s->caller);
	else if (s->caller != w->caller)
		s->caller = 0;
	return false;
}

/*
 * At a call the stack pointer is a multiple of 16, and the calling function's return address lies above it, never at a multiple of 16.
 * Where that does not fit, an earlier call does not return, and this path went on into the function behind it. above: bytes from such a
 * multiple up to rsp here, which are 8 at a return and 0 at a call.
 */
static bool way_is_of_another_function(const struct way *w, int32_t above)
{
	int64_t distance = (int64_t)w->rsp - w->rsp_at_call;

	return w->rsp_at_call != UNKNOWN && w->rsp != UNKNOWN && offset_counts_from_rbp(w->rsp) == offset_counts_from_rbp(w->rsp_at_call) &&
	       ((distance - above) % 16 || (above && distance <= 0));
}

static void end_way_at_return(struct epilogue_reading *r, const struct way *w)
{
	if (w->rsp == UNKNOWN || w->rsp < 0 || way_is_of_another_function(w, 8))
		return;
	if (r->found && (r->exit.rsp >= w->rsp || offset_counts_from_rbp(w->rsp))) {
		for (unsigned i = 0; r->exit.rsp == w->rsp && i < NR_SAVED; i++)
			if (r->exit.from[i] != w->from[i])
				r->exit.from[i] = UNKNOWN;
		return;
	}
	if (!r->found)
		r->steps = r->steps > STEPS_MAX - STEPS_MORE ? r->steps : STEPS_MAX - STEPS_MORE;
	r->exit = *w;
	r->found = true;
}

static void add_way(struct epilogue_reading *r, const struct way *w, uint64_t offset, uint32_t caller)
{
	struct way *to;

	if (r->nr_ways == WAYS_MAX)
		return;
	to = &r->way[r->nr_ways++];
	*to = *w;
	to->offset = (uint32_t)offset;
	to->caller = caller;
}

/* Follows a path until it ends or reaches an instruction that was seen. */
static void follow_way(struct epilogue_reading *r, struct way w)
{
	struct insn_step i;

	while (!r->restart && !r->disagree && ++r->steps < STEPS_MAX && w.rsp != UNKNOWN && way_is_new(r, &w) &&
	       insn_read_step(r->code + w.offset, r->bytes - w.offset, w.offset, &i) && !i.stops) {
		uint64_t next = (uint64_t)w.offset + i.bytes;
		uint32_t at = w.offset;

		apply_insn_step(&i, &w);
		w.caller = 0;
		switch (i.kind) {
		case INSN_RETURN:
			end_way_at_return(r, &w);
			return;
		case INSN_JUMP:
			/* A jump with the frame gone is a tail call of a function that returns to the caller of this one. */
			if (i.target ? i.target >= r->bytes : w.rsp > 0 && !offset_counts_from_rbp(w.rsp)) {
				end_way_at_return(r, &w);
				return;
			}
			/*
			 * Other jumps without a known target are by a table. Behind such a jump stands code to which the table leads, or
			 * else another function, which returns to the same height.
			 */
			next = i.target ? i.target : next;
			break;
		case INSN_BRANCH:
			if (i.target && i.target < r->bytes)
				add_way(r, &w, i.target, 0);
			break;
		case INSN_CALL:
			if (!call_returns(r, at) || way_is_of_another_function(&w, 0))
				return;
			w.caller = at + 1;
			if (w.rsp_at_call == UNKNOWN || w.rsp > w.rsp_at_call)
				w.rsp_at_call = w.rsp;
			break;
		default:
			break;
		}
		if (next >= r->bytes)
			return;
		w.offset = (uint32_t)next;
	}
}

static void make_exit_row(const struct way *w, struct cfi_row *out)
{
	int32_t cfa = w->rsp + 8, by = offset_counts_from_rbp(w->rsp) ? BY_RBP : 0;

	memset(out, 0, sizeof(*out));
	out->cfa = (struct cfi_place){ .where = CFI_REGISTER, .reg = by ? RBP : CFI_RSP, .value = cfa - by };
	for (unsigned n = 0; n < CFI_REGISTERS; n++)
		out->reg[n].where = CFI_UNDEFINED;
	for (unsigned i = 0; i < NR_SAVED; i++) {
		struct cfi_place *p = &out->reg[saved_register[i]];

		if (w->from[i] == SAME)
			p->where = CFI_SAME;
		else if (w->from[i] != UNKNOWN && offset_counts_from_rbp(w->from[i]) == (by != 0))
			*p = (struct cfi_place){ .where = CFI_AT, .value = w->from[i] - cfa };
	}
	out->reg[CFI_RETURN] = (struct cfi_place){ .where = CFI_AT, .value = -8 };
}

bool epilogue_analysis_row(const void *code, size_t bytes, uint64_t offset, bool is_behind_call, struct cfi_row *out)
{
	struct epilogue_reading r;
	struct way first = { .offset = (uint32_t)offset, .rsp_at_call = is_behind_call ? 0 : UNKNOWN };

	if (offset >= bytes || bytes > 1u << 30)
		return false;
	for (unsigned n = 0; n < 16; n++)
		first.at[n] = UNKNOWN;
	first.at[RBP] = BY_RBP;
	for (unsigned i = 0; i < NR_SAVED; i++) {
		first.from[i] = SAME;
		first.slot[i] = UNKNOWN;
	}
	r.code = code;
	r.bytes = bytes;
	r.nr_no_return = 0;
	do {
		memset(r.seen, 0, sizeof(r.seen));
		r.nr_ways = r.steps = 0;
		r.found = r.disagree = r.restart = false;
		add_way(&r, &first, offset, 0);
		while (r.nr_ways && !r.restart && !r.disagree)
			follow_way(&r, r.way[--r.nr_ways]);
	} while (r.restart);
	if (!r.found || r.disagree)
		return false;
	make_exit_row(&r.exit, out);
	return true;
}
