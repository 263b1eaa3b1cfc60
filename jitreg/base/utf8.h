/* SPDX-License-Identifier: MIT */
/* One character of untrusted text: how many bytes it has, how wide a terminal shows it, whether it may go there.  Context: any. */
#ifndef TAILOR_UTF8_H
#define TAILOR_UTF8_H

#include <stdbool.h>
#include <stdint.h>

struct utf8_character {
	int bytes;	/* to go on by: at least 1 */
	bool valid;	/* it is UTF-8 */
	bool visible;	/* no control character, nothing that turns a line around or is not seen: a message may have it */
	bool printable; /* it is visible, and the locale has a width for it */
	int columns;	/* 0: combines with the one before it; 1, or 2.  By the locale, which is one of UTF-8 */
};

/* The one at text, which ends in a NUL and is not empty. */
struct utf8_character utf8_next(const char *text);

/* Does a control character of two bytes begin there, U+0080 to U+009F?  A terminal obeys it as it does those of one byte. */
static inline bool utf8_is_c1(const char *text)
{
	const unsigned char *u = (const unsigned char *)text;

	return u[0] == 0xc2 && u[1] >= 0x80 && u[1] < 0xa0;
}

#endif
