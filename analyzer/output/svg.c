/* SPDX-License-Identifier: MIT */
#include "analyzer/output/svg.h"

/* The bytes of the character at s, 0 when it is no UTF-8 or nothing that XML 1.0 allows. */
static unsigned character(const unsigned char *s)
{
	static const unsigned least[] = { 0, 0, 0x80, 0x800, 0x10000 };
	unsigned nr = s[0] < 0x80 ? 1 : s[0] >> 5 == 6 ? 2 : s[0] >> 4 == 14 ? 3 : s[0] >> 3 == 30 ? 4 : 0;
	unsigned code = nr == 1 ? s[0] : s[0] & (0x7fu >> nr);

	for (unsigned i = 1; i < nr; i++) {
		if (s[i] >> 6 != 2) /* also at the end of the text */
			return 0;
		code = code << 6 | (s[i] & 0x3f);
	}
	if (nr == 0 || code < least[nr] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) || code == 0xfffe || code == 0xffff)
		return 0;
	return code < 0x20 && code != '\t' && code != '\n' && code != '\r' ? 0 : nr;
}

void svg_put_text(const char *text, FILE *to)
{
	const unsigned char *s = (const unsigned char *)text;

	while (*s) {
		unsigned nr = character(s);

		switch (nr == 1 ? *s : 0) {
		case '&':
			fputs("&amp;", to);
			break;
		case '<':
			fputs("&lt;", to);
			break;
		case '>':
			fputs("&gt;", to);
			break;
		case '"':
			fputs("&quot;", to);
			break;
		case '\'':
			fputs("&#39;", to);
			break;
		default:
			if (nr)
				fwrite(s, 1, nr, to);
			else
				fputc('?', to);
		}
		s += nr ? nr : 1;
	}
}
