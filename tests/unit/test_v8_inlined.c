/* SPDX-License-Identifier: MIT */
/* A heap with V8's objects, as far as the agent reads them, and the functions of a script. */
#include "tests/unit/unit.h"

#include "shim/libraries/v8_functions.h"
#include "shim/libraries/v8_inlined.h"

#include <string.h>

#define CODE 16 /* word of the machine code */
static uint64_t machine[32], code[8], data[12], calls[8], literals[4], map[1], own[4], heavy[4], light[4];
static uint64_t table[16];
static unsigned char *table_end;

static uint64_t tag(const void *object)
{
	return (uint64_t)(uintptr_t)object | 1;
}

static uint64_t small(uint64_t number)
{
	return number << 32;
}

static void put_number(int64_t number)
{
	uint64_t bits = (uint64_t)number << 1 ^ (uint64_t)(number >> 63);

	for (; bits > 0x7f; bits >>= 7)
		*table_end++ = (unsigned char)(bits | 0x80);
	*table_end++ = (unsigned char)bits;
	table[1] = small((uint64_t)(table_end - (unsigned char *)&table[2]));
}

static uint64_t position_word(uint32_t position, int in)
{
	return (uint64_t)(in + 1) << 31 | (uint64_t)(position + 1) << 1;
}

/* call: number of the inlined call that the place is in; -1: none */
static const struct {
	struct v8_place at;
	int call;
} planted[] = { { { 4, 100 }, -1 }, { { 20, 30 }, 0 }, { { 90, 12 }, 1 }, { { 300, 140 }, -1 } };
static struct v8_place places[4];

static void make_heap(void)
{
	int64_t offset = -1;
	uint64_t word = 0;

	memset(table, 0, sizeof(table));
	table_end = (unsigned char *)&table[2];
	for (int i = 0; i < 4; i++) {
		uint64_t next = position_word(planted[i].at.position, planted[i].call);
		int64_t step = (int64_t)planted[i].at.offset - offset;

		put_number(i & 1 ? step : -step - 1);
		put_number((int64_t)(next - word));
		offset = planted[i].at.offset;
		word = next;
		places[i] = planted[i].at;
	}
	own[0] = heavy[0] = light[0] = tag(map);
	machine[CODE - 1] = tag(code);
	code[2] = tag(data);
	code[3] = tag(table);
	data[1] = small(10);
	data[8] = tag(own);
	data[9] = tag(calls);
	data[4] = tag(literals);
	calls[1] = small(32);
	calls[2] = position_word(120, -1);
	calls[3] = 1; /* the called function is literal 1 */
	calls[4] = position_word(35, 0);
	calls[5] = 0;
	literals[1] = small(2);
	literals[2] = tag(light) | 2; /* weak */
	literals[3] = tag(heavy);
}

static const struct v8_inlining *read_code(const struct v8_place *reported)
{
	return v8_inlined_read((uint64_t)(uintptr_t)&machine[CODE], tag(own), reported, reported ? 4 : 0);
}

static void objects_that_disagree_are_refused(void **state)
{
	(void)state;
	make_heap();
	assert_null(read_code(NULL)); /* nothing was reported yet that would show where the table is */
	places[2].position++;
	assert_null(read_code(places));
	make_heap();
	data[8] = tag(heavy);
	assert_null(read_code(places));
	make_heap();
	calls[4] = position_word(35, 1); /* a call inside of itself */
	assert_null(read_code(places));
	make_heap();
	calls[3] = 2; /* behind the literals */
	assert_null(read_code(places));
	make_heap();
	light[0] = tag(own); /* no function */
	assert_null(read_code(places));
	make_heap();
	table[1] = small(3);
	assert_null(read_code(places));
	make_heap();
	literals[1] = small(0x7fffffff);
	assert_null(read_code(places));
	make_heap();
	data[9] = 0x123456789001; /* nowhere */
	assert_null(read_code(places));
}

/* A server has a lot of code without positions (the baseline compiler's) before the first one with inlined calls. */
static void code_without_a_table_does_not_end_the_search(void **state)
{
	(void)state;
	make_heap();
	code[3] = 0;
	for (int i = 0; i < 1000; i++)
		assert_null(read_code(NULL));
}

