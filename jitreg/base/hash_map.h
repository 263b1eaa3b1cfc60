/* SPDX-License-Identifier: MIT */
/* A hash table that grows, from a pair of numbers to a number: what indexes are made of.  Context: thread. */
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

/* A number of two, evenly spread whichever pairs a trace's author chooses: it depends on a secret of this process, so no output may depend
 * on it.  (Wang Yi, wyhash: the halves of a product.) */
extern uint64_t hash_secret[2];
static inline uint64_t hash_pair(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)(a ^ hash_secret[0]) * (b ^ hash_secret[1]);

	return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* 0 when it is not there. */
uint32_t hash_map_find(const struct hash_map *i, uint64_t a, uint64_t b);
/* value: not 0.  A pair that is there already gets the new value.  false without memory. */
bool hash_map_set(struct hash_map *i, uint64_t a, uint64_t b, uint32_t value);
/* The number of bytes or of a text, as a key: who finds it compares them (FNV-1a).  NULL: as of "". */
uint64_t hash_bytes(const void *bytes, size_t nr);
uint64_t hash_text(const char *text);
void hash_map_fini(struct hash_map *i);

#endif
