/* SPDX-License-Identifier: MIT */
/* Finding and replacing, and pairs that were chosen so that they fall together. */
#include "tests/unit/unit.h"

#include "jitreg/base/hash_map.h"

#define PAIRS 100000u

static void a_pair_has_its_latest_value(void **state)
{
	struct hash_map m = { 0 };

	(void)state;
	assert_int_equal(hash_map_find(&m, 1, 2), 0);
	for (uint32_t i = 1; i <= PAIRS; i++)
		assert_true(hash_map_set(&m, i % 100, i / 100, i));
	assert_true(hash_map_set(&m, 5, 7, 1));
	assert_int_equal(m.nr, PAIRS);
	for (uint32_t i = 1; i <= PAIRS; i++)
		assert_int_equal(hash_map_find(&m, i % 100, i / 100), i == 705 ? 1 : i);
	assert_int_equal(hash_map_find(&m, 100, 0), 0);
	hash_map_fini(&m);
}

/* The longest way of a search: slots in a row that are not free. */
static uint32_t longest_run(const struct hash_map *m)
{
	uint32_t longest = 0, run = 0;

	for (uint32_t i = 0; i < m->capacity; i++) {
		run = m->slot[i].value ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	return longest;
}

static uint64_t swap_halves(uint64_t v)
{
	return v << 32 | v >> 32;
}

/* Numbers in traces are chosen by whoever made the trace: without a secret, these fell into one place, and each took as long as all before
 * it together. */
static void chosen_pairs_are_spread(void **state)
{
	struct hash_map m = { 0 };

	(void)state;
	for (uint64_t i = 1; i <= PAIRS; i++)
		assert_true(hash_map_set(&m, i, swap_halves(i ^ 0x1234567890abcdef), 1));
	assert_true(longest_run(&m) < 1000);
	hash_map_fini(&m);
	for (uint64_t i = 1; i <= PAIRS; i++) /* equal low halves, and equal high ones */
		assert_true(hash_map_set(&m, i << 32, 0, 1) && hash_map_set(&m, 0, i << 44, 1));
	assert_true(longest_run(&m) < 1000);
	hash_map_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pair_has_its_latest_value),
		cmocka_unit_test(chosen_pairs_are_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
