/* SPDX-License-Identifier: MIT */
#include "analyzer/table/planes.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

#define NR 1000u

static const uint64_t numbers[] = { 0, 1, 255, 256, 65535, 65536, UINT32_MAX, 1ull << 47, UINT64_MAX, UINT64_MAX - 1, 7, 0 };

static uint64_t number(uint32_t i)
{
	return i % 3 ? numbers[i % (sizeof(numbers) / sizeof(numbers[0]))] : i * 4096ull;
}

static void there_and_back(enum planes_kind kind)
{
	uint64_t wide[NR], last[5], back[NR];
	unsigned char bytes[8 * NR];
	uint32_t key[NR], nr_planes;
	struct planes p = { kind, NR, key, 5, last };

	for (uint32_t i = 0; i < NR; i++) {
		wide[i] = number(i);
		key[i] = i % 5;
	}
	nr_planes = planes_transform(&p, wide);
	assert_uint_in_range(nr_planes, 1, 8);
	for (uint32_t i = 0; i < nr_planes; i++)
		planes_put(wide, NR, i, bytes + (size_t)i * NR);
	planes_read(&p, bytes, nr_planes, back, 8);
	for (uint32_t i = 0; i < NR; i++)
		assert_int_equal(back[i], number(i));
}

static void every_kind_comes_back(void **state)
{
	(void)state;
	there_and_back(PLANES_PLAIN);
	there_and_back(PLANES_DELTA);
	there_and_back(PLANES_KEYED);
}

static void zeros_have_no_planes(void **state)
{
	uint64_t zero[NR] = { 0 };
	uint16_t back[NR];
	struct planes p = { .kind = PLANES_DELTA, .nr = NR };

	(void)state;
	memset(back, 1, sizeof(back));
	assert_int_equal(planes_transform(&p, zero), 0);
	planes_read(&p, NULL, 0, back, 2);
	for (uint32_t i = 0; i < NR; i++)
		assert_int_equal(back[i], 0);
}

static void small_steps_have_one_plane(void **state)
{
	uint64_t time[NR];
	struct planes p = { .kind = PLANES_DELTA, .nr = NR };

	(void)state;
	for (uint32_t i = 0; i < NR; i++)
		time[i] = 50ull * i + i % 7;
	assert_int_equal(planes_transform(&p, time), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_kind_comes_back),
		cmocka_unit_test(zeros_have_no_planes),
		cmocka_unit_test(small_steps_have_one_plane),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
