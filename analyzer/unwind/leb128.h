/* SPDX-License-Identifier: MIT */
/* LEB128 (DWARF 5, section 7.6) of at most ten bytes: longer ones are read differently by different readers.  Context: any. */
#ifndef TAILOR_LEB128_H
#define TAILOR_LEB128_H

#include <stdbool.h>
#include <stdint.h>

/* false: it does not end before end. */
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
