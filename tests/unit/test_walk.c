/* SPDX-License-Identifier: MIT */
#include "analyzer/serve/walk.h"
#include "tests/unit/unit.h"

#include <string.h>

#define NR 100003u
#define WAYS 7u

static uint32_t time_us[NR];
static uint8_t way[NR];
static uint64_t address[NR];
static uint16_t fails[2][NR];

static int make(void **state)
{
	(void)state;
	memset(fails, 0, sizeof(fails));
	for (uint32_t i = 0; i < NR; i++) {
		time_us[i] = i * 2;
		way[i] = (uint8_t)((i * 2654435761u >> 24) % WAYS);
		address[i] = i * 2654435761u % 4096;
	}
	return 0;
}

/* Whole numbers: in any order they add up to the same. */
static void threads_come_to_the_same_sums(void **state)
{
	static const double weight_of[] = { 3 };
	const struct crossfilter c = { NR, fails[0], { way, 1 }, NULL, { NULL, 1 }, weight_of };
	const struct crossfilter_key by_way = { .column = { way, 1 }, .nr = WAYS },
				     by_time = { .column = { time_us, 4 }, .nr = 50, .per_bin = 1.0 / 4000, .grows = true };
	struct crossfilter_sum one[WAYS * 50], several[WAYS * 50];

	(void)state;
	for (uint32_t i = 0; i < NR; i += 3)
		fails[0][i] = 1;
	crossfilter_sum_groups(&c, 17, NR - 5, 0, &by_way, &by_time, one);
	for (unsigned threads = 1; threads <= WALK_THREADS_MAX; threads++) {
		memset(several, 0xff, sizeof(several));
		walk_sums(threads, &c, 17, NR - 5, 0, &by_way, &by_time, several);
		for (uint32_t i = 0; i < WAYS * 50; i++) {
			assert_true(several[i].samples <= one[i].samples && several[i].samples >= one[i].samples);
			assert_true(several[i].weight <= one[i].weight && several[i].weight >= one[i].weight);
		}
		walk_sums(threads, &c, 9, 9, 0, &by_way, &by_time, several);
		assert_true(several[0].samples <= 0);
		walk_sums(threads, &c, 0, NR + 100, 0, &by_way, &by_time, several);
		assert_true(several[0].samples > 0);
	}
}

static void threads_come_to_the_same_filters(void **state)
{
	static const unsigned char allowed[WAYS] = { 1, 0, 1 };
	const struct crossfilter_set sets[2] = { { { way, 1 }, allowed, WAYS }, { { time_us, 4 }, allowed, 2 } };

	(void)state;
	for (unsigned threads = 1; threads <= WALK_THREADS_MAX; threads++) {
		crossfilter_apply_sets(fails[0], NR, 2, sets, 2);
		walk_sets(threads, fails[1], NR, 2, sets, 2);
		crossfilter_apply_range(fails[0], NR, 4, (struct crossfilter_column){ address, 8 }, 100, 1000 + threads);
		walk_range(threads, fails[1], NR, 4, (struct crossfilter_column){ address, 8 }, 100, 1000 + threads);
		assert_memory_equal(fails[0], fails[1], sizeof(fails[0]));
	}
}

static void few_rows_are_walked_by_one(void **state)
{
	(void)state;
	assert_int_equal(walk_threads(0, 1), 1);
	assert_int_equal(walk_threads(1000, 1), 1);
	assert_int_equal(walk_threads(1u << 24, 1u << 24), 1);
	assert_uint_in_range(walk_threads(UINT32_MAX / 2, 1), 1, WALK_THREADS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(threads_come_to_the_same_sums, make),
		cmocka_unit_test_setup(threads_come_to_the_same_filters, make),
		cmocka_unit_test(few_rows_are_walked_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
