/* SPDX-License-Identifier: MIT */
#include "jitreg/engines/duckdb_plan.h"

#define BETWEEN_MAX 512u

/* Can these three words be a std::vector of pointers, that is, the addresses at which its elements begin, its elements end, and its
 * memory ends? */
static bool may_be_pointer_vector(const uint64_t *word)
{
	return word[0] % 8 == 0 && word[0] <= word[1] && word[1] <= word[2] && (word[1] - word[0]) % 8 == 0 &&
	       (word[1] - word[0]) / 8 <= BETWEEN_MAX && (word[0] || !word[2]);
}

bool duckdb_pipeline_find(const uint64_t *word, uint32_t nr, bool (*is_operator)(void *context, uint64_t address), void *context,
			  struct duckdb_pipeline *to)
{
	for (uint32_t i = 0; i + 4 < nr; i++) {
		if (!may_be_pointer_vector(word + i + 1) || !word[i] || !is_operator(context, word[i]))
			continue;
		if (word[i + 4] && !is_operator(context, word[i + 4]))
			continue;
		*to = (struct duckdb_pipeline){ i, word[i + 1], word[i + 2], word[i + 4] };
		return true;
	}
	return false;
}
