/* SPDX-License-Identifier: MIT */
/* Numbers for components that are the same in all processes, computed from their descriptions.  Context: any. */
#ifndef JITREG_ENGINES_HASH_H
#define JITREG_ENGINES_HASH_H

#include <stddef.h>
#include <stdint.h>

#define ENGINE_HASH_BEGIN 14695981039346656037ull

/* An FNV-1a hash with mixed bits, so that texts which differ at their end differ in all bits.  Never 0. */
static inline uint64_t engine_hash(uint64_t hash, const void *bytes, size_t nr)
{
	const unsigned char *b = bytes;

	for (size_t i = 0; i < nr; i++)
		hash = (hash ^ b[i]) * 1099511628211ull;
	hash ^= hash >> 29;
	hash *= 0xbf58476d1ce4e5b9ull;
	hash ^= hash >> 32;
	return hash ? hash : 1;
}

#endif
