/* SPDX-License-Identifier: MIT */
#include "analyzer/unwind/eh_frame.h"

#include "jitreg/base/leb128.h"

#include <string.h>

struct reader {
	const unsigned char *at, *end;
	uint64_t address; /* run-time address of the byte that at points to */
};

static bool read_fixed_bytes(struct reader *r, void *to, size_t bytes)
{
	if ((size_t)(r->end - r->at) < bytes)
		return false;
	memcpy(to, r->at, bytes);
	r->at += bytes;
	r->address += bytes;
	return true;
}

static bool read_uleb(struct reader *r, uint64_t *out)
{
	const unsigned char *from = r->at;
	bool ok = leb128_take(&r->at, r->end, out);

	r->address += (uint64_t)(r->at - from);
	return ok;
}

static bool read_sleb(struct reader *r, int64_t *out)
{
	const unsigned char *from = r->at;
	bool ok = leb128_take_signed(&r->at, r->end, out);

	r->address += (uint64_t)(r->at - from);
	return ok;
}

/* Reads an address in an encoding that compilers use for code addresses: absptr, (u|s)data(2|4|8), plain or pc-relative. */
static bool read_encoded_pointer(struct reader *r, unsigned char encoding, uint64_t *out)
{
	uint64_t base = (encoding & 0x70) == 0x10 ? r->address : 0, u = 0;
	int32_t s4;
	int16_t s2;

	if ((encoding & 0xf0) > 0x10)
		return false;
	switch (encoding & 0x0f) {
	case 0x00:
	case 0x04:
	case 0x0c:
		if (!read_fixed_bytes(r, &u, 8))
			return false;
		break;
	case 0x02:
		if (!read_fixed_bytes(r, &u, 2))
			return false;
		break;
	case 0x03:
		if (!read_fixed_bytes(r, &u, 4))
			return false;
		break;
	case 0x0a:
		if (!read_fixed_bytes(r, &s2, 2))
			return false;
		u = (uint64_t)(int64_t)s2;
		break;
	case 0x0b:
		if (!read_fixed_bytes(r, &s4, 4))
			return false;
		u = (uint64_t)(int64_t)s4;
		break;
	default:
		return false;
	}
	*out = base + u;
	return true;
}

struct cie {
	unsigned char encoding; /* pointer encoding of the FDEs' addresses */
	bool sized;		/* the FDEs have augmentation data, and its length */
	bool expressions, signal_frame;
	uint64_t code_factor;
	int64_t data_factor;
	const unsigned char *initial, *initial_end; /* instructions */
};

/* libunwind keeps four characters of an augmentation. Behind them, only 'S' may follow, which has no data. */
#define AUGMENTATION_KEPT 4

/* Reads a CIE behind its id. Returns false if it cannot be read, or libunwind may not run its program. */
static bool read_cie(struct reader r, struct cie *out)
{
	const unsigned char *augmentation_end;
	unsigned char version, c, return_register;
	const char *augmentation;
	uint64_t u;

	*out = (struct cie){ 0 };
	if (!read_fixed_bytes(&r, &version, 1) || (version != 1 && version != 3))
		return false;
	augmentation = (const char *)r.at;
	do {
		if (!read_fixed_bytes(&r, &c, 1))
			return false;
	} while (c);
	if (!read_uleb(&r, &out->code_factor) || !read_sleb(&r, &out->data_factor))
		return false;
	if (version == 1) {
		if (!read_fixed_bytes(&r, &return_register, 1))
			return false;
		u = return_register;
	} else if (!read_uleb(&r, &u)) {
		return false;
	}
	if (u != CFI_REGISTERS - 1) /* the return address of x86-64 has this number, and no code uses another one */
		return false;
	out->initial_end = r.end;
	out->initial = r.at;
	if (!*augmentation)
		return cfi_is_safe(r.at, (size_t)(r.end - r.at), &out->expressions);
	if (*augmentation++ != 'z' || !read_uleb(&r, &u) || u > (size_t)(r.end - r.at))
		return false;
	out->sized = true;
	augmentation_end = r.at + u;
	for (unsigned n = 1; *augmentation; augmentation++, n++) {
		if (*augmentation == 'S') {
			out->signal_frame = true;
			continue;
		}
		if (n >= AUGMENTATION_KEPT)
			return false;
		switch (*augmentation) {
		case 'R':
			if (!read_fixed_bytes(&r, &out->encoding, 1))
				return false;
			break;
		case 'P':
			if (!read_fixed_bytes(&r, &c, 1) || !read_encoded_pointer(&r, c & 0x7f, &u))
				return false;
			break;
		case 'L':
			if (!read_fixed_bytes(&r, &c, 1))
				return false;
			break;
		default:
			return false;
		}
	}
	out->initial = r.at;
	return r.at == augmentation_end && cfi_is_safe(r.at, (size_t)(r.end - r.at), &out->expressions);
}

