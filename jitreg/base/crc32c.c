/* SPDX-License-Identifier: MIT */
#include "jitreg/base/crc32c.h"

#include <string.h>

#if defined(__x86_64__)
/* Compute the checksum by the instruction crc32 of SSE4.2, which takes up to 8 bytes at a time and uses this polynomial. */
__attribute__((target("sse4.2"))) static uint32_t crc_instruction(uint32_t crc, const unsigned char *p, size_t nr)
{
	uint64_t wide = crc;

	for (; nr >= 8; p += 8, nr -= 8) {
		uint64_t word;

		memcpy(&word, p, 8);
		wide = __builtin_ia32_crc32di(wide, word);
	}
	crc = (uint32_t)wide;
	for (; nr > 0; p++, nr--)
		crc = __builtin_ia32_crc32qi(crc, *p);
	return crc;
}
#endif

static uint32_t crc_bitwise(uint32_t crc, const unsigned char *p, size_t nr)
{
	for (; nr > 0; p++, nr--) {
		crc ^= *p;
		for (int i = 0; i < 8; i++)
			crc = (crc >> 1) ^ (0x82f63b78u & (0u - (crc & 1)));
	}
	return crc;
}

uint32_t crc32c(uint32_t crc, const void *bytes, size_t nr)
{
	crc = ~crc;
#if defined(__x86_64__)
	if (__builtin_cpu_supports("sse4.2"))
		return ~crc_instruction(crc, bytes, nr);
#endif
	return ~crc_bitwise(crc, bytes, nr);
}
