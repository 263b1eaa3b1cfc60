/* SPDX-License-Identifier: MIT */
/*
 * Writes .eh_frame data for one piece of generated code on x86-64: a CIE and an FDE (DWARF 5, section 6.4; System V ABI, AMD64 supplement,
 * section 4.2.4).  The agent and the recorder use it for hosts that describe the frames of their code in another form.  The order is
 * eh_frame_begin(), eh_frame_begin_code(), the rules with the addresses from which they are valid, eh_frame_end().  If there is no room,
 * full is set, and the written bytes are unusable.  Context: any.
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

/* The caller sets bytes and size, and eh_frame_begin() the other members. */
struct eh_frame_writer {
	unsigned char *bytes;
	uint32_t size, nr;
	uint32_t entry; /* offset of the CIE or FDE that is being written */
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

/* End a CIE or an FDE: pad it to a multiple of 8 bytes with DW_CFA_nop, which is 0, and set its length field, which does not count
 * itself. */
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

/* Begin the CIE, with the rules at the first instruction of the code: the CFA is cfa bytes above the stack pointer, and the return address
 * is the word below the CFA.  The caller may add other rules for that place. */
static inline void eh_frame_begin(struct eh_frame_writer *w, uint64_t cfa)
{
	/* The last byte is the encoding of addresses in the FDE, which are absolute (DW_EH_PE_absptr). */
	static const unsigned char cie[] = { 1, 'z', 'R', 0, 1, 0x78, EH_FRAME_RETURN, 1, 0 };

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

/* End the CIE, and begin the FDE for the code at [address, address + bytes). */
static inline void eh_frame_begin_code(struct eh_frame_writer *w, uint64_t address, uint64_t bytes)
{
	eh_frame_end(w);
	w->entry = w->nr;
	eh_frame_put_u32(w, 0);
	eh_frame_put_u32(w, w->entry + 4); /* distance from here back to the CIE */
	eh_frame_put(w, &address, 8);
	eh_frame_put(w, &bytes, 8);
	eh_frame_put_u8(w, 0);
}

/* Move the address from which the following rules are valid forward by this many bytes. */
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