/* Reads the rest of an FDE behind its addresses, which is augmentation data and a program. */
static bool read_fde_program(struct reader r, const struct cie *c, struct eh_frame_fde *out, struct cfi_program *program)
{
	uint64_t bytes = 0;

	if (c->sized && (!read_uleb(&r, &bytes) || bytes > (size_t)(r.end - r.at)))
		return false;
	r.at += bytes;
	out->expressions = c->expressions;
	*program = (struct cfi_program){ out->start, out->bytes, c->code_factor, c->data_factor, c->initial, c->initial_end,
					 r.at, r.end, c->signal_frame };
	return cfi_is_safe(r.at, (size_t)(r.end - r.at), &out->expressions);
}

/* This has the bytes of a section, and the last CIE that was read, because most FDEs have the same CIE as the one before. */
struct section {
	const unsigned char *base;
	size_t bytes;
	uint64_t address;
	uint64_t cie_offset; /* offset of cie, UINT64_MAX before the first one */
	bool cie_fits;
	struct cie cie;
};

static const struct cie *find_cie(struct section *s, uint64_t offset)
{
	struct reader r = { s->base + offset, s->base + s->bytes, s->address + offset };
	uint32_t length, id;

	if (offset == s->cie_offset)
		return s->cie_fits ? &s->cie : NULL;
	s->cie_offset = offset;
	s->cie_fits = false;
	if (!read_fixed_bytes(&r, &length, 4) || length > (size_t)(r.end - r.at))
		return NULL;
	r.end = r.at + length;
	if (!read_fixed_bytes(&r, &id, 4) || id != 0)
		return NULL;
	s->cie_fits = read_cie(r, &s->cie);
	return s->cie_fits ? &s->cie : NULL;
}

/* Reads the entry at offset, whose length field says length. Returns false if it is not a usable FDE. */
static bool read_fde(struct section *s, uint64_t offset, uint32_t length, struct eh_frame_fde *fde, struct cfi_program *program)
{
	struct reader r = { s->base + offset + 4, s->base + offset + 4 + length, s->address + offset + 4 };
	const struct cie *c;
	uint32_t id;

	*fde = (struct eh_frame_fde){ .offset = offset };
	if (!read_fixed_bytes(&r, &id, 4) || id == 0) /* this entry is a CIE */
		return false;
	if (id > offset + 4) /* the CIE lies id bytes before this field */
		return false;
	c = find_cie(s, offset + 4 - id);
	return c && read_encoded_pointer(&r, c->encoding, &fde->start) && read_encoded_pointer(&r, c->encoding & 0x0f, &fde->bytes) &&
	       read_fde_program(r, c, fde, program);
}

void eh_frame_each(const void *frames, size_t bytes, uint64_t address, bool (*each)(void *context, const struct eh_frame_fde *f),
		   void *context)
{
	struct section s = { .base = frames, .bytes = bytes, .address = address, .cie_offset = UINT64_MAX };
	struct reader r = { s.base, s.base + bytes, address };

	for (;;) {
		uint64_t offset = (uint64_t)(r.at - s.base);
		struct cfi_program program;
		struct eh_frame_fde fde;
		uint32_t length;

		if (!read_fixed_bytes(&r, &length, 4) || length == 0xffffffff || length > (size_t)(r.end - r.at))
			return;
		r.at += length; /* length 0 is a terminator, but a linker may have joined sections that each had one */
		if (length && read_fde(&s, offset, length, &fde, &program) && !each(context, &fde))
			return;
	}
}

bool eh_frame_read_program(const void *frames, size_t bytes, uint64_t address, uint64_t offset, struct cfi_program *out)
{
	struct section s = { .base = frames, .bytes = bytes, .address = address, .cie_offset = UINT64_MAX };
	struct eh_frame_fde fde;
	uint32_t length;

	if (offset > bytes || bytes - offset < 4)
		return false;
	memcpy(&length, s.base + offset, 4);
	return length && length <= bytes - offset - 4 && read_fde(&s, offset, length, &fde, out);
}
