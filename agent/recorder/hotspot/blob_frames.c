/* SPDX-License-Identifier: MIT */
/*
 * This file describes frames of HotSpot's code on x86-64, as .eh_frame. A compiled method is entered with its return address on the stack.
 * It saves rbp, lowers the stack pointer once, and has a frame of a fixed size from then on (CodeBlob::_frame_complete_offset,
 * _frame_size). It leaves the frame by `add rsp; pop rbp`, checks whether a safepoint is wanted, and returns. An interpreted method's frame
 * is found by rbp. The word below rbp is its caller's stack pointer, to which the interpreter may have added locals (frame_x86.hpp).
 */
#include "agent/recorder/hotspot/internal.h"

#include <string.h>

#define DW_OP_breg_rbp 0x76
#define DW_OP_deref 0x06
#define MINUS_8 0x78 /* SLEB128 */

static struct eh_frame_writer *begin_frames(struct hotspot_frames *f, uint64_t start, uint64_t bytes)
{
	f->writer.bytes = f->bytes;
	f->writer.size = sizeof(f->bytes);
	eh_frame_begin(&f->writer, 8);
	eh_frame_begin_code(&f->writer, start, bytes);
	return &f->writer;
}

/* Writes that the frame has this many words from offset on.  A frame of two words or more contains the saved rbp. */
static void put_frame_words(struct eh_frame_writer *w, uint32_t *at, uint32_t offset, uint32_t words)
{
	if (offset > *at) {
		eh_frame_advance(w, offset - *at);
		*at = offset;
	}
	eh_frame_set_cfa(w, 8ull * words);
	eh_frame_put_u8(w, words > 1 ? DW_CFA_offset | EH_FRAME_RBP : DW_CFA_same_value);
	eh_frame_put_u8(w, words > 1 ? 2 : EH_FRAME_RBP);
}

/* Returns the length of the instruction at p if it is `sub rsp, by` (modrm SUB_RSP) or `add rsp, by` (modrm ADD_RSP), with an immediate of
 * one byte or of four.  Returns 0 for any other instruction. */
static uint32_t instruction_of_rsp(const unsigned char *p, uint64_t left, unsigned char modrm, uint32_t by)
{
	uint32_t number;

	if (left >= 4 && p[0] == 0x48 && p[1] == 0x83 && p[2] == modrm && p[3] < 0x80 && p[3] == by)
		return 4;
	if (left < 7 || p[0] != 0x48 || p[1] != 0x81 || p[2] != modrm)
		return 0;
	memcpy(&number, p + 3, 4);
	return number == by ? 7 : 0;
}

#define SUB_RSP 0xec
#define ADD_RSP 0xc4
#define PUSH_RBP 0x55
#define POP_RBP 0x5d

/*
 * Returns the offset after `push rbp` in front of `sub rsp`, and sets *behind to the offset after the sub.  Returns 0 if rbp is not pushed
 * (it is stored later).  Since JDK 20, the prologue goes on with a check whether the method may be entered (nmethod_entry_barrier() of
 * HotSpot's barrierSetAssembler_x86.cpp).
 */
static uint32_t end_of_push(const unsigned char *code, uint32_t complete, uint32_t by, uint32_t *behind)
{
	for (uint32_t sub = 1; sub < complete; sub++) {
		uint32_t bytes = instruction_of_rsp(code + sub, complete - sub, SUB_RSP, by);

		*behind = sub + bytes;
		if (bytes && code[sub - 1] == PUSH_RBP)
			return sub;
		/* `mov rbp, rsp` stands between the push and the sub */
		if (bytes && sub >= 4 && code[sub - 4] == PUSH_RBP && code[sub - 3] == 0x48)
			return sub - 3;
	}
	return 0;
}

/* Returns the length of the instruction at p if it is `mov [rsp + by], rbp` with a number of one byte or of four. Returns 0 for any other
 * instruction, also for `mov [rsp], rbp`, which has no number, so such a store is not found. */
static uint32_t store_of_rbp(const unsigned char *p, uint64_t left, uint32_t by)
{
	uint32_t number;

	if (left >= 5 && p[0] == 0x48 && p[1] == 0x89 && p[2] == 0x6c && p[3] == 0x24 && p[4] < 0x80 && p[4] == by)
		return 5;
	if (left < 8 || p[0] != 0x48 || p[1] != 0x89 || p[2] != 0xac || p[3] != 0x24)
		return 0;
	memcpy(&number, p + 4, 4);
	return number == by ? 8 : 0;
}

