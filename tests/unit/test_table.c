/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "summary.h"

#include <math.h>
#include <stdlib.h>

static void fill(struct table *t, void *memory)
{
	table_init(t, memory, 100);
	for (uint32_t i = 0; i < 100; i++) {
		uint64_t row = table_add(t);

		t->time_ns[row] = i;
		t->weight[row] = 10;
		t->share[row] = i < 50 ? 1 : 0.5;
		t->column[TABLE_THREAD][row] = i % 4;
		t->column[TABLE_MODE][row] = i % 2;
	}
}

static void groups_add_up_to_the_total(void **state)
{
	void *memory = malloc(table_bytes(100));
	struct table_sum sums[4] = { { 0, 0, 0 } }, total;
	struct table t;
	double samples = 0;

	(void)state;
	fill(&t, memory);
	total = table_group(&t, NULL, TABLE_THREAD, sums, 4);
	for (int i = 0; i < 4; i++)
		samples += sums[i].samples;
	assert_true(fabs(total.samples - 75) < 1e-9);
	assert_true(fabs(samples - 75) < 1e-9);
	assert_true(fabs(total.weight - 750) < 1e-9);
	assert_true(fabs(total.kernel - 37.5) < 1e-9);
	assert_true(fabs(sums[0].kernel) < 1e-9);
	free(memory);
}

static void a_filter_holds_time_and_all_conditions(void **state)
{
	struct table_condition conditions[] = { { TABLE_THREAD, 1, 2, false }, { TABLE_MODE, 0, 0, true } };
	struct table_filter f = { .from_ns = 10, .to_ns = 20, .conditions = conditions, .nr_conditions = 2 };
	void *memory = malloc(table_bytes(100));
	struct table_sum sums[4] = { { 0, 0, 0 } };
	struct table t;

	(void)state;
	fill(&t, memory);
	/* of 10 to 19: thread 1 or 2, and odd: 13, 17 */
	assert_true(fabs(table_group(&t, &f, TABLE_THREAD, sums, 4).samples - 2) < 1e-9);
	assert_true(fabs(sums[1].samples - 2) < 1e-9);
	free(memory);
}

static void tenths_of_a_whole_add_up_to_a_thousand(void **state)
{
	double values[7];
	int tenths[7];

	(void)state;
	srand(1);
	for (int round = 0; round < 1000; round++) {
		double total = 0;
		int sum = 0;

		for (int i = 0; i < 7; i++)
			total += values[i] = rand() % 1000;
		summary_tenths(values, 7, total, tenths);
		for (int i = 0; i < 7; i++) {
			assert_true(fabs(tenths[i] - values[i] * 1000 / total) <= 1);
			sum += tenths[i];
		}
		assert_int_equal(sum, 1000);
	}
	summary_tenths(values, 7, 0, tenths);
	assert_int_equal(tenths[0], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_add_up_to_the_total),
		cmocka_unit_test(a_filter_holds_time_and_all_conditions),
		cmocka_unit_test(tenths_of_a_whole_add_up_to_a_thousand),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
