/* SPDX-License-Identifier: MIT */
/* How far periods are from the one that was asked for, whose they are, and when they change. */
#include "tests/unit/unit.h"

#include "agent/recorder/perf/random_period.h"

#include <stdlib.h>

static uint64_t draw(void)
{
	return (uint64_t)random() << 62 ^ (uint64_t)random() << 31 ^ (uint64_t)random();
}

static void all_are_near_and_none_is_the_one_that_was_asked_for(void **state)
{
	static const struct perf_event_attr attrs[] = {
		{ .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS, .sample_period = 1000000 },
		{ .type = PERF_TYPE_RAW, .config = 0x1c0, .sample_period = 500009, .precise_ip = 3 },
		{ .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CPU_CYCLES, .sample_period = 100000, .precise_ip = 2 },
		{ .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK, .sample_period = 200000 },
		{ .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CPU_CLOCK, .sample_period = 99903 },
	};

	(void)state;
	srandom(1);
	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		uint64_t asked = attrs[i].sample_period, shortest = asked, longest = asked;
		double sum = 0;

		for (int n = 0; n < 100000; n++) {
			uint64_t random = draw(), period = random_period_draw(&attrs[i], random);
			uint64_t off = period > asked ? period - asked : asked - period;

			assert_uint_in_range(off, asked / 64 - 16, asked / 16);
			assert_int_equal(period < asked, random >> 63);
			if (attrs[i].precise_ip) /* IBS counts in steps of 16 */
				assert_int_equal(off % 16, 0);
			sum += (double)period;
			shortest = period < shortest ? period : shortest;
			longest = period > longest ? period : longest;
		}
		assert_true(sum / 100000 > 0.999 * (double)asked && sum / 100000 < 1.001 * (double)asked);
		assert_true(shortest < asked - asked / 17 && longest > asked + asked / 17);
		assert_uint_in_range(random_period_spread(&attrs[i]), asked / 16 - 15, asked / 16);
	}
}

/* Processes that are alike would have the same faults sampled, so the period differs by much; a fault is in a tenth of a sample. */
static void page_faults_without_a_period_of_the_users_vary_by_much(void **state)
{
	static const struct perf_event_attr faults = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS,
						       .sample_period = 10 };
	double samples = 0;
	unsigned seen = 0;

	(void)state;
	srandom(1);
	for (int n = 0; n < 100000; n++) {
		uint64_t period = random_period_draw(&faults, draw());

		assert_uint_in_range(period, 6, 16);
		seen |= 1u << period;
		samples += 1. / (double)period;
	}
	assert_int_equal(seen, 0x1ffc0);
	assert_true(samples > 99000 / 10. && samples < 101000 / 10.);
	assert_int_equal(random_period_spread(&faults), 6);
}

static void what_the_kernel_samples_each_of_or_varies_stays(void **state)
{
	static const struct perf_event_attr attrs[] = {
		{ .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS, .sample_period = 1000 },
		{ .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_CONTEXT_SWITCHES, .sample_period = 1 },
		{ .type = PERF_TYPE_TRACEPOINT, .config = 7, .sample_period = 100 },
		{ .type = PERF_TYPE_BREAKPOINT, .sample_period = 100 },
		{ .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_CACHE_MISSES, .sample_freq = 4000, .freq = 1 },
		{ .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS, .sample_period = 15 },
		{ .type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS, .sample_period = 200, .precise_ip = 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		assert_int_equal(random_period_spread(&attrs[i]), 0);
		assert_int_equal(random_period_draw(&attrs[i], draw()), attrs[i].sample_period);
	}
}

static void a_timer_is_never_set_shorter_than_the_kernel_sets_it(void **state)
{
	struct perf_event_attr a = { .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_TASK_CLOCK, .sample_period = 10000 };

	(void)state;
	for (int n = 0; n < 1000; n++)
		assert_uint_in_range(random_period_draw(&a, draw()), 10000, 10625);
}

static void a_counter_with_few_samples_is_not_begun_anew_all_the_time(void **state)
{
	struct random_period v = { .id = 7, .period = 100 };
	int changes = 0;

	(void)state;
	for (int n = 0; n < 19; n++) {
		assert_true(random_period_count_sample(&v, 7));
		assert_false(random_period_is_due(&v));
	}
	assert_true(random_period_count_sample(&v, 7));
	assert_true(random_period_is_due(&v));
	random_period_note_change(&v, 90);
	assert_int_equal(v.period, 90);
	/* it waits, others that were inherited from it do not: those to come begin with another period */
	for (int n = 0; n < 10000; n++) {
		assert_false(random_period_count_sample(&v, 8));
		if (random_period_is_due(&v)) {
			random_period_note_change(&v, 100);
			changes++;
		}
	}
	assert_int_equal(changes, 10);
	v = (struct random_period){ 0 }; /* a thread's ring: all are its own */
	assert_true(random_period_count_sample(&v, 8));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_are_near_and_none_is_the_one_that_was_asked_for),
		cmocka_unit_test(page_faults_without_a_period_of_the_users_vary_by_much),
		cmocka_unit_test(what_the_kernel_samples_each_of_or_varies_stays),
		cmocka_unit_test(a_timer_is_never_set_shorter_than_the_kernel_sets_it),
		cmocka_unit_test(a_counter_with_few_samples_is_not_begun_anew_all_the_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
