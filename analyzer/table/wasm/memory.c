/* SPDX-License-Identifier: MIT */
/*
 * This file has memcpy(), memset(), an allocator and a multiplication for a page, which has no libc. memory_release() frees all that was
 * allocated since the memory_mark() whose result it is given. Context: the page's one thread.
 */
#include "analyzer/table/wasm/memory.h"

#include <string.h>

#define PAGE 65536u

extern unsigned char __heap_base; /* the linker's symbol for the end of all data and the stack */

static size_t top;

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
	unsigned char *t = to;
	const unsigned char *f = from;

	while (bytes--)
		*t++ = *f++;
	return to;
}

void *memset(void *at, int value, size_t bytes)
{
	unsigned char *t = at;

	while (bytes--)
		*t++ = (unsigned char)value;
	return at;
}

EXPORT(memory_mark) size_t memory_mark(void)
{
	if (!top)
		top = ((size_t)&__heap_base + 7) & ~(size_t)7;
	return top;
}

EXPORT(memory_release) void memory_release(size_t mark)
{
	top = mark;
}

EXPORT(memory_take) void *memory_take(size_t bytes)
{
	size_t at = memory_mark(), have = __builtin_wasm_memory_size(0) * PAGE, need;

	if (bytes > SIZE_MAX - at - 8 - PAGE)
		return NULL;
	need = (at + bytes + 7) & ~(size_t)7;
	if (need > have && __builtin_wasm_memory_grow(0, (need - have + PAGE - 1) / PAGE) == SIZE_MAX)
		return NULL;
	top = need;
	return (void *)at;
}

/* The compiler calls this function to multiply 128-bit numbers.  The product is computed from 32-bit halves. */
__int128 __multi3(__int128 a, __int128 b);
__int128 __multi3(__int128 a, __int128 b)
{
	const uint64_t x = (uint64_t)a, y = (uint64_t)b, half = UINT32_MAX;
	const uint64_t low = (x & half) * (y & half), m = (x >> 32) * (y & half) + (low >> 32), n = (x & half) * (y >> 32) + (m & half);
	const uint64_t high = (x >> 32) * (y >> 32) + (m >> 32) + (n >> 32) + (uint64_t)(a >> 64) * y + x * (uint64_t)(b >> 64);

	return (__int128)((unsigned __int128)high << 64 | (n << 32 | (low & half)));
}
