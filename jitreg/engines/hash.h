/* SPDX-License-Identifier: MIT */
/* Computes numbers of components from their descriptions, so that a component has the same number in all processes.  Context: any. */
#ifndef JITREG_ENGINES_HASH_H
#define JITREG_ENGINES_HASH_H

#include <stddef.h>
#include <stdint.h>

#define ENGINE_HASH_BEGIN 14695981039346656037ull

/* Returns an FNV-1a hash whose bits are mixed, so that texts which differ only at their end differ in high and low bits.  It is never 0,
 * which is no number of a component.  hash: ENGINE_HASH_BEGIN, or the hash of the bytes before. */
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
