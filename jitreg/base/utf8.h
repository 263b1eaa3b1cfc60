/* SPDX-License-Identifier: MIT */
/* Examines characters of untrusted text: their length, their width on a terminal, and whether they are safe to print.  Context: any. */
#ifndef TAILOR_UTF8_H
#define TAILOR_UTF8_H

#include <stdbool.h>
#include <stdint.h>

struct utf8_character {
	int bytes;	/* length, at least 1, also if invalid */
	bool valid;	/* the bytes are UTF-8 */
	bool visible;	/* safe in messages: no control character, no change of direction, not invisible */
	bool printable; /* visible, and the locale has a width for it */
	int columns;	/* width on a terminal in the (UTF-8) locale: 0 (combines with the character before), 1 or 2; 1 if unknown */
};

/* Returns the character at text, which must be NUL-terminated and not empty. */
struct utf8_character utf8_next(const char *text);

/* Does a control character of two bytes, U+0080 to U+009F, begin at text?  Terminals obey these like those of one byte. */
static inline bool utf8_is_c1(const char *text)
{
	const unsigned char *u = (const unsigned char *)text;

	return u[0] == 0xc2 && u[1] >= 0x80 && u[1] < 0xa0;
}

#endif
