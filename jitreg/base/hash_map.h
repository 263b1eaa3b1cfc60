/* SPDX-License-Identifier: MIT */
/* This hash table maps pairs of numbers to numbers, and grows. All zeros are an empty table. Context: thread. */
#ifndef TAILOR_HASH_MAP_H
#define TAILOR_HASH_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hash_map {
	struct hash_slot {
		uint64_t a, b;
		uint32_t value; /* 0: free */
	} *slot;
	uint32_t nr, capacity;
};

/*
 * Hash a pair of numbers (Wang Yi, wyhash: the halves of a product, twice). The hash depends on a secret of this process, so that the
 * author of a trace cannot choose pairs that collide and make lookups slow. It differs from run to run, so no output may depend on it.
 * With a single product, for one secret in 750, pairs of which one number is constant filled thousands of slots in a row.
 */
extern uint64_t hash_secret[2];
static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}
static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
	return hash_fold(hash_fold(a ^ hash_secret[0], b ^ hash_secret[1]) ^ 0x9e3779b97f4a7c15ull, 0xd6e8feb86659fd93ull);
}

/* Returns the value of a pair, or 0 if the pair is not in the table. */
uint32_t hash_map_find(const struct hash_map *i, uint64_t a, uint64_t b);
/* Set the value of a pair, in place of its former one.  The value must not be 0, which means a free slot.  Returns false if memory runs
 * out. */
bool hash_map_set(struct hash_map *i, uint64_t a, uint64_t b, uint32_t value);
/* Return the FNV-1a hash of bytes or of a text, to be part of a pair.  Different texts may have the same hash, so callers compare the
 * bytes.  A text that is NULL has the hash of "". */
uint64_t hash_bytes(const void *bytes, size_t nr);
uint64_t hash_text(const char *text);
void hash_map_fini(struct hash_map *i);

#endif
