/* SPDX-License-Identifier: MIT */
/* Numbers as jitreg/trace/trace.h's encodings have them, out of bytes that may hold anything.  Context: any. */
#ifndef TAILOR_NUMBERS_H
#define TAILOR_NUMBERS_H

#include <stddef.h>
#include <stdint.h>

/* Returns what follows the number, or NULL when there is none. */
static inline const unsigned char *number_get(const unsigned char *at, const unsigned char *end, uint64_t *v)
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

static inline uint64_t unzigzag(uint64_t z)
{
	return (z >> 1) ^ -(z & 1);
}

#endif
