/* SPDX-License-Identifier: MIT */
#include "analyzer/unwind/textrel.h"

#include "jitreg/base/leb128.h"

#include <stdlib.h>
#include <string.h>

#define TEXTREL_UDATA4 0x23
#define TEXTREL_SDATA4 0x2b
#define PCREL_SDATA4 0x1b

/*
 * Reads length and id of the entry at an offset. Returns false at the end of the section, for an entry that does not end inside it, and for
 * a terminator.
 */
static bool read_frame_entry(const unsigned char *frames, uint64_t bytes, uint64_t at, uint32_t *length, uint32_t *id)
{
	if (at > bytes || bytes - at < 8)
		return false;
	memcpy(length, frames + at, 4);
	memcpy(id, frames + at + 4, 4);
	return *length >= 4 && *length <= bytes - at - 4;
}

/*
 * Returns the offset of the byte in the CIE at an offset that says how its FDEs write addresses. Returns 0 if these do not count from the
 * start of the code.
 */
static uint64_t find_fde_encoding(const unsigned char *frames, uint64_t bytes, uint64_t cie)
{
	uint32_t length, id;
	const unsigned char *at, *end;
	uint64_t skipped;

	if (!read_frame_entry(frames, bytes, cie, &length, &id) || id != 0 || length < 9)
		return 0;
	at = frames + cie + 8;
	end = frames + cie + 4 + length;
	if ((at[0] != 1 && at[0] != 3) || memcmp(at + 1, "zR", 3) != 0)
		return 0;
	at += 4;
	/*
	 * Skips the factors of code and data, the return address's register (a byte that is less than 128), and the augmentation's length.
	 */
	for (int i = 0; i < 4; i++)
		if (!leb128_take(&at, end, &skipped))
			return 0;
	return at < end && (*at == TEXTREL_UDATA4 || *at == TEXTREL_SDATA4) ? (uint64_t)(at - frames) : 0;
}

unsigned char *textrel_resolve(const unsigned char *frames, uint64_t bytes, uint64_t frames_address, uint64_t text)
{
	unsigned char *copy = NULL;
	uint32_t length, id;

	for (uint64_t at = 0; read_frame_entry(frames, bytes, at, &length, &id); at += 4 + (uint64_t)length) {
		uint64_t field = at + 8, encoding;
		uint32_t value;
		int64_t distance;

		if (id == 0 || id > at + 4 || length < 12)
			continue;
		encoding = find_fde_encoding(frames, bytes, at + 4 - id);
		if (!encoding)
			continue;
		memcpy(&value, frames + field, 4);
		distance = (int64_t)(text + (frames[encoding] == TEXTREL_SDATA4 ? (uint64_t)(int64_t)(int32_t)value : value) -
				     (frames_address + field));
		if (!copy) {
			copy = malloc(bytes);
			if (!copy)
				return NULL;
			memcpy(copy, frames, bytes);
		}
		if (distance != (int32_t)distance) /* the code of an object cannot be so far away, so this is malformed */
			distance = 0;
		value = (uint32_t)distance;
		memcpy(copy + field, &value, 4);
		copy[encoding] = PCREL_SDATA4;
	}
	return copy;
}
