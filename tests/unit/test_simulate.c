/* SPDX-License-Identifier: MIT */
#include "analyzer/whatif/simulate.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <time.h>

#define MS 1e6
/* With one device that may be faster than it was, and a slow-down of two that work. */
#define MACHINE(n, faster, limit, device, two) \
	((struct machine){ .processors = (n), .speed = (faster), .quota = (limit), .quota_period_ns = 100 * MS, \
			   .device_speed = { 1, (device), 1, 1 }, .slowdown = { 1, 1, (two) } })
#define NEAR(value, expected) assert_true((value) > (expected) * 0.999 - 1 && (value) < (expected) * 1.001 + 1)

static double end_of(const struct step *step, const struct step_thread *thread, uint32_t nr_threads, struct machine m, const double *factor)
{
	struct execution e = { .step = step, .thread = thread, .nr_threads = nr_threads, .nr_signals = 8, .nr_locks = 8,
			       .target = UINT32_MAX, .factor = factor };
	struct simulated out;

	for (uint32_t i = 0; i < nr_threads; i++)
		e.nr_steps += thread[i].nr;
	assert_int_equal(simulate(&e, &m, NULL, &out), 0);
	assert_false(out.stuck);
	return out.end_ns;
}

static void threads_share_processors(void **state)
{
	static const struct step step[] = { { 10 * MS, 0, STEP_RUN }, { 30 * MS, 0, STEP_RUN }, { 20 * MS, 0, STEP_RUN } };
	static const struct step_thread thread[] = { { 0, 1 }, { 1, 1 }, { 2, 1 } };

	(void)state;
	NEAR(end_of(step, thread, 3, MACHINE(1, 1, 0, 1, 1), NULL), 60 * MS);
	NEAR(end_of(step, thread, 3, MACHINE(3, 1, 0, 1, 1), NULL), 30 * MS);
	NEAR(end_of(step, thread, 3, MACHINE(1, 2, 0, 1, 1), NULL), 30 * MS);
	/* two processors for three: 10 of each take 15, then all run */
	NEAR(end_of(step, thread, 3, MACHINE(2, 1, 0, 1, 1), NULL), 35 * MS);
}

static void a_pool_leaves_the_rest_to_others(void **state)
{
	static const struct step step[] = { { 20 * MS, 0, STEP_RUN }, { 20 * MS, 0, STEP_RUN }, { 30 * MS, 0, STEP_RUN } };
	static const struct step_thread thread[] = { { 0, 1 }, { 1, 1 }, { 2, 1 } };
	static const bool two[] = { true, true, false }, all[] = { true, true, true };
	struct execution e = { .step = step, .thread = thread, .nr_steps = 3, .nr_threads = 3, .target = UINT32_MAX, .pooled = two };
	const struct {
		double processors, pool, quota, end;
		const bool *of;
	} cases[] = {
		{ 3, 1, 0, 40 * MS, two }, /* one after the other */
		{ 2, 1, 0, 40 * MS, two }, /* the third has a processor of its own */
		{ 1, 1, 0, 70 * MS, two }, /* equal shares, which are less than the pool's */
		{ 2, 2, 0, 40 * MS, two }, /* 20 of each take 30, then 10 are left */
		{ 3, 5, 0, 30 * MS, two },
		{ 3, 2, 0, 40 * MS, all }, /* 20 of each take 30, then 10 are left */
		{ 3, 0, 0, 30 * MS, all }, /* no limit */
		{ 3, 1, 0.5, 115 * MS, two }, /* 25 ms use up what 100 have; then 15 of the pool's and 5 */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct machine m = MACHINE(cases[i].processors, 1, cases[i].quota, 1, 1);
		struct simulated out;

		m.pool = cases[i].pool;
		e.pooled = cases[i].of;
		assert_int_equal(simulate(&e, &m, NULL, &out), 0);
		NEAR(out.end_ns, cases[i].end);
		NEAR(out.run_ns, 70 * MS);
	}
}

