/* SPDX-License-Identifier: MIT */
#include "tests/unit/unit.h"

#include "analyzer/model/code_map.h"

static int a, b, c;

static void the_latest_fact_that_is_not_younger_wins(void **state)
{
	struct code_map m = { 0 };

	(void)state;
	code_map_add(&m, 100, 200, 10, &a);
	code_map_add(&m, 150, 160, 20, &b);
	code_map_add(&m, 100, 200, 30, &c);
	assert_int_equal(code_map_index(&m), 0);
	assert_null(code_map_find(&m, 155, 9));
	assert_ptr_equal(code_map_find(&m, 155, 10), &a);
	assert_ptr_equal(code_map_find(&m, 155, 25), &b);
	assert_ptr_equal(code_map_find(&m, 149, 25), &a);
	assert_ptr_equal(code_map_find(&m, 160, 25), &a);
	assert_ptr_equal(code_map_find(&m, 155, 30), &c);
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
	assert_null(code_map_find(&m, 99, 5));
	assert_null(code_map_find(&m, 200, 5));
	assert_null(code_map_find(&m, 450, 5));
	assert_ptr_equal(code_map_find(&m, 100, 5), &a);
	code_map_fini(&m);
}

static void what_was_unloaded_is_found_for_samples_from_before(void **state)
{
	struct code_map m = { 0 };

	(void)state;
	code_map_add(&m, 100, 200, 10, &a);
	code_map_add(&m, 100, 200, 20, NULL);
	assert_int_equal(code_map_index(&m), 0);
	assert_ptr_equal(code_map_find(&m, 100, 19), &a);
	assert_null(code_map_find(&m, 100, 20));
	assert_non_null(code_map_ask(&m, 100, 20).fact); /* known to be free, which is more than unknown */
	code_map_fini(&m);
}

/* An answer says for which addresses and times it is the answer. */
static void an_answer_holds_where_it_says(void **state)
{
	static int owner[8];
	struct code_map m = { 0 };
	uint32_t random = 7;

	(void)state;
	for (int i = 0; i < 60; i++) {
		uint64_t start, end, from;

		random = random * 1103515245 + 12345;
		start = 50 + (random >> 16) % 300;
		end = start + 1 + (random >> 8) % 60;
		from = (random >> 24) % 20;
		code_map_add(&m, start, end, from, random >> 12 & 7 ? &owner[i % 8] : NULL);
	}
	assert_int_equal(code_map_index(&m), 0);
	for (uint64_t address = 0; address < 420; address++)
		for (uint64_t time = 0; time < 22; time++) {
			const struct code_answer said = code_map_ask(&m, address, time);

			assert_true(address >= said.start && address < said.end);
			for (uint64_t other = said.start; other < said.end && other < 420; other++)
				assert_ptr_equal(code_map_ask(&m, other, time).fact, said.fact);
			for (uint64_t then = said.from_ns; then < said.until_ns && then < 22; then++)
				assert_ptr_equal(code_map_ask(&m, said.end - 1 < 419 ? said.end - 1 : said.start, then).fact, said.fact);
		}
	code_map_fini(&m);
}

static void facts_may_be_told_in_any_order(void **state)
{
	struct code_map m = { 0 };

	(void)state;
	code_map_add(&m, 100, 200, 20, &b);
	code_map_add(&m, 100, 200, 10, &a);
	assert_int_equal(code_map_index(&m), 0);
	assert_ptr_equal(code_map_find(&m, 150, 15), &a);
	assert_ptr_equal(code_map_find(&m, 150, 25), &b);
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
		assert_ptr_equal(code_map_find(&m, i * 64 + 63, 200000), &owners[i]);
		assert_true(i == 0 || !code_map_find(&m, i * 64, i - 1));
	}
	code_map_fini(&m);
}

static void an_answer_says_how_long_it_holds(void **state)
{
	struct code_map m = { 0 };
	struct code_answer answer;

	(void)state;
	code_map_add(&m, 0, 1000, 5, &a);
	code_map_add(&m, 150, 160, 20, &b);
	code_map_add(&m, 100, 200, 30, NULL);
	assert_int_equal(code_map_index(&m), 0);
	for (uint64_t time = 0; time < 40; time++) {
		answer = code_map_ask(&m, 155, time);
		assert_uint_in_range(time, answer.from_ns, answer.until_ns - 1);
		assert_int_equal(answer.from_ns, time < 5 ? 0 : time < 20 ? 5 : time < 30 ? 20 : 30);
		assert_true(answer.until_ns == (time < 5 ? 5 : time < 20 ? 20 : time < 30 ? 30 : UINT64_MAX));
		answer = code_map_ask(&m, 500, time);
		assert_true(answer.until_ns == (time < 5 ? 5 : UINT64_MAX));
	}
	code_map_fini(&m);
}

