/* SPDX-License-Identifier: MIT */
/* A counter that does not find its period leaves the program its time; one that holds its rate is left alone. */
#include "tests/unit/unit.h"

#include "agent/recorder/perf/rate_limiter.h"

#include <stdbool.h>

#define MS 1000000ull
#define RATE 10000u

struct counted {
	uint64_t samples, on_ns;
	unsigned off, on; /* how often it was switched */
};

/* A counter that gives so many samples a second while it is on, looked at every 10 ms for so long. */
static struct counted run(uint64_t per_second, uint64_t beginning, uint64_t for_ns, uint64_t every_ns)
{
	struct counted c = { .samples = beginning };
	struct rate_limiter b = { 0 };
	bool on = true;

	for (uint64_t now = 5 * MS; now < for_ns; now += every_ns) {
		c.samples += on ? per_second * every_ns / 1000000000u : 0;
		c.on_ns += on ? every_ns : 0;
		switch (rate_limiter_check(&b, c.samples, RATE, now)) {
		case RATE_LIMITER_DISABLE:
			assert_true(on);
			on = false;
			c.off++;
			break;
		case RATE_LIMITER_ENABLE:
			assert_false(on);
			on = true;
			c.on++;
			break;
		case RATE_LIMITER_KEEP:
			break;
		}
	}
	return c;
}

static void who_holds_its_rate_is_left_alone(void **state)
{
	(void)state;
	for (uint64_t rate = 0; rate <= 3 * RATE; rate += RATE / 2)
		assert_int_equal(run(rate, 0, 10000 * MS, 10 * MS).off, 0);
	/* looked at late, because the recorder had no processor */
	assert_int_equal(run(RATE, 0, 10000 * MS, 700 * MS).off, 0);
}

static void a_beginning_with_short_periods_is_allowed(void **state)
{
	(void)state;
	assert_int_equal(run(RATE, 1500, 10000 * MS, 10 * MS).off, 0);
}

static void a_storm_leaves_the_program_its_time(void **state)
{
	(void)state;
	for (uint64_t rate = 5 * RATE; rate <= 1000000; rate *= 2) {
		struct counted c = run(rate, 0, 20000 * MS, 10 * MS);

		assert_true(c.off >= 2 && c.on >= c.off - 1); /* it is tried again */
		assert_true(c.samples <= 20 * RATE * 5 / 2);
		assert_true(c.on_ns <= 20000 * MS / (rate / RATE) * 2 || c.on_ns <= 20000 * MS / 20);
	}
}

static void no_pause_is_longer_than_two_seconds(void **state)
{
	struct rate_limiter b = { 0 };

	(void)state;
	assert_int_equal(rate_limiter_check(&b, 0, 1, 1 * MS), RATE_LIMITER_KEEP);
	assert_int_equal(rate_limiter_check(&b, UINT64_MAX / 2, 1, 100 * MS), RATE_LIMITER_DISABLE);
	assert_int_equal(rate_limiter_check(&b, UINT64_MAX / 2, 1, 2099 * MS), RATE_LIMITER_KEEP);
	assert_int_equal(rate_limiter_check(&b, UINT64_MAX / 2, 1, 2100 * MS), RATE_LIMITER_ENABLE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_holds_its_rate_is_left_alone),
		cmocka_unit_test(a_beginning_with_short_periods_is_allowed),
		cmocka_unit_test(a_storm_leaves_the_program_its_time),
		cmocka_unit_test(no_pause_is_longer_than_two_seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
