/* SPDX-License-Identifier: MIT */
/* Numbers as jitreg/trace.h's encodings have them.  Context: any. */
#ifndef TAILOR_LEB128_PUT_H
#define TAILOR_LEB128_PUT_H

#include <stdint.h>

#define LEB128_MAX 10 /* bytes */

/* Returns where the next one goes. */
static inline unsigned char *leb128_put(unsigned char *at, uint64_t v)
{
	while (v >= 0x80) {
		*at++ = (unsigned char)(v | 0x80);
		v >>= 7;
	}
	*at++ = (unsigned char)v;
	return at;
}

/* Small differences of both signs as small numbers. */
static inline uint64_t zigzag(uint64_t d)
{
	return (d << 1) ^ (uint64_t)((int64_t)d >> 63);
}

#endif
