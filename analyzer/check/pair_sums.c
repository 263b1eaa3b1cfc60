/* SPDX-License-Identifier: MIT */
#include "analyzer/check/pair_sums.h"

#include "jitreg/base/grow.h"

#include <stdlib.h>

struct pair_sum *pair_sums_get(struct pair_sums *t, uint64_t a, uint64_t b)
{
	uint32_t at = hash_map_find(&t->index, a, b);

	if (at)
		return &t->at[at - 1];
	if (!ARRAY_GROW(*t) || !hash_map_set(&t->index, a, b, t->nr + 1))
		return NULL;
	t->at[t->nr] = (struct pair_sum){ .a = a, .b = b };
	return &t->at[t->nr++];
}

void pair_sums_fini(struct pair_sums *t)
{
	hash_map_fini(&t->index);
	free(t->at);
}
