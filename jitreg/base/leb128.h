/* SPDX-License-Identifier: MIT */
/* Reads and writes LEB128 numbers (DWARF 5, section 7.6), and zigzag numbers (jitreg/trace/trace.h). At most ten bytes are accepted, as
 * 64 bits need, because readers disagree about longer encodings. Context: any. */
#ifndef TAILOR_LEB128_H
#define TAILOR_LEB128_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEB128_MAX 10 /* bytes of the longest encoding */

/* Write v.  Returns the address behind it.  The caller has made room for LEB128_MAX bytes. */
static inline unsigned char *leb128_put(unsigned char *at, uint64_t v)
{
	while (v >= 0x80) {
		*at++ = (unsigned char)(v | 0x80);
		v >>= 7;
	}
	*at++ = (unsigned char)v;
	return at;
}

/* Read a number of at most 10 untrusted bytes.  Returns the address behind it, or NULL if there is no valid number before end. */
static inline const unsigned char *leb128_get(const unsigned char *at, const unsigned char *end, uint64_t *v)
{
	uint64_t z;
	unsigned shift = 7;

	if (at == end)
		return NULL;
	z = *at & 0x7f;
	while (*at++ & 0x80) {
		if (at == end || shift > 63)
			return NULL;
		z |= (uint64_t)(*at & 0x7f) << shift;
		shift += 7;
	}
	*v = z;
	return at;
}

/* Returns the zigzag number of a signed difference, which is small if the difference is small, whatever its sign. */
static inline uint64_t zigzag(uint64_t d)
{
	return (d << 1) ^ (uint64_t)((int64_t)d >> 63);
}

static inline uint64_t unzigzag(uint64_t z)
{
	return (z >> 1) ^ -(z & 1);
}

/* Read a number, and move *at behind the bytes that were read.  Returns false if the number does not end before end, or has more than 10
 * bytes. */
static inline bool leb128_take(const unsigned char **at, const unsigned char *end, uint64_t *out)
{
	*out = 0;
	for (unsigned shift = 0; shift <= 63 && *at < end; shift += 7) {
		unsigned char c = *(*at)++;

		*out |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80))
			return true;
	}
	return false;
}

static inline bool leb128_take_signed(const unsigned char **at, const unsigned char *end, int64_t *out)
{
	uint64_t u = 0;

	for (unsigned shift = 0; shift <= 63 && *at < end; shift += 7) {
		unsigned char c = *(*at)++;

		u |= (uint64_t)(c & 0x7f) << shift;
		if (!(c & 0x80)) {
			if (c & 0x40 && shift + 7 < 64)
				u |= ~0ull << (shift + 7);
			*out = (int64_t)u;
			return true;
		}
	}
	return false;
}

#endif
