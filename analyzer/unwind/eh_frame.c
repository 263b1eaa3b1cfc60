/* SPDX-License-Identifier: MIT */
#include "eh_frame.h"

#include "cfi.h"

#include <string.h>

struct reader {
	const unsigned char *at, *end;
	uint64_t address; /* of at, in the program */
};

static bool take(struct reader *r, void *to, size_t bytes)
{
	if ((size_t)(r->end - r->at) < bytes)
		return false;
	memcpy(to, r->at, bytes);
	r->at += bytes;
	r->address += bytes;
	return true;
}

static bool take_leb(struct reader *r, uint64_t *out)
{
	unsigned shift = 0;
	unsigned char c;

	*out = 0;
	do {
		if (!take(r, &c, 1) || shift > 63)
			return false;
		*out |= (uint64_t)(c & 0x7f) << shift;
		shift += 7;
	} while (c & 0x80);
	return true;
}

/* Encodings that compilers use for code addresses: absptr, (u|s)data(2|4|8), plain or pc-relative. */
static bool take_pointer(struct reader *r, unsigned char encoding, uint64_t *out)
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
		if (!take(r, &u, 8))
			return false;
		break;
	case 0x02:
		if (!take(r, &u, 2))
			return false;
		break;
	case 0x03:
		if (!take(r, &u, 4))
			return false;
		break;
	case 0x0a:
		if (!take(r, &s2, 2))
			return false;
		u = (uint64_t)(int64_t)s2;
		break;
	case 0x0b:
		if (!take(r, &s4, 4))
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
	unsigned char encoding; /* of its FDEs' addresses */
	bool sized;		/* its FDEs have augmentation data, and its length */
	bool expressions;
};

/* libunwind keeps four characters of an augmentation: what may follow is 'S', which has no data. */
#define AUGMENTATION_KEPT 4

/* A CIE behind its id; false when it cannot be read, or its program is not fit for libunwind. */
static bool read_cie(struct reader r, struct cie *out)
{
	const unsigned char *augmentation_end;
	unsigned char version, c, return_register;
	const char *augmentation;
	uint64_t u;

	*out = (struct cie){ 0 };
	if (!take(&r, &version, 1) || (version != 1 && version != 3))
		return false;
	augmentation = (const char *)r.at;
	do {
		if (!take(&r, &c, 1))
			return false;
	} while (c);
	if (!take_leb(&r, &u) || !take_leb(&r, &u)) /* alignment factors */
		return false;
	if (version == 1) {
		if (!take(&r, &return_register, 1))
			return false;
		u = return_register;
	} else if (!take_leb(&r, &u)) {
		return false;
	}
	if (u != CFI_REGISTERS - 1) /* another place for the return address: not x86-64 */
		return false;
	if (!*augmentation)
		return cfi_is_safe(r.at, (size_t)(r.end - r.at), &out->expressions);
	if (*augmentation++ != 'z' || !take_leb(&r, &u) || u > (size_t)(r.end - r.at))
		return false;
	out->sized = true;
	augmentation_end = r.at + u;
	for (unsigned n = 1; *augmentation; augmentation++, n++) {
		if (*augmentation == 'S')
			continue;
		if (n >= AUGMENTATION_KEPT)
			return false;
		switch (*augmentation) {
		case 'R':
			if (!take(&r, &out->encoding, 1))
				return false;
			break;
		case 'P':
			if (!take(&r, &c, 1) || !take_pointer(&r, c & 0x7f, &u))
				return false;
			break;
		case 'L':
			if (!take(&r, &c, 1))
				return false;
			break;
		default:
			return false;
		}
	}
	return r.at == augmentation_end && cfi_is_safe(r.at, (size_t)(r.end - r.at), &out->expressions);
}

/* What follows an FDE's addresses: augmentation data, and a program. */
static bool check_fde(struct reader r, const struct cie *c, struct eh_frame_fde *out)
{
	uint64_t bytes = 0;

	if (c->sized && (!take_leb(&r, &bytes) || bytes > (size_t)(r.end - r.at)))
		return false;
	r.at += bytes;
	out->expressions = c->expressions;
	return cfi_is_safe(r.at, (size_t)(r.end - r.at), &out->expressions);
}

void eh_frame_each(const void *frames, size_t bytes, uint64_t address, bool (*each)(void *context, const struct eh_frame_fde *f),
		   void *context)
{
	const unsigned char *base = frames;
	struct reader r = { base, base + bytes, address };

	for (;;) {
		struct eh_frame_fde fde = { .offset = (uint64_t)(r.at - base) };
		struct reader body, cie;
		uint64_t offset;
		uint32_t length, id, cie_length, cie_id;
		struct cie c;

		if (!take(&r, &length, 4) || length == 0xffffffff || length > (size_t)(r.end - r.at))
			return;
		if (length == 0) /* a terminator; a linker may have put sections together that each had one */
			continue;
		body = r;
		body.end = r.at + length;
		r.at += length;
		r.address += length;
		if (!take(&body, &id, 4) || id == 0) /* a CIE */
			continue;
		offset = fde.offset + 4;
		if (id > offset) /* the CIE lies id bytes before this field */
			continue;
		cie = (struct reader){ base + (offset - id), base + bytes, address + (offset - id) };
		if (!take(&cie, &cie_length, 4) || cie_length > (size_t)(cie.end - cie.at))
			continue;
		cie.end = cie.at + cie_length;
		if (!take(&cie, &cie_id, 4) || cie_id != 0)
			continue;
		if (!read_cie(cie, &c) || !take_pointer(&body, c.encoding, &fde.start) ||
		    !take_pointer(&body, c.encoding & 0x0f, &fde.bytes) || !check_fde(body, &c, &fde))
			continue;
		if (!each(context, &fde))
			return;
	}
}
