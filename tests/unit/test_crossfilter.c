/* SPDX-License-Identifier: MIT */
#include "analyzer/table/crossfilter.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NR 5000u /* several blocks, the last one not full */
#define OPERATORS 7u

enum { BY_OPERATOR = 1, BY_THREAD = 2, BY_TIME = 4 };

static uint32_t time_us[NR];
static uint16_t way[NR], fails[NR];
static uint8_t thread[NR], weight[NR];
static const double share[] = { 1, 0.5, 0.25, 1, 1, 0.5, 1, 1 }, weight_of[] = { 1000, 3 };
static const uint32_t operator_of[] = { 0, 1, 2, 3, 4, 5, 6, CROSSFILTER_NO_KEY };

static int make(void **state)
{
	(void)state;
	memset(fails, 0, sizeof(fails));
	for (uint32_t i = 0; i < NR; i++) {
		time_us[i] = i / 3 * 5;
		way[i] = (uint16_t)(i * 2654435761u >> 24 & 7);
		thread[i] = (uint8_t)(i % 3);
		weight[i] = (uint8_t)(i % 2);
	}
	return 0;
}

static const struct crossfilter all = { NR, fails, { way, 2 }, share, { weight, 1 }, weight_of };
static const struct crossfilter_key one = { .column = { NULL, 4 }, .nr = 1 },
				    by_operator = { .column = { way, 2 }, .map = operator_of, .nr_map = 8, .nr = OPERATORS },
				    by_thread = { .column = { thread, 1 }, .nr = 3 };

static bool is_close(double a, double b)
{
	return fabs(a - b) <= 1e-9 * (fabs(a) + 1);
}

static void sums_are_those_of_a_loop(void **state)
{
	struct crossfilter_sum sum[OPERATORS * 3], expected[OPERATORS * 3];

	(void)state;
	memset(expected, 0, sizeof(expected));
	for (uint32_t i = 0; i < NR; i++) {
		uint32_t o = operator_of[way[i]];
		double w = share[way[i]] * weight_of[weight[i]];

		if (o == CROSSFILTER_NO_KEY)
			continue;
		expected[o * 3 + thread[i]].samples += share[way[i]];
		expected[o * 3 + thread[i]].weight += w;
		expected[o * 3 + thread[i]].weight_squares += w * w;
	}
	crossfilter_sum_groups(&all, 0, NR, 0, &by_operator, &by_thread, sum);
	for (uint32_t i = 0; i < OPERATORS * 3; i++) {
		assert_true(is_close(sum[i].samples, expected[i].samples));
		assert_true(is_close(sum[i].weight, expected[i].weight));
		assert_true(is_close(sum[i].weight_squares, expected[i].weight_squares));
	}
}

/* All samples weigh the same, but for their shares. */
static void parts_of_samples_that_are_alike_have_their_shares_weight(void **state)
{
	const struct crossfilter alike = { NR, fails, { way, 2 }, share, { NULL, 1 }, weight_of };
	struct crossfilter_sum sum;
	double samples = 0;

	(void)state;
	for (uint32_t i = 0; i < NR; i++)
		samples += share[way[i]];
	crossfilter_sum_groups(&alike, 0, NR, 0, &one, &one, &sum);
	assert_true(is_close(sum.samples, samples));
	assert_true(is_close(sum.weight, samples * weight_of[0]));
}

static void a_filter_can_be_left_out_of_a_sum(void **state)
{
	const unsigned char second[] = { 0, 0, 1 }, first_thread[] = { 1 };
	const struct crossfilter_set operators = { { way, 2 }, second, 3 }, threads = { { thread, 1 }, first_thread, 1 };
	struct crossfilter_sum both, without_operator, none, again;

	(void)state;
	crossfilter_sum_groups(&all, 0, NR, 0, &one, &one, &none);
	crossfilter_apply_sets(fails, NR, BY_THREAD, &threads, 1);
	crossfilter_sum_groups(&all, 0, NR, 0, &one, &one, &without_operator);
	crossfilter_apply_sets(fails, NR, BY_OPERATOR, &operators, 1);
	crossfilter_sum_groups(&all, 0, NR, 0, &one, &one, &both);
	crossfilter_sum_groups(&all, 0, NR, BY_OPERATOR, &one, &one, &again);
	assert_true(both.samples > 0 && both.samples < without_operator.samples);
	assert_true(is_close(again.samples, without_operator.samples));
	crossfilter_clear(fails, NR, BY_THREAD);
	crossfilter_clear(fails, NR, BY_OPERATOR);
	crossfilter_sum_groups(&all, 0, NR, 0, &one, &one, &again);
	assert_true(is_close(again.samples, none.samples));
}

