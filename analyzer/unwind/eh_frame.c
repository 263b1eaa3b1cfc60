/* SPDX-License-Identifier: MIT */
#include "eh_frame.h"

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

	if ((encoding & 0x70) > 0x10)
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

/* The FDE pointer encoding that a CIE states ('R'), absptr without one; 0xff: unreadable. */
static unsigned char cie_encoding(struct reader r)
{
	unsigned char version, c, encoding = 0;
	const char *augmentation;
	uint64_t u;

	if (!take(&r, &version, 1))
		return 0xff;
	augmentation = (const char *)r.at;
	do {
		if (!take(&r, &c, 1))
			return 0xff;
	} while (c);
	if (augmentation[0] != 'z')
		return augmentation[0] ? 0xff : 0;
	if (!take_leb(&r, &u) || !take_leb(&r, &u)) /* alignment factors */
		return 0xff;
	if (version == 1 ? !take(&r, &c, 1) : !take_leb(&r, &u)) /* return address register */
		return 0xff;
	if (!take_leb(&r, &u))
		return 0xff;
	for (augmentation++; *augmentation; augmentation++)
		switch (*augmentation) {
		case 'R':
			return take(&r, &encoding, 1) ? encoding : 0xff;
		case 'P':
			if (!take(&r, &c, 1) || !take_pointer(&r, c & 0x7f, &u))
				return 0xff;
			break;
		case 'L':
			if (!take(&r, &c, 1))
				return 0xff;
			break;
		case 'S':
		case 'B':
			break;
		default:
			return 0xff;
		}
	return 0;
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
		unsigned char encoding;

		if (!take(&r, &length, 4) || length == 0 || length == 0xffffffff || length > (size_t)(r.end - r.at))
			return;
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
		encoding = cie_encoding(cie);
		if (encoding == 0xff || !take_pointer(&body, encoding, &fde.start) ||
		    !take_pointer(&body, encoding & 0x0f, &fde.bytes))
			continue;
		if (!each(context, &fde))
			return;
	}
}
