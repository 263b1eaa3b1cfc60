/* SPDX-License-Identifier: MIT */
/* Medians, quartiles and bootstrap intervals of few values. */
#include "analyzer/overhead/statistics.h"
#include "tests/unit/unit.h"

#include <math.h>
#include <string.h>

#define NR(a) (sizeof(a) / sizeof(*(a)))

static void near(double a, double b)
{
	if (!(fabs(a - b) < 1e-9))
		fail_msg("expected %.12g, got %.12g", b, a);
}

static void quartiles_lie_between_values(void **state)
{
	double odd[] = { 5, 1, 4, 2, 3 }, even[] = { 40, 10, 30, 20 };
	struct spread s = spread_of_values(odd, NR(odd));

	(void)state;
	near(s.median, 3);
	near(s.lower_quartile, 2);
	near(s.upper_quartile, 4);
	assert_int_equal(s.nr, 5);
	s = spread_of_values(even, NR(even)); /* as numpy.percentile and R's quantile have it */
	near(s.median, 25);
	near(s.lower_quartile, 17.5);
	near(s.upper_quartile, 32.5);
}

static void one_value_is_its_own_interval(void **state)
{
	double one[] = { -7.5 };
	struct spread s = spread_of_values(one, 1);

	(void)state;
	near(s.median, -7.5);
	near(s.low, -7.5);
	near(s.high, -7.5);
}

static void nothing_has_no_median(void **state)
{
	double nans[] = { NAN, NAN };
	struct spread s = spread_of_values(NULL, 0);

	(void)state;
	assert_int_equal(s.nr, 0);
	assert_true(isnan(s.median) && isnan(s.low) && isnan(s.upper_quartile));
	s = spread_of_values(nans, 2);
	assert_int_equal(s.nr, 0);
	assert_true(isnan(s.median));
}

static void what_was_not_measured_does_not_count(void **state)
{
	double values[] = { NAN, 3, NAN, 1, 2, NAN };
	struct spread s = spread_of_values(values, NR(values));

	(void)state;
	assert_int_equal(s.nr, 3);
	near(s.median, 2);
}

static void intervals_hold_the_median_and_stay_within_the_values(void **state)
{
	uint64_t random = 42;

	(void)state;
	for (size_t nr = 1; nr <= 200; nr += 7) {
		double values[200], copy[200];
		struct spread s, again;

		for (size_t i = 0; i < nr; i++)
			values[i] = copy[i] = (double)random_below(&random, 1000);
		s = spread_of_values(values, nr);
		again = spread_of_values(copy, nr);
		assert_memory_equal(&s, &again, sizeof(s)); /* the same values, the same interval */
		assert_true(s.low <= s.median && s.median <= s.high);
		assert_true(values[0] <= s.low && s.high <= values[nr - 1]); /* sorted by now */
	}
}

/* Of the median of nine, the values next to it but two on each side hold it with 82 %, next but three with 96 %. */
static void intervals_are_as_wide_as_order_statistics_say(void **state)
{
	double values[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
	struct spread s = spread_of_values(values, NR(values));

	(void)state;
	assert_uint_in_range((int)s.low, 2, 3);
	assert_uint_in_range((int)s.high, 7, 8);
}

static void random_numbers_stay_below_their_limit_and_reach_all(void **state)
{
	uint64_t random = 1, seen = 0;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		uint64_t n = random_below(&random, 37);

		assert_true(n < 37);
		seen |= 1ull << n;
	}
	assert_true(seen == (1ull << 37) - 1);
	assert_int_equal(random_below(&random, 1), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(quartiles_lie_between_values),
		cmocka_unit_test(one_value_is_its_own_interval),
		cmocka_unit_test(nothing_has_no_median),
		cmocka_unit_test(what_was_not_measured_does_not_count),
		cmocka_unit_test(intervals_hold_the_median_and_stay_within_the_values),
		cmocka_unit_test(intervals_are_as_wide_as_order_statistics_say),
		cmocka_unit_test(random_numbers_stay_below_their_limit_and_reach_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