/*
 * Handles a prologue without a push of rbp, in which `sub rsp` makes the whole frame, and `mov [rsp + N], rbp` follows. With frame
 * pointers, two more instructions come before the end of the prologue. Returns the offset after `sub rsp`, and sets *stored to the offset
 * after the store. Returns 0 if the prologue has another form.
 */
static uint32_t end_of_sub(const unsigned char *code, uint32_t complete, uint32_t words, uint32_t *stored)
{
	for (uint32_t i = 0; i < complete; i++) {
		uint32_t sub = instruction_of_rsp(code + i, complete - i, SUB_RSP, 8 * (words - 1)), store;

		if (!sub)
			continue;
		store = store_of_rbp(code + i + sub, complete - i - sub, 8 * (words - 2));
		if (store) {
			*stored = i + sub + store;
			return i + sub;
		}
	}
	return 0;
}

/* Returns the number of bytes from the end of `pop rbp` to the end of the jump or return.  A check of the thread's poll word may stand
 * between.  If neither follows, the bytes of that check are returned, or 0. */
static uint32_t bytes_to_return(const unsigned char *p, uint64_t left)
{
	uint64_t at = 0;

	if (left >= 3 && p[0] == 0x49 && p[1] == 0x3b) /* cmp rsp, [r15 + N] */
		at = p[2] == 0xa7 ? 7 : p[2] == 0x67 ? 4 : 0;
	if (at > left)
		at = 0;
	if (at && left - at >= 6 && p[at] == 0x0f && p[at + 1] == 0x87) /* ja */
		at += 6;
	if (at < left && p[at] == 0xc3)
		return (uint32_t)at + 1;
	return left - at >= 5 && p[at] == 0xe9 ? (uint32_t)at + 5 : (uint32_t)at;
}

static void put_epilogues(struct eh_frame_writer *w, uint32_t at, const unsigned char *code, uint64_t bytes, uint32_t words)
{
	for (uint64_t i = at; i < bytes && w->size - w->nr >= 64; i++) {
		uint32_t add = instruction_of_rsp(code + i, bytes - i, ADD_RSP, 8 * (words - 2)), popped, end;

		if (!add || i + add >= bytes || code[i + add] != POP_RBP)
			continue;
		popped = (uint32_t)i + add + 1;
		end = popped + bytes_to_return(code + popped, bytes - popped);
		put_frame_words(w, &at, popped - 1, 2);
		put_frame_words(w, &at, popped, 1);
		put_frame_words(w, &at, end, words);
		i = end - 1;
	}
}

void hotspot_frames_of_code(struct hotspot_frames *f, uint64_t start, uint64_t bytes, uint32_t words, uint32_t complete,
			    const unsigned char *code)
{
	struct eh_frame_writer *w = begin_frames(f, start, bytes);
	uint32_t at = 0, pushed = 0, sub = 0, behind;

	if (words >= 2 && complete < bytes) {
		if (code && complete)
			pushed = end_of_push(code, complete, 8 * (words - 2), &behind);
		if (pushed)
			put_frame_words(w, &at, pushed, 2);
		else if (code && complete)
			sub = end_of_sub(code, complete, words, &behind);
		if (sub) {
			eh_frame_advance(w, sub);
			eh_frame_set_cfa(w, 8ull * words);
			at = sub;
		}
		if (pushed || sub)
			put_frame_words(w, &at, behind, words);
		put_frame_words(w, &at, complete, words);
		if (code)
			put_epilogues(w, at, code, bytes, words);
	}
	eh_frame_end(w);
}

void hotspot_frames_of_leaf(struct hotspot_frames *f, uint64_t start, uint64_t bytes)
{
	eh_frame_end(begin_frames(f, start, bytes));
}

void hotspot_frames_of_interpreter(struct hotspot_frames *f, uint64_t start, uint64_t bytes)
{
	static const unsigned char rules[] = { DW_CFA_def_cfa_expression, 3, DW_OP_breg_rbp, MINUS_8, DW_OP_deref,
					       DW_CFA_expression, EH_FRAME_RBP, 2, DW_OP_breg_rbp, 0,
					       DW_CFA_expression, EH_FRAME_RETURN, 2, DW_OP_breg_rbp, 8 };
	struct eh_frame_writer *w = begin_frames(f, start, bytes);

	eh_frame_put(w, rules, sizeof(rules));
	eh_frame_end(w);
}