/* Facts of any ranges and times against a look at each of them. */
static void answers_are_those_of_a_look_at_every_fact(void **state)
{
	static int owners[500];
	struct code_map m = { 0 };
	uint64_t x = 88172645463325252ull;

	(void)state;
	for (int i = 0; i < 500; i++) {
		uint64_t start, bytes;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		start = x % 1000;
		bytes = 1 + (x >> 20) % ((x >> 60) == 0 ? 1000 : 30);
		code_map_add(&m, start, start + bytes, (x >> 40) % 50, i % 7 ? &owners[i] : NULL);
	}
	assert_int_equal(code_map_index(&m), 0);
	for (uint64_t address = 0; address < 2000; address += 3)
		for (uint64_t time = 0; time < 55; time++) {
			const struct code_fact *best = NULL;
			struct code_answer answer = code_map_ask(&m, address, time);

			for (size_t i = 0; i < m.facts.nr; i++) {
				const struct code_fact *f = &m.facts.at[i];

				if (address >= f->start && address < f->end && f->from_ns <= time && (!best || f->from_ns >= best->from_ns))
					best = f;
			}
			assert_ptr_equal(answer.fact, best);
			assert_uint_in_range(time, answer.from_ns, answer.until_ns - 1);
		}
	code_map_fini(&m);
}

static void replaced_code_makes_a_new_generation(void **state)
{
	struct code_map m = { 0 };

	(void)state;
	code_map_add(&m, 100, 200, 10, &a);
	code_map_add(&m, 200, 300, 20, &b);
	code_map_add(&m, 100, 200, 30, NULL);
	code_map_add(&m, 150, 160, 40, &c);
	assert_int_equal(code_map_index(&m), 0);
	assert_int_equal(code_map_generation(&m, 5), 0);
	assert_int_equal(code_map_generation(&m, 20), 0); /* beside other code */
	assert_int_equal(code_map_generation(&m, 39), 0); /* nothing came in its place yet */
	assert_int_equal(code_map_generation(&m, 40), 1);
	code_map_fini(&m);
}

/* The arena is mapped first, and what is in it replaced ten thousand times. */
static void an_arena_of_two_hundred_thousand_and_ten_thousand_in_one_place(void **state)
{
	static int owners[210000];
	struct code_map m = { 0 };

	(void)state;
	for (uint64_t i = 0; i < 100; i++)
		code_map_add(&m, 0, 200000 * 64, i, &a);
	for (uint64_t i = 0; i < 200000; i++)
		code_map_add(&m, i * 64, i * 64 + 64, 100 + i, &owners[i]);
	for (uint64_t i = 0; i < 10000; i++)
		code_map_add(&m, 640, 704, 300000 + i, &owners[200000 + i]);
	assert_int_equal(code_map_index(&m), 0);
	assert_true(m.first[2 * m.nr_leaves] < 1000000); /* what the index holds */
	for (uint64_t i = 11; i < 200000; i += 7) {
		assert_ptr_equal(code_map_find(&m, i * 64 + 63, 300000), &owners[i]);
		assert_ptr_equal(code_map_find(&m, i * 64, 100 + i - 1), &a);
	}
	for (uint64_t i = 0; i < 10000; i++)
		assert_ptr_equal(code_map_find(&m, 650, 300000 + i), &owners[200000 + i]);
	assert_ptr_equal(code_map_starting_at(&m, 640)->owner, &owners[209999]);
	code_map_fini(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_latest_fact_that_is_not_younger_wins),
		cmocka_unit_test(outside_of_all_ranges_there_is_nothing),
		cmocka_unit_test(what_was_unloaded_is_found_for_samples_from_before),
		cmocka_unit_test(an_answer_holds_where_it_says),
		cmocka_unit_test(facts_may_be_told_in_any_order),
		cmocka_unit_test(two_hundred_thousand_objects_are_found_each),
		cmocka_unit_test(an_answer_says_how_long_it_holds),
		cmocka_unit_test(answers_are_those_of_a_look_at_every_fact),
		cmocka_unit_test(replaced_code_makes_a_new_generation),
		cmocka_unit_test(an_arena_of_two_hundred_thousand_and_ten_thousand_in_one_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
