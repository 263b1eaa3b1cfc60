/* SPDX-License-Identifier: MIT */
/* Arrays that grow by one element or by many, and whose growth fails. */
#include "tests/unit/unit.h"

#include "jitreg/base/grow.h"

struct pair {
	uint32_t a, b;
};

static void added_elements_are_zeroed_or_have_their_value(void **state)
{
	ARRAY(struct pair) pairs = { 0 };

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		struct pair *p = ARRAY_ADD(pairs);

		assert_non_null(p);
		assert_int_equal(p->a, 0);
		p->a = i;
		assert_true(ARRAY_PUSH(pairs, (struct pair){ .a = i, .b = i + 1 }));
	}
	assert_int_equal(pairs.nr, 2000);
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(pairs.at[2 * i].a, i);
		assert_int_equal(pairs.at[2 * i + 1].b, i + 1);
	}
	ARRAY_FREE(pairs);
	assert_null(pairs.at);
	assert_int_equal(pairs.nr, 0);
	assert_int_equal(pairs.capacity, 0);
}

static void a_reservation_has_room_for_all_or_changes_nothing(void **state)
{
	ARRAY(uint64_t) numbers = { 0 };

	(void)state;
	assert_true(ARRAY_RESERVE(numbers, 3));
	assert_true(ARRAY_PUSH(numbers, 7));
	for (uint32_t more = 1; more < 5000; more = 2 * more + 1) {
		assert_true(ARRAY_RESERVE(numbers, more));
		assert_true(numbers.capacity - numbers.nr >= more);
		for (uint32_t i = 0; i < more; i++)
			numbers.at[numbers.nr++] = i;
	}
	assert_int_equal(numbers.at[0], 7);

	uint32_t nr = numbers.nr, capacity = numbers.capacity;

	assert_false(ARRAY_RESERVE(numbers, (size_t)UINT32_MAX - nr + 1));
	assert_false(ARRAY_RESERVE(numbers, SIZE_MAX));
	assert_int_equal(numbers.nr, nr);
	assert_int_equal(numbers.capacity, capacity);
	assert_int_equal(numbers.at[0], 7);
	ARRAY_FREE(numbers);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(added_elements_are_zeroed_or_have_their_value),
		cmocka_unit_test(a_reservation_has_room_for_all_or_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