/* The first code with inlined calls may be the middle compiler's, which runs for seconds before it is optimized. */
static void first_calls_may_be_of_code_without_a_report(void **state)
{
	const struct v8_inlining *in;

	(void)state;
	make_heap();
	memset(table, 0, sizeof(table));
	table_end = (unsigned char *)&table[2];
	put_number(-5 - 1);
	put_number((int64_t)position_word(100, -1));
	assert_null(read_code(NULL)); /* nothing in it shows that it is a table, or where its calls would be */
	make_heap();
	in = read_code(NULL);
	assert_non_null(in);
	assert_int_equal(in->nr, 2);
	assert_int_equal(in->call[0].info, tag(heavy));
	assert_int_equal(in->call[1].info, tag(light));
}

static void calls_are_read_with_their_functions(void **state)
{
	const struct v8_inlining *in;

	(void)state;
	for (int way = 0; way < 2; way++) { /* reported, and then as of a compiler that reports nothing */
		make_heap();
		in = read_code(way ? NULL : places);
		assert_non_null(in);
		assert_int_equal(in->nr_places, 4);
		assert_int_equal(in->nr, 2);
		for (int i = 0; i < 4; i++) {
			assert_int_equal(in->of[i], planted[i].call);
			assert_int_equal(in->place[i].offset, planted[i].at.offset);
			assert_int_equal(in->place[i].position, planted[i].at.position);
		}
		assert_int_equal(in->call[0].in, -1);
		assert_int_equal(in->call[0].position, 120);
		assert_int_equal(in->call[0].info, tag(heavy));
		assert_int_equal(in->call[1].in, 0);
		assert_int_equal(in->call[1].position, 35);
		assert_int_equal(in->call[1].info, tag(light));
	}
}

static void objects_that_disagree_are_refused_later_too(void **state)
{
	(void)state;
	make_heap();
	data[8] = tag(heavy);
	assert_null(read_code(NULL));
	assert_null(read_code(places));
	make_heap();
	machine[CODE - 1] = 0x123456789001;
	assert_null(read_code(places));
}

static void add(const struct v8_script *s, uint32_t first, uint32_t last, uintptr_t info, const char *name)
{
	struct v8_range range = { first, last };

	v8_functions_add(s, &range, info, name, strlen(name));
}

static void innermost_function_of_the_script_has_the_position(void **state)
{
	const struct v8_script one = { machine, 1 }, other = { machine, 2 }, of_worker = { code, 1 };
	struct v8_range range;

	(void)state;
	assert_true(v8_functions_init());
	add(&one, 0, 1000, 11, "JS:~ /a.js:1:1");
	add(&one, 100, 300, 21, "JS:~outer /a.js:5:1");
	add(&one, 150, 180, 31, "JS:~inner /a.js:6:1");
	add(&other, 0, 5000, 41, "JS:~b /b.js:1:1");
	add(&of_worker, 160, 170, 51, "JS:~c /c.js:1:1");
	add(&one, 1, 0, 61, "JS:^before /a.js:2:1"); /* it existed before, so its range is unknown */
	assert_string_equal(v8_functions_find(&one, 0, 160), "JS:inner /a.js:6:1");
	assert_string_equal(v8_functions_find(&one, 0, 200), "JS:outer /a.js:5:1");
	assert_string_equal(v8_functions_find(&other, 0, 160), "JS:b /b.js:1:1");
	assert_string_equal(v8_functions_find(&one, 21, 160), "JS:outer /a.js:5:1");
	assert_string_equal(v8_functions_find(&one, 31, 999), "JS: /a.js:1:1"); /* V8 has moved something else there */
	assert_string_equal(v8_functions_find(&one, 61, 40), "JS:before /a.js:2:1");
	assert_null(v8_functions_find(&one, 0, 1001));
	add(&one, 100, 400, 22, "JS:~outer /a.js:5:1"); /* compiled again */
	assert_true(v8_functions_range("JS:o*outer /a.js:5:1", 20, &range));
	assert_int_equal(range.last, 400);
	assert_false(v8_functions_range("JS:*before /a.js:2:1", 20, &range));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(objects_that_disagree_are_refused),
		cmocka_unit_test(code_without_a_table_does_not_end_the_search),
		cmocka_unit_test(first_calls_may_be_of_code_without_a_report),
		cmocka_unit_test(calls_are_read_with_their_functions),
		cmocka_unit_test(objects_that_disagree_are_refused_later_too),
		cmocka_unit_test(innermost_function_of_the_script_has_the_position),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
