/* SPDX-License-Identifier: MIT */
#include "jitreg/base/utf8.h"

#include <stddef.h>
#include <wchar.h>

/* Is c a character without a shape, which changes the direction of a line, breaks it, or is hidden in it? */
static bool is_invisible_character(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} unseen[] = { { 0, 0x1f }, { 0x7f, 0x9f }, { 0xad, 0xad }, { 0x61c, 0x61c }, { 0x180e, 0x180e }, { 0x200b, 0x200f },
		       { 0x2028, 0x202e }, { 0x2060, 0x206f }, { 0xfeff, 0xfeff }, { 0xfff0, 0xfffb }, { 0xe0000, 0xe0fff } };

	for (size_t i = 0; i < sizeof(unseen) / sizeof(unseen[0]); i++)
		if (c >= unseen[i].first && c <= unseen[i].last)
			return true;
	return false;
}

struct utf8_character utf8_next(const char *text)
{
	/* smallest code by length; the encoding of a smaller one in as many bytes is not UTF-8 */
	static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *c = (const unsigned char *)text;
	int bytes = *c < 0x80 ? 1 : *c < 0xc2 || *c > 0xf4 ? 0 : *c < 0xe0 ? 2 : *c < 0xf0 ? 3 : 4, n = 1;
	uint32_t code = bytes < 2 ? *c : *c & (0x7fu >> bytes);
	bool invisible;
	int width;

	if (*c >= 0x20 && *c < 0x7f)
		return (struct utf8_character){ 1, true, true, true, 1 };
	for (; n < bytes && (c[n] & 0xc0) == 0x80; n++)
		code = code << 6 | (c[n] & 0x3f);
	if (!bytes || n < bytes || code < least[bytes] || (code >= 0xd800 && code < 0xe000) || code > 0x10ffff)
		return (struct utf8_character){ .bytes = n, .columns = 1 };
	invisible = is_invisible_character(code);
	width = invisible ? -1 : wcwidth((wchar_t)code);
	return (struct utf8_character){ bytes, true, !invisible, width >= 0, width < 0 ? 1 : width };
}
