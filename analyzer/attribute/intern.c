/* SPDX-License-Identifier: MIT */
#include "intern.h"

#include <stdlib.h>
#include <string.h>

static uint32_t place(const struct intern *i, uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ (b << 32 | b >> 32)) * 0x9e3779b97f4a7c15ull;

	h ^= h >> 32;
	return (uint32_t)h & (i->capacity - 1);
}

uint32_t intern_find(const struct intern *i, uint64_t a, uint64_t b)
{
	if (!i->capacity)
		return 0;
	for (uint32_t at = place(i, a, b); i->slot[at].value; at = (at + 1) & (i->capacity - 1))
		if (i->slot[at].a == a && i->slot[at].b == b)
			return i->slot[at].value;
	return 0;
}

static void put(struct intern *i, uint64_t a, uint64_t b, uint32_t value)
{
	uint32_t at = place(i, a, b);

	while (i->slot[at].value)
		at = (at + 1) & (i->capacity - 1);
	i->slot[at] = (struct intern_slot){ a, b, value };
	i->nr++;
}

bool intern_add(struct intern *i, uint64_t a, uint64_t b, uint32_t value)
{
	if (2 * i->nr >= i->capacity) {
		struct intern bigger = { .capacity = i->capacity ? 2 * i->capacity : 1024 };

		bigger.slot = calloc(bigger.capacity, sizeof(*bigger.slot));
		if (!bigger.slot)
			return false;
		for (uint32_t n = 0; n < i->capacity; n++)
			if (i->slot[n].value)
				put(&bigger, i->slot[n].a, i->slot[n].b, i->slot[n].value);
		free(i->slot);
		*i = bigger;
	}
	put(i, a, b, value);
	return true;
}

void intern_fini(struct intern *i)
{
	free(i->slot);
	memset(i, 0, sizeof(*i));
}
