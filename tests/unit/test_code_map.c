/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "code_map.h"

static int a, b, c;

static void the_latest_fact_that_is_not_younger_wins(void **state)
{
	struct code_map m = { 0 };

	(void)state;
	code_map_add(&m, 100, 200, 10, &a);
	code_map_add(&m, 150, 160, 20, &b);
	code_map_add(&m, 100, 200, 30, &c);
	assert_int_equal(code_map_index(&m), 0);
	assert_null(code_map_find(&m, 155, 9, NULL));
	assert_ptr_equal(code_map_find(&m, 155, 10, NULL), &a);
	assert_ptr_equal(code_map_find(&m, 155, 25, NULL), &b);
	assert_ptr_equal(code_map_find(&m, 149, 25, NULL), &a);
	assert_ptr_equal(code_map_find(&m, 160, 25, NULL), &a);
	assert_ptr_equal(code_map_find(&m, 155, 30, NULL), &c);
	code_map_fini(&m);
}

static void outside_of_all_ranges_there_is_nothing(void **state)
{
	struct code_map m = { 0 };

	(void)state;
	code_map_add(&m, 100, 200, 0, &a);
	code_map_add(&m, 300, 300, 0, &b); /* empty */
	code_map_add(&m, 500, 400, 0, &b); /* wraps */
	assert_int_equal(code_map_index(&m), 0);
	assert_null(code_map_find(&m, 99, 5, NULL));
	assert_null(code_map_find(&m, 200, 5, NULL));
	assert_null(code_map_find(&m, 450, 5, NULL));
	assert_ptr_equal(code_map_find(&m, 100, 5, NULL), &a);
	code_map_fini(&m);
}

static void what_was_unloaded_is_found_for_samples_from_before(void **state)
{
	const struct code_fact *fact;
	struct code_map m = { 0 };

	(void)state;
	code_map_add(&m, 100, 200, 10, &a);
	code_map_add(&m, 100, 200, 20, NULL);
	assert_int_equal(code_map_index(&m), 0);
	assert_ptr_equal(code_map_find(&m, 100, 19, NULL), &a);
	assert_null(code_map_find(&m, 100, 20, &fact));
	assert_non_null(fact); /* known to be free, which is more than unknown */
	code_map_fini(&m);
}

static void facts_may_be_told_in_any_order(void **state)
{
	struct code_map m = { 0 };

	(void)state;
	code_map_add(&m, 100, 200, 20, &b);
	code_map_add(&m, 100, 200, 10, &a);
	assert_int_equal(code_map_index(&m), 0);
	assert_ptr_equal(code_map_find(&m, 150, 15, NULL), &a);
	assert_ptr_equal(code_map_find(&m, 150, 25, NULL), &b);
	code_map_fini(&m);
}

static void two_hundred_thousand_objects_are_found_each(void **state)
{
	static int owners[200000];
	struct code_map m = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 200000; i++)
		code_map_add(&m, i * 64, i * 64 + 64, i, &owners[i]);
	assert_int_equal(code_map_index(&m), 0);
	for (uint64_t i = 0; i < 200000; i += 7) {
		assert_ptr_equal(code_map_find(&m, i * 64 + 63, 200000, NULL), &owners[i]);
		assert_true(i == 0 || !code_map_find(&m, i * 64, i - 1, NULL));
	}
	code_map_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_latest_fact_that_is_not_younger_wins),
		cmocka_unit_test(outside_of_all_ranges_there_is_nothing),
		cmocka_unit_test(what_was_unloaded_is_found_for_samples_from_before),
		cmocka_unit_test(facts_may_be_told_in_any_order),
		cmocka_unit_test(two_hundred_thousand_objects_are_found_each),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
