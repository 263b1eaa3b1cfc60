/* SPDX-License-Identifier: MIT */
#include "jitreg/base/hash_map.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define FIRST_SLOTS 16u /* few, since a struct model has several tables for each process, and most have few entries */

uint64_t hash_secret[2];

/* The secret is the 16 random bytes that the kernel gives each program (AT_RANDOM). */
__attribute__((constructor)) static void choose_secret(void)
{
	const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM);

	if (random)
		memcpy(hash_secret, random, sizeof(hash_secret));
	hash_secret[1] |= 1; /* with 0, all pairs whose second number is 0 would have the same hash */
}

static uint32_t first_slot_of_pair(const struct hash_map *i, uint64_t a, uint64_t b)
{
	return (uint32_t)hash_pair(a, b) & (i->capacity - 1);
}

/* Returns the slot that has the pair, or the free slot where it would be.  The table has free slots. */
static struct hash_slot *find_slot_of_pair(const struct hash_map *i, uint64_t a, uint64_t b)
{
	uint32_t at = first_slot_of_pair(i, a, b);

	while (i->slot[at].value && (i->slot[at].a != a || i->slot[at].b != b))
		at = (at + 1) & (i->capacity - 1);
	return &i->slot[at];
}

uint32_t hash_map_find(const struct hash_map *i, uint64_t a, uint64_t b)
{
	return i->capacity ? find_slot_of_pair(i, a, b)->value : 0;
}

static bool grow_hash_map(struct hash_map *i)
{
	struct hash_map bigger = { .capacity = i->capacity ? 2 * i->capacity : FIRST_SLOTS, .nr = i->nr };

	bigger.slot = calloc(bigger.capacity, sizeof(*bigger.slot));
	if (!bigger.slot)
		return false;
	for (uint32_t n = 0; n < i->capacity; n++)
		if (i->slot[n].value)
			*find_slot_of_pair(&bigger, i->slot[n].a, i->slot[n].b) = i->slot[n];
	free(i->slot);
	*i = bigger;
	return true;
}

bool hash_map_set(struct hash_map *i, uint64_t a, uint64_t b, uint32_t value)
{
	struct hash_slot *slot;

	if (2 * i->nr >= i->capacity && !grow_hash_map(i))
		return false;
	slot = find_slot_of_pair(i, a, b);
	i->nr += slot->value == 0;
	*slot = (struct hash_slot){ a, b, value };
	return true;
}

uint64_t hash_bytes(const void *bytes, size_t nr)
{
	const unsigned char *at = bytes;
	uint64_t h = 14695981039346656037ull;

	for (size_t i = 0; i < nr; i++)
		h = (h ^ at[i]) * 1099511628211ull;
	return h;
}

uint64_t hash_text(const char *text)
{
	return hash_bytes(text, text ? strlen(text) : 0);
}

void hash_map_fini(struct hash_map *i)
{
	free(i->slot);
	memset(i, 0, sizeof(*i));
}
