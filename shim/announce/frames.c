/* SPDX-License-Identifier: MIT */
#include "shim/announce/announce.h"

#include <string.h>

#define FRAMES_BYTES 1024
#define DWARF_RSP 7
#define DWARF_RETURN 16
#define DW_CFA_advance_loc4 0x04
#define DW_CFA_def_cfa 0x0c
#define DW_CFA_def_cfa_offset 0x0e
#define DW_CFA_offset 0x80

struct writer {
	unsigned char bytes[FRAMES_BYTES];
	uint32_t nr;
	bool full;
};

static void put_frame_bytes(struct writer *w, const void *from, uint32_t nr)
{
	if (nr > FRAMES_BYTES - w->nr) {
		w->full = true;
		return;
	}
	memcpy(w->bytes + w->nr, from, nr);
	w->nr += nr;
}

static void put_u8(struct writer *w, unsigned char v)
{
	put_frame_bytes(w, &v, 1);
}

static void put_u32(struct writer *w, uint32_t v)
{
	put_frame_bytes(w, &v, 4);
}

static void put_uleb(struct writer *w, uint32_t v)
{
	for (; v >= 0x80; v >>= 7)
		put_u8(w, (unsigned char)(v | 0x80));
	put_u8(w, (unsigned char)v);
}

/* The length that begins an entry is of what follows it, a multiple of 8 with it; 0 is DW_CFA_nop. */
static void end_frame_entry(struct writer *w, uint32_t at)
{
	uint32_t length;

	while ((w->nr - at) % 8 && !w->full)
		put_u8(w, 0);
	length = w->nr - at - 4;
	memcpy(w->bytes + at, &length, 4);
}

int announce_frames(uint64_t address, uint64_t bytes, const struct frame_rule *rule, int nr_rules, const struct frame_saved *saved,
		 int nr_saved)
{
	static const unsigned char cie[] = { 1, 'z', 'R', 0, 1, 0x78, DWARF_RETURN, 1, 0 /* absolute addresses */ };
	struct writer w = { .nr = 0 };
	uint32_t fde, at = 0;

	put_u32(&w, 0);
	put_u32(&w, 0);
	put_frame_bytes(&w, cie, sizeof(cie));
	put_u8(&w, DW_CFA_def_cfa);
	put_uleb(&w, DWARF_RSP);
	put_uleb(&w, nr_rules ? rule[0].cfa : 8);
	put_u8(&w, DW_CFA_offset | DWARF_RETURN);
	put_uleb(&w, 1);
	for (int i = 0; i < nr_saved; i++) {
		put_u8(&w, DW_CFA_offset | saved[i].reg);
		put_uleb(&w, saved[i].words);
	}
	end_frame_entry(&w, 0);
	fde = w.nr;
	put_u32(&w, 0);
	put_u32(&w, fde + 4); /* back to the CIE */
	put_frame_bytes(&w, &address, 8);
	put_frame_bytes(&w, &bytes, 8);
	put_u8(&w, 0);
	for (int i = 1; i < nr_rules; at = rule[i++].from) {
		put_u8(&w, DW_CFA_advance_loc4);
		put_u32(&w, rule[i].from - at);
		put_u8(&w, DW_CFA_def_cfa_offset);
		put_uleb(&w, rule[i].cfa);
	}
	end_frame_entry(&w, fde);
	return w.full ? -EINVAL : jitreg_eh_frame(address, w.bytes, w.nr);
}
