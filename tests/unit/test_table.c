/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "analyzer/table/group.h"

#include <math.h>
#include <stdlib.h>

static void *fill(struct table *t)
{
	void *memory = malloc(table_bytes(100, 2));

	table_init(t, memory, 100, 2);
	for (uint32_t i = 0; i < 100; i++) {
		uint32_t row = table_add(t);

		t->time_ns[row] = i;
		t->weight[row] = 10;
		t->share[row] = i < 50 ? 1 : 0.5;
		t->column[TABLE_THREAD][row] = i % 4;
		t->column[TABLE_MODE][row] = i % 2;
		t->column[TABLE_LEVEL_0 + 1][row] = i / 10;
	}
	return memory;
}

static uint32_t all_rows(uint32_t rows[100])
{
	for (uint32_t i = 0; i < 100; i++)
		rows[i] = i;
	return 100;
}

static void a_filter_holds_time_and_all_conditions(void **state)
{
	const unsigned char allowed[] = { 0, 1, 1 };
	struct table_condition conditions[] = { { .column = TABLE_THREAD, .allowed = allowed, .nr_allowed = 3 },
						{ .column = TABLE_MODE, .low = 0, .high = 0, .not = true } };
	struct table_filter f = { .from_ns = 10, .to_ns = 20, .conditions = conditions, .nr_conditions = 2 };
	uint32_t rows[100], n;
	struct table t;
	void *memory = fill(&t);

	(void)state;
	/* of 10 to 19: thread 1 or 2 (3 lies behind the set), and odd: 13, 17 */
	n = table_select(&t, &f, NULL, t.nr, rows);
	assert_int_equal(n, 2);
	assert_int_equal(rows[0], 13);
	assert_int_equal(rows[1], 17);
	/* of rows that were selected before, in place */
	conditions[1].not = false;
	f.nr_conditions = 2;
	n = table_select(&t, &f, rows, n, rows);
	assert_int_equal(n, 0);
	free(memory);
}

static void a_condition_may_be_met_by_another_column(void **state)
{
	const unsigned char threads[] = { 0, 0, 0, 1 }, components[] = { 0, 0, 1 };
	struct table_condition condition = { .column = TABLE_THREAD, .allowed = threads, .nr_allowed = 4, .or_column = TABLE_LEVEL_0 + 1,
					     .or_allowed = components, .nr_or_allowed = 3 };
	struct table_filter f = { .from_ns = 18, .to_ns = 32, .conditions = &condition, .nr_conditions = 1 };
	uint32_t rows[100];
	struct table t;
	void *memory = fill(&t);

	(void)state;
	/* thread 3: 19, 23, 27, 31; component 2: 20 to 29 */
	assert_int_equal(table_select(&t, &f, NULL, t.nr, rows), 12);
	assert_int_equal(rows[0], 19);
	assert_int_equal(rows[11], 31);
	condition.not = true;
	assert_int_equal(table_select(&t, &f, NULL, t.nr, rows), 2);
	free(memory);
}

static void groups_add_up_to_the_total(void **state)
{
	struct group g = { .nr_keys = 1, .key = { TABLE_THREAD } };
	void *place = malloc(group_bytes(1, 4));
	double samples = 0, weight = 0;
	uint32_t rows[100], first;
	struct table t;
	void *memory = fill(&t);

	(void)state;
	group_place(&g, place, 4);
	assert_int_equal(group_add_rows(&g, &t, rows, all_rows(rows)), 100);
	assert_int_equal(g.nr, 4);
	for (uint32_t i = 0; i < g.nr; i++) {
		samples += g.sum[i].samples;
		weight += g.sum[i].weight;
	}
	assert_true(fabs(g.total.samples - 75) < 1e-9);
	assert_true(fabs(samples - 75) < 1e-9);
	assert_true(fabs(weight - 750) < 1e-9);
	assert_true(fabs(g.total.kernel - 37.5) < 1e-9);
	first = 1;
	assert_non_null(group_find(&g, &first));
	assert_int_equal(group_find(&g, &first)->first_ns, 1);
	assert_int_equal(group_find(&g, &first)->last_ns, 97);
	first = 7;
	assert_null(group_find(&g, &first));
	free(place);
	free(memory);
}

static void a_group_without_room_stops_and_goes_on_in_a_bigger_one(void **state)
{
	struct group g = { .nr_keys = 2, .key = { TABLE_LEVEL_0 + 1, TABLE_THREAD } }, bigger = g;
	void *place = malloc(group_bytes(2, 4)), *more = malloc(group_bytes(2, 64));
	uint32_t rows[100], done;
	struct table t;
	void *memory = fill(&t);

	(void)state;
	group_place(&g, place, 4);
	done = group_add_rows(&g, &t, rows, all_rows(rows));
	assert_int_equal(done, 10); /* ten rows of one component; four groups; the next has no room */
	group_place(&bigger, more, 64);
	assert_true(group_merge(&bigger, &g, 0));
	assert_int_equal(group_add_rows(&bigger, &t, rows + done, 100 - done), 100 - done);
	assert_int_equal(bigger.nr, 40);
	assert_true(fabs(bigger.total.samples - 75) < 1e-9);
	free(place);
	free(more);
	free(memory);
}

static void bins_are_steps_of_time_and_can_be_doubled(void **state)
{
	struct group g = { .nr_keys = 1, .key = { GROUP_BIN }, .origin_ns = 10, .bin_ns = 10 }, wider = g;
	void *place = malloc(group_bytes(1, 16)), *more = malloc(group_bytes(1, 16));
	uint32_t rows[100], bin = 0;
	struct table t;
	void *memory = fill(&t);

	(void)state;
	group_place(&g, place, 16);
	assert_int_equal(group_add_rows(&g, &t, rows, all_rows(rows)), 100);
	assert_int_equal(g.nr, 9); /* what is before the origin counts with the first */
	assert_true(fabs(group_find(&g, &bin)->samples - 20) < 1e-9);
	wider.bin_ns = 20;
	group_place(&wider, more, 16);
	assert_true(group_merge(&wider, &g, 1));
	assert_int_equal(wider.nr, 5);
	assert_true(fabs(group_find(&wider, &bin)->samples - 30) < 1e-9);
	free(place);
	free(more);
	free(memory);
}

static void columns_of_levels_that_are_not_there_are_nobody(void **state)
{
	struct group g = { .nr_keys = 1, .key = { TABLE_LEVEL_0 + 5 } };
	void *place = malloc(group_bytes(1, 4));
	uint32_t rows[100];
	struct table t;
	void *memory = fill(&t);

	(void)state;
	group_place(&g, place, 4);
	assert_int_equal(group_add_rows(&g, &t, rows, all_rows(rows)), 100);
	assert_int_equal(g.nr, 1);
	assert_int_equal(g.value[0], 0);
	free(place);
	free(memory);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_filter_holds_time_and_all_conditions),
		cmocka_unit_test(a_condition_may_be_met_by_another_column),
		cmocka_unit_test(groups_add_up_to_the_total),
		cmocka_unit_test(a_group_without_room_stops_and_goes_on_in_a_bigger_one),
		cmocka_unit_test(bins_are_steps_of_time_and_can_be_doubled),
		cmocka_unit_test(columns_of_levels_that_are_not_there_are_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