static void a_quota_stops_all_until_the_next_period(void **state)
{
	static const struct step step[] = { { 120 * MS, 0, STEP_RUN }, { 120 * MS, 0, STEP_RUN } };
	static const struct step_thread thread[] = { { 0, 1 }, { 1, 1 } };

	(void)state;
	/* 50 of each 100 ms: 50 + 50 + 20 */
	NEAR(end_of(step, thread, 1, MACHINE(1, 1, 0.5, 1, 1), NULL), 220 * MS);
	/* two threads use them up in 25 ms: four times, then 20 of 50 for each */
	NEAR(end_of(step, thread, 2, MACHINE(2, 1, 0.5, 1, 1), NULL), 420 * MS);
	NEAR(end_of(step, thread, 2, MACHINE(2, 1, 3, 1, 1), NULL), 120 * MS);
}

static void a_wait_ends_when_it_is_signalled(void **state)
{
	static const struct step step[] = {
		{ 10 * MS, 0, STEP_RUN }, { 0, 0, STEP_SIGNAL }, { 50 * MS, 0, STEP_RUN },
		{ 1 * MS, 0, STEP_RUN }, { 0, 0, STEP_AWAIT }, { 5 * MS, 0, STEP_RUN },
	};
	static const struct step_thread thread[] = { { 0, 3 }, { 3, 3 } };
	double begin[6], end[6];
	uint32_t by[6];
	const struct simulated_steps steps = { begin, end, by };
	const struct execution e = { .step = step, .nr_steps = 6, .thread = thread, .nr_threads = 2, .nr_signals = 1, .target = 1 };
	struct simulated out;

	(void)state;
	assert_int_equal(simulate(&e, &MACHINE(2, 1, 0, 1, 1), &steps, &out), 0);
	NEAR(out.end_ns, 15 * MS); /* of the target */
	NEAR(end[4], 10 * MS);
	assert_int_equal(by[4], 1);
	assert_int_equal(by[3], SIMULATE_NONE);
}

static void locks_are_granted_in_order(void **state)
{
	static const struct step step[] = {
		{ 0, 3, STEP_LOCK }, { 10 * MS, 0, STEP_RUN }, { 0, 3, STEP_UNLOCK },
		{ 0, 3, STEP_LOCK }, { 10 * MS, 0, STEP_RUN }, { 0, 3, STEP_UNLOCK },
		{ 0, 3, STEP_LOCK }, { 10 * MS, 0, STEP_RUN }, { 0, 3, STEP_UNLOCK },
	};
	static const struct step_thread thread[] = { { 0, 3 }, { 3, 3 }, { 6, 3 } };
	static const double none[] = { 0, 1, 0, 0, 1, 0, 0, 1, 0 };

	(void)state;
	NEAR(end_of(step, thread, 3, MACHINE(8, 1, 0, 1, 1), NULL), 30 * MS);
	NEAR(end_of(step, thread, 3, MACHINE(8, 1, 0, 1, 1), none), 10 * MS);
}

static void devices_serve_all_at_once(void **state)
{
	static const struct step step[] = { { 10 * MS, 1, STEP_SERVED }, { 10 * MS, 1, STEP_SERVED }, { 7 * MS, 0, STEP_AWAY } };
	static const struct step_thread thread[] = { { 0, 1 }, { 1, 1 }, { 2, 1 } };

	(void)state;
	NEAR(end_of(step, thread, 3, MACHINE(1, 1, 0, 1, 1), NULL), 20 * MS);
	NEAR(end_of(step, thread, 3, MACHINE(1, 1, 0, 4, 1), NULL), 7 * MS);
}

/* Of a rate, what was not used just before is used later, and requests are served one by one. */
static void a_limited_device_serves_at_its_rate(void **state)
{
	static const struct step step[] = {
		{ 30 * MS, 0, STEP_RUN }, { 40 * MS, 1, STEP_LIMITED }, { 30 * MS, 0, STEP_RUN }, { 40 * MS, 1, STEP_LIMITED },
		{ 40 * MS, 1, STEP_LIMITED }, { 40 * MS, 1, STEP_LIMITED },
	};
	static const struct step_thread one[] = { { 0, 4 } }, two[] = { { 4, 1 }, { 5, 1 } };

	(void)state;
	NEAR(end_of(step, one, 1, MACHINE(1, 1, 0, 1, 1), NULL), 80 * MS); /* 40 of the rate end at 40, 40 more at 80 */
	NEAR(end_of(step, one, 1, MACHINE(1, 1, 0, 2, 1), NULL), 60 * MS); /* the work is longer */
	NEAR(end_of(step, two, 2, MACHINE(2, 1, 0, 1, 1), NULL), 80 * MS);
}

