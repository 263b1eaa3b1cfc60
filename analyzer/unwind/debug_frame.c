/* SPDX-License-Identifier: MIT */
/*
 * An entry of .debug_frame differs from one of .eh_frame in three things: a CIE's id is all ones, an FDE names its CIE by the offset in the
 * section, and version 4 has fields for the sizes of addresses and segments. CIEs become version 1 or 3, and the rest of their bytes stays
 * as it is. FDEs of unusual CIEs (with augmentations, or other sizes of addresses) are left out. Reading ends at the first 64-bit entry.
 */
#include "analyzer/unwind/debug_frame.h"

#include <stdlib.h>
#include <string.h>

#define CIE_ID 0xffffffffu

struct conversion {
	const unsigned char *from;
	uint64_t from_bytes;
	unsigned char *to;
	uint64_t to_bytes;
	/* The last CIE that an FDE named: its offset in from, its offset in to, and whether it could be converted. */
	uint64_t cie_from, cie_to;
	bool cie_fits;
};

static void append_bytes(struct conversion *c, const void *bytes, uint64_t nr)
{
	memcpy(c->to + c->to_bytes, bytes, nr);
	c->to_bytes += nr;
}

static void append_u32(struct conversion *c, uint32_t v)
{
	append_bytes(c, &v, 4);
}

/* Reads length and id of the entry at an offset. Its body follows them. Returns false if no entry is there that ends inside the section, or
 * if it is a 64-bit entry. */
static bool read_frame_entry(const struct conversion *c, uint64_t at, uint32_t *body_bytes, uint32_t *id)
{
	uint32_t length;

	if (at > c->from_bytes || c->from_bytes - at < 8)
		return false;
	memcpy(&length, c->from + at, 4);
	memcpy(id, c->from + at + 4, 4);
	*body_bytes = length - 4;
	return length >= 4 && length != 0xffffffff && length <= c->from_bytes - at - 4;
}

/*
 * Appends the CIE at an offset, unless it is the one that was converted last. Returns false if it cannot be converted. There is enough
 * room, because debug_frame_append() has made some for an FDE and a CIE.
 */
static bool append_cie(struct conversion *c, uint64_t at)
{
	uint32_t bytes, id;
	const unsigned char *body = c->from + at + 8;

	if (at == c->cie_from)
		return c->cie_fits;
	c->cie_from = at;
	c->cie_fits = false;
	if (!read_frame_entry(c, at, &bytes, &id) || id != CIE_ID || bytes < 4 || body[1] != 0) /* it is no CIE, or has an augmentation */
		return false;
	if (body[0] == 4) {
		if (body[2] != 8 || body[3] != 0)
			return false;
		c->cie_to = c->to_bytes;
		append_u32(c, bytes + 4 - 2);
		append_u32(c, 0);
		append_bytes(c, "\3", 2);
		append_bytes(c, body + 4, bytes - 4);
	} else if (body[0] == 1 || body[0] == 3) {
		c->cie_to = c->to_bytes;
		append_u32(c, bytes + 4);
		append_u32(c, 0);
		append_bytes(c, body, bytes);
	} else {
		return false;
	}
	c->cie_fits = true;
	return true;
}

static void append_fde(struct conversion *c, uint64_t at, uint32_t bytes, uint32_t cie)
{
	if (bytes < 16 || !append_cie(c, cie))
		return;
	append_u32(c, bytes + 4);
	append_u32(c, (uint32_t)(c->to_bytes - c->cie_to)); /* the CIE lies so many bytes before this field */
	append_bytes(c, c->from + at + 8, bytes);
}

#define CIE_BYTES_MAX 128u /* compilers need 24 */

unsigned char *debug_frame_append(const unsigned char *frames, uint64_t *bytes, const struct elf_section *debug_frame)
{
	struct conversion c = { .from = debug_frame->data, .from_bytes = debug_frame->bytes, .cie_from = UINT64_MAX };
	uint64_t capacity = (frames ? *bytes : 0) + debug_frame->bytes + 4096;
	uint32_t body, id;

	c.to = malloc(capacity);
	if (!c.to)
		return NULL;
	if (frames)
		append_bytes(&c, frames, *bytes);
	for (uint64_t at = 0; read_frame_entry(&c, at, &body, &id); at += 8 + (uint64_t)body) {
		uint32_t cie_body, cie_id;
		uint64_t need = 8 + (uint64_t)body;

		if (id == CIE_ID)
			continue;
		if (!read_frame_entry(&c, id, &cie_body, &cie_id) || cie_body > CIE_BYTES_MAX)
			continue;
		need += 8 + (uint64_t)cie_body;
		if (need > capacity - c.to_bytes) {
			unsigned char *bigger = realloc(c.to, 2 * capacity + need);

			if (!bigger)
				break;
			c.to = bigger;
			capacity = 2 * capacity + need;
		}
		append_fde(&c, at, body, id);
	}
	*bytes = c.to_bytes;
	return c.to;
}
