/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "analyzer/query/period.h"

#include <math.h>
#include <stdlib.h>

static double noise(void)
{
	return rand() / (double)RAND_MAX - 0.5;
}

static void a_square_wave_in_noise_is_found(void **state)
{
	double v[1000], steps, alike;

	(void)state;
	srand(1);
	for (int period = 10; period <= 200; period += 19) {
		for (int i = 0; i < 1000; i++)
			v[i] = (i % period < period / 3 ? 10 : 2) + 4 * noise();
		assert_true(period_find(v, 1000, 1000, &steps, &alike));
		assert_true(fabs(steps - period) < 1);
		assert_true(alike > 0.5);
	}
}

static void a_period_between_two_steps_is_found(void **state)
{
	double v[2000], steps, alike;

	(void)state;
	for (int i = 0; i < 2000; i++)
		v[i] = sin(2 * M_PI * i / 33.4);
	assert_true(period_find(v, 2000, 2000, &steps, &alike));
	assert_true(fabs(steps - 33.4) < 0.2);
}

static void noise_constants_and_trends_have_none(void **state)
{
	double v[1000], steps, alike;
	int found = 0;

	(void)state;
	srand(2);
	for (int round = 0; round < 50; round++) {
		for (int i = 0; i < 1000; i++)
			v[i] = noise();
		found += period_find(v, 1000, 1000, &steps, &alike);
	}
	assert_int_equal(found, 0);
	for (int i = 0; i < 1000; i++)
		v[i] = 5;
	assert_false(period_find(v, 1000, 1000, &steps, &alike));
	for (int i = 0; i < 1000; i++)
		v[i] = i;
	assert_false(period_find(v, 1000, 1000, &steps, &alike));
	for (int i = 0; i < 1000; i++) /* one phase, then another */
		v[i] = i < 300 ? 1 : 10;
	assert_false(period_find(v, 1000, 1000, &steps, &alike));
	assert_false(period_find(v, 5, 1000, &steps, &alike));
}

/*
 * Twenty iterations of 45 steps, a tenth of each of which is one operator's; its samples come by chance.  1: its period is found, -1:
 * something else, 0: nothing.
 */
static int found_of(int samples)
{
	double v[1000] = { 0 }, steps, alike;
	int first = 999, last = 0;

	for (int i = 0; i < samples; i++) {
		int at = rand() % 20 * 45 + 10 + (int)(4.5 * (noise() + 0.5));

		v[at]++;
		first = at < first ? at : first;
		last = at > last ? at : last;
	}
	if (!period_find(v + first, (size_t)(last - first + 1), samples, &steps, &alike))
		return 0;
	return fabs(steps - 45) < 5 ? 1 : -1;
}

static void few_samples_say_nothing_rather_than_something_wrong(void **state)
{
	int wrong = 0;

	(void)state;
	srand(3);
	for (int round = 0; round < 4000; round++)
		wrong += found_of(10 + round % 110) < 0;
	assert_uint_in_range(wrong, 0, 40);
	for (int round = 0; round < 100; round++)
		assert_int_equal(found_of(300), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_square_wave_in_noise_is_found),
		cmocka_unit_test(a_period_between_two_steps_is_found),
		cmocka_unit_test(noise_constants_and_trends_have_none),
		cmocka_unit_test(few_samples_say_nothing_rather_than_something_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