static void a_key_of_two_is_both(void **state)
{
	struct crossfilter_key pair = by_operator;
	struct crossfilter_sum two[OPERATORS * 3], sum[OPERATORS * 3];

	(void)state;
	pair.inner = &by_thread;
	pair.nr = OPERATORS * 3;
	crossfilter_sum_groups(&all, 0, NR, 0, &by_operator, &by_thread, two);
	crossfilter_sum_groups(&all, 0, NR, 0, &pair, &one, sum);
	for (uint32_t i = 0; i < OPERATORS * 3; i++)
		assert_true(is_close(two[i].samples, sum[i].samples) && is_close(two[i].weight_squares, sum[i].weight_squares));
}

static void rows_of_either_set_pass(void **state)
{
	const unsigned char third[] = { 0, 0, 1 }, second[] = { 0, 1 };
	const struct crossfilter_set sets[] = { { { thread, 1 }, third, 3 }, { { thread, 1 }, second, 2 } };
	struct crossfilter_sum sum[3];

	(void)state;
	crossfilter_apply_sets(fails, NR, BY_THREAD, sets, 2);
	crossfilter_sum_groups(&all, 0, NR, 0, &by_thread, &one, sum);
	assert_true(sum[0].samples <= 0 && sum[1].samples > 0 && sum[2].samples > 0);
}

static void bins_of_what_grows_are_those_of_any_column(void **state)
{
	struct crossfilter_key any = { .column = { time_us, 4 }, .nr = 100, .origin = 40, .per_bin = 1 / 71.0 }, growing = any;
	struct crossfilter_sum sum[100], same[100];
	double samples = 0;

	(void)state;
	growing.grows = true;
	crossfilter_sum_groups(&all, 0, NR, 0, &any, &one, sum);
	crossfilter_sum_groups(&all, 0, NR, 0, &growing, &one, same);
	for (uint32_t i = 0; i < 100; i++) {
		assert_true(is_close(sum[i].samples, same[i].samples));
		samples += sum[i].samples;
	}
	assert_true(samples > 0);
}

static void a_range_of_time_is_a_range_of_rows(void **state)
{
	uint32_t first = crossfilter_find((struct crossfilter_column){ time_us, 4 }, NR, 1000),
		 end = crossfilter_find((struct crossfilter_column){ time_us, 4 }, NR, 2001);
	struct crossfilter_sum rows, filtered;

	(void)state;
	crossfilter_sum_groups(&all, first, end, 0, &one, &one, &rows);
	crossfilter_apply_range(fails, NR, BY_TIME, (struct crossfilter_column){ time_us, 4 }, 1000, 2001);
	crossfilter_sum_groups(&all, 0, NR, 0, &one, &one, &filtered);
	assert_true(rows.samples > 0 && is_close(rows.samples, filtered.samples));
	assert_int_equal(crossfilter_find((struct crossfilter_column){ time_us, 4 }, NR, UINT64_MAX), NR);
}

static void samples_that_are_all_alike_are_counted(void **state)
{
	const struct crossfilter alike = { NR, fails, { way, 2 }, NULL, { NULL, 1 }, weight_of };
	struct crossfilter_sum sum[3];

	(void)state;
	crossfilter_sum_groups(&alike, 0, NR, 0, &by_thread, &one, sum);
	assert_true(is_close(sum[0].samples + sum[1].samples + sum[2].samples, NR));
	assert_true(is_close(sum[1].weight, sum[1].samples * 1000) && is_close(sum[1].weight_squares, sum[1].samples * 1e6));
}

static void numbers_without_a_key_are_in_no_sum(void **state)
{
	const struct crossfilter_key few = { .column = { way, 2 }, .nr = 2 },
				    short_map = { .column = { way, 2 }, .map = operator_of, .nr_map = 2, .nr = OPERATORS };
	struct crossfilter_sum sum[OPERATORS];

	(void)state;
	crossfilter_sum_groups(&all, 0, NR, 0, &few, &one, sum);
	assert_true(sum[0].samples > 0 && sum[1].samples > 0);
	crossfilter_sum_groups(&all, 0, NR + 100, 0, &short_map, &one, sum);
	assert_true(sum[1].samples > 0 && sum[2].samples <= 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(sums_are_those_of_a_loop, make),
		cmocka_unit_test_setup(parts_of_samples_that_are_alike_have_their_shares_weight, make),
		cmocka_unit_test_setup(a_filter_can_be_left_out_of_a_sum, make),
		cmocka_unit_test_setup(a_key_of_two_is_both, make),
		cmocka_unit_test_setup(rows_of_either_set_pass, make),
		cmocka_unit_test_setup(bins_of_what_grows_are_those_of_any_column, make),
		cmocka_unit_test_setup(a_range_of_time_is_a_range_of_rows, make),
		cmocka_unit_test_setup(samples_that_are_all_alike_are_counted, make),
		cmocka_unit_test_setup(numbers_without_a_key_are_in_no_sum, make),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