static void work_is_slower_beside_other_work(void **state)
{
	static const struct step step[] = { { 10 * MS, 0, STEP_RUN }, { 10 * MS, 0, STEP_RUN } };
	static const struct step_thread thread[] = { { 0, 1 }, { 1, 1 } };

	(void)state;
	NEAR(end_of(step, thread, 2, MACHINE(2, 1, 0, 1, 1.5), NULL), 15 * MS);
}

static void what_never_comes_is_said(void **state)
{
	static const struct step step[] = { { 0, 0, STEP_AWAIT } };
	static const struct step_thread thread[] = { { 0, 1 } };
	const struct execution e = { .step = step, .nr_steps = 1, .thread = thread, .nr_threads = 1, .nr_signals = 1,
				     .target = UINT32_MAX };
	struct simulated out;

	(void)state;
	assert_int_equal(simulate(&e, &MACHINE(1, 1, 0, 1, 1), NULL, &out), 0);
	assert_true(out.stuck);
}

/* Random programs stay within Graham's bounds: work and span over any number of processors. */
static void random_programs_stay_within_bounds(void **state)
{
	enum { THREADS = 20, STEPS = 40 };
	struct step *step = calloc(THREADS * STEPS, sizeof(*step));
	struct step_thread thread[THREADS];

	(void)state;
	for (unsigned round = 0; round < 50; round++) {
		double work = 0, span, low, high;

		srand(round);
		for (uint32_t i = 0; i < THREADS * STEPS; i++) {
			step[i] = (struct step){ (double)(rand() % 1000 + 1) * 1000, 0, STEP_RUN };
			work += step[i].amount;
		}
		for (uint32_t i = 0; i < THREADS; i++)
			thread[i] = (struct step_thread){ i * STEPS, STEPS };
		span = end_of(step, thread, THREADS, MACHINE(1000, 1, 0, 1, 1), NULL);
		for (int m = 1; m < 30; m += 3) {
			double end = end_of(step, thread, THREADS, MACHINE(m, 1, 0, 1, 1), NULL);

			simulate_bounds(work, span, m, &low, &high);
			assert_true(end > low * 0.999 && end < high * 1.001);
		}
	}
	free(step);
}

/* Not how fast, but that a million steps are no more than a thousand times a thousand: the test would take minutes otherwise. */
static void a_million_steps_are_simulated(void **state)
{
	enum { THREADS = 1000, STEPS = 1000 };
	struct step *step = calloc(THREADS * STEPS, sizeof(*step));
	struct step_thread *thread = calloc(THREADS, sizeof(*thread));

	(void)state;
	for (uint32_t i = 0; i < THREADS * STEPS; i++)
		step[i] = (struct step){ (double)(i * 7919u % 1000 + 1) * 1000, 0, i % 2 ? STEP_RUN : STEP_AWAY };
	for (uint32_t i = 0; i < THREADS; i++)
		thread[i] = (struct step_thread){ i * STEPS, STEPS };
	assert_true(end_of(step, thread, THREADS, MACHINE(16, 1, 0, 1, 1), NULL) > 0);
	free(thread);
	free(step);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads_share_processors),
		cmocka_unit_test(a_pool_leaves_the_rest_to_others),
		cmocka_unit_test(a_quota_stops_all_until_the_next_period),
		cmocka_unit_test(a_wait_ends_when_it_is_signalled),
		cmocka_unit_test(locks_are_granted_in_order),
		cmocka_unit_test(devices_serve_all_at_once),
		cmocka_unit_test(a_limited_device_serves_at_its_rate),
		cmocka_unit_test(work_is_slower_beside_other_work),
		cmocka_unit_test(what_never_comes_is_said),
		cmocka_unit_test(random_programs_stay_within_bounds),
		cmocka_unit_test(a_million_steps_are_simulated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
