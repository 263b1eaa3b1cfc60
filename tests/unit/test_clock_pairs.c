/* SPDX-License-Identifier: MIT */
/* clock_pairs.c: two planted clocks, whose pairs are known and whose times in between are asked for. */
#include "agent/recorder/perf/clock_pairs.h"

#include "tests/unit/unit.h"

#include <string.h>

#define SECOND 1000000000ull
#define HOUR (3600 * SECOND)

static struct clock_pairs pairs;

static int none(void **state)
{
	(void)state;
	memset(&pairs, 0, sizeof(pairs));
	return 0;
}

static uint64_t apart(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

static void without_a_pair_times_stay(void **state)
{
	(void)state;
	assert_int_equal(clock_pairs_convert(&pairs, 0), 0);
	assert_int_equal(clock_pairs_convert(&pairs, 5 * HOUR), 5 * HOUR);
}

static void one_pair_is_an_offset(void **state)
{
	(void)state;
	clock_pairs_add(&pairs, HOUR, 9 * HOUR);
	assert_int_equal(clock_pairs_convert(&pairs, HOUR), 9 * HOUR);
	assert_int_equal(clock_pairs_convert(&pairs, HOUR + 7), 9 * HOUR + 7);
	assert_int_equal(clock_pairs_convert(&pairs, HOUR - 7), 9 * HOUR - 7);
}

/* A clock that gains 1e-4, and is seven hours ahead or behind. */
static void a_skew_and_hours_apart_are_undone(void **state)
{
	(void)state;
	for (int behind = 0; behind < 2; behind++) {
		uint64_t from = behind ? HOUR : 8 * HOUR, to = behind ? 8 * HOUR : HOUR;

		none(NULL);
		for (uint64_t ns = 0; ns <= SECOND; ns += 50000000)
			clock_pairs_add(&pairs, from + ns + ns / 10000, to + ns);
		assert_int_equal(pairs.nr, 21);
		for (uint64_t ns = 0; ns <= SECOND; ns += 99991)
			assert_true(apart(clock_pairs_convert(&pairs, from + ns + ns / 10000), to + ns) <= 2);
	}
}

static void a_drift_that_changes_is_followed(void **state)
{
	uint64_t from = 3 * HOUR, to = HOUR, last = 0;

	(void)state;
	clock_pairs_add(&pairs, from, to);
	for (int i = 0; i < 100; i++) { /* from -5e-4 to +5e-4, the next 20 ms after the last */
		uint64_t next = from + 20000000 + (uint64_t)(i - 50) * 200;

		clock_pairs_add(&pairs, next, to + 20000000);
		for (uint64_t part = 0; part <= 10; part++) {
			uint64_t now = clock_pairs_convert(&pairs, from + (next - from) * part / 10);

			assert_true(apart(now, to + 2000000 * part) <= 2);
			assert_true(now >= last);
			last = now;
		}
		from = next;
		to += 20000000;
	}
}

static void pairs_out_of_order_and_twice_change_nothing(void **state)
{
	struct clock_pairs before;

	(void)state;
	for (uint64_t i = 1; i < 10; i++)
		clock_pairs_add(&pairs, i * 20000000, HOUR + i * 20002000);
	before = pairs;
	clock_pairs_add(&pairs, 9 * 20000000, HOUR + 9 * 20002000);   /* the last one again */
	clock_pairs_add(&pairs, 4 * 20000000, HOUR + 4 * 20002000);   /* an earlier one */
	clock_pairs_add(&pairs, 10 * 20000000, HOUR);		      /* the other clock went back */
	clock_pairs_add(&pairs, 10 * 20000000, HOUR + 9 * 20002000);  /* the other clock stood still */
	clock_pairs_add(&pairs, 9 * 20000000, HOUR + 10 * 20002000);  /* this one stood still */
	clock_pairs_add(&pairs, 0, 0);
	assert_memory_equal(&pairs, &before, sizeof(pairs));
}

static void outside_the_pairs_both_run_equally_fast(void **state)
{
	(void)state;
	clock_pairs_add(&pairs, HOUR, 2 * HOUR);
	clock_pairs_add(&pairs, HOUR + SECOND, 2 * HOUR + SECOND + 100000);
	assert_int_equal(clock_pairs_convert(&pairs, HOUR - SECOND), 2 * HOUR - SECOND);
	assert_int_equal(clock_pairs_convert(&pairs, HOUR + 2 * SECOND), 2 * HOUR + 2 * SECOND + 100000);
	/* a time before the first or behind the last one that a clock can say becomes that one */
	assert_int_equal(clock_pairs_convert(&pairs, UINT64_MAX), UINT64_MAX);
	none(NULL);
	clock_pairs_add(&pairs, 2 * HOUR, HOUR);
	assert_int_equal(clock_pairs_convert(&pairs, 0), 0);
}

/* However many and near: ten seconds are there, and no more memory than at the beginning. */
static void a_long_recording_keeps_its_last_seconds(void **state)
{
	uint64_t ns = 0;

	(void)state;
	for (int i = 0; i < 200000; i++) {
		ns += 100000 + next_random() % 1000000;
		clock_pairs_add(&pairs, ns, 5 * HOUR + ns + ns / 10000);
	}
	assert_int_equal(pairs.nr, CLOCK_PAIRS_MAX);
	for (uint64_t back = 0; back < 10 * SECOND; back += 12345678)
		assert_true(apart(clock_pairs_convert(&pairs, ns - back), 5 * HOUR + ns - back + (ns - back) / 10000) <= 2);
}

/* Pairs that are off by chance, as readings are, still keep the order of all times. */
static void later_times_never_become_earlier(void **state)
{
	uint64_t last = 0;

	(void)state;
	for (uint64_t i = 1; i <= 3000; i++)
		clock_pairs_add(&pairs, HOUR + i * 9000000 + next_random() % 9000000, 2 * HOUR + i * 9000000 + next_random() % 9000000);
	assert_uint_in_range(pairs.nr, 2, CLOCK_PAIRS_MAX);
	for (uint64_t ns = HOUR; ns < HOUR + 30 * SECOND; ns += next_random() % 300000) {
		uint64_t now = clock_pairs_convert(&pairs, ns);

		assert_true(now >= last);
		last = now;
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(without_a_pair_times_stay, none),
		cmocka_unit_test_setup(one_pair_is_an_offset, none),
		cmocka_unit_test_setup(a_skew_and_hours_apart_are_undone, none),
		cmocka_unit_test_setup(a_drift_that_changes_is_followed, none),
		cmocka_unit_test_setup(pairs_out_of_order_and_twice_change_nothing, none),
		cmocka_unit_test_setup(outside_the_pairs_both_run_equally_fast, none),
		cmocka_unit_test_setup(a_long_recording_keeps_its_last_seconds, none),
		cmocka_unit_test_setup(later_times_never_become_earlier, none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
