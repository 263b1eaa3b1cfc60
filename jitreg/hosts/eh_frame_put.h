/* SPDX-License-Identifier: MIT */
/*
 * Writes .eh_frame of one piece of generated code on x86-64: a CIE, and an FDE with the rows in which the frame differs.  (DWARF 5, section
 * 6.4; System V ABI, AMD64 supplement, section 4.2.4.)  Guest and recorder write it for hosts that say what frames their code has, and not
 * in this form.  Where there is no room, full is set, and what is there is of no use.  Context: any.
 */
#ifndef TAILOR_EH_FRAME_PUT_H
#define TAILOR_EH_FRAME_PUT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define EH_FRAME_RBP 6
#define EH_FRAME_RSP 7
#define EH_FRAME_RETURN 16
#define DW_CFA_advance_loc4 0x04
#define DW_CFA_same_value 0x08
#define DW_CFA_def_cfa 0x0c
#define DW_CFA_def_cfa_offset 0x0e
#define DW_CFA_def_cfa_expression 0x0f
#define DW_CFA_expression 0x10
#define DW_CFA_offset 0x80

/* bytes, size: the caller's; the others 0. */
struct eh_frame_writer {
	unsigned char *bytes;
	uint32_t size, nr;
	uint32_t entry; /* where the one begins that is being written */
	bool full;
};

static inline void eh_frame_put(struct eh_frame_writer *w, const void *from, uint32_t nr)
{
	if (nr > w->size - w->nr) {
		w->full = true;
		return;
	}
	memcpy(w->bytes + w->nr, from, nr);
	w->nr += nr;
}

static inline void eh_frame_put_u8(struct eh_frame_writer *w, unsigned char v)
{
	eh_frame_put(w, &v, 1);
}

static inline void eh_frame_put_u32(struct eh_frame_writer *w, uint32_t v)
{
	eh_frame_put(w, &v, 4);
}

static inline void eh_frame_put_uleb(struct eh_frame_writer *w, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		eh_frame_put_u8(w, (unsigned char)(v | 0x80));
	eh_frame_put_u8(w, (unsigned char)v);
}

/* The length that begins an entry is of what follows it, a multiple of 8 with it; 0 is DW_CFA_nop. */
static inline void eh_frame_end(struct eh_frame_writer *w)
{
	uint32_t length;

	while ((w->nr - w->entry) % 8 && !w->full)
		eh_frame_put_u8(w, 0);
	if (w->full)
		return;
	length = w->nr - w->entry - 4;
	memcpy(w->bytes + w->entry, &length, 4);
}

/* The CIE, with the rules that hold from the code's begin on: the return address is the word below the frame's end, which is cfa bytes
 * above the stack pointer.  More rules may follow. */
static inline void eh_frame_begin(struct eh_frame_writer *w, uint64_t cfa)
{
	static const unsigned char cie[] = { 1, 'z', 'R', 0, 1, 0x78, EH_FRAME_RETURN, 1, 0 /* absolute addresses */ };

	w->nr = w->entry = 0;
	w->full = false;
	eh_frame_put_u32(w, 0);
	eh_frame_put_u32(w, 0);
	eh_frame_put(w, cie, sizeof(cie));
	eh_frame_put_u8(w, DW_CFA_def_cfa);
	eh_frame_put_uleb(w, EH_FRAME_RSP);
	eh_frame_put_uleb(w, cfa);
	eh_frame_put_u8(w, DW_CFA_offset | EH_FRAME_RETURN);
	eh_frame_put_uleb(w, 1);
}

/* Ends the CIE, and begins the FDE of this code. */
static inline void eh_frame_begin_code(struct eh_frame_writer *w, uint64_t address, uint64_t bytes)
{
	eh_frame_end(w);
	w->entry = w->nr;
	eh_frame_put_u32(w, 0);
	eh_frame_put_u32(w, w->entry + 4); /* back to the CIE */
	eh_frame_put(w, &address, 8);
	eh_frame_put(w, &bytes, 8);
	eh_frame_put_u8(w, 0);
}

/* The rules that follow hold from so many bytes further on. */
static inline void eh_frame_advance(struct eh_frame_writer *w, uint32_t by)
{
	eh_frame_put_u8(w, DW_CFA_advance_loc4);
	eh_frame_put_u32(w, by);
}

static inline void eh_frame_set_cfa(struct eh_frame_writer *w, uint64_t cfa)
{
	eh_frame_put_u8(w, DW_CFA_def_cfa_offset);
	eh_frame_put_uleb(w, cfa);
}

#endif
