/* SPDX-License-Identifier: MIT */
/* Functions of a C++ library that throw, called from C. */
#include "shim/engines/cxx_call.h"

#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <string.h>

/* In place of the agent's. */
void *objects_find_next_symbol(const char *name);
void *objects_find_next_symbol(const char *name)
{
	return dlsym(RTLD_DEFAULT, name);
}

static uint64_t called[CXX_ARGUMENTS];

static uint64_t note(uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	called[0] = a;
	called[1] = b;
	called[2] = c;
	called[3] = d;
	return a + 100;
}

static void *library;

static int load(void **state)
{
	(void)state;
	library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_GLOBAL);
	return 0;
}

static void a_call_passes_its_arguments_on(void **state)
{
	uint64_t result = 0;

	(void)state;
	if (!library)
		skip();
	assert_true(cxx_find_functions());
	assert_true(cxx_call((uint64_t)(uintptr_t)note, (const uint64_t[CXX_ARGUMENTS]){ 1, 2, 3, 4 }, &result));
	assert_int_equal(result, 101);
	assert_int_equal(called[3], 4);
	assert_int_equal(called[0], 1);
	assert_int_equal(called[1], 2);
	assert_int_equal(called[2], 3);
}

static void what_is_thrown_ends_in_the_call(void **state)
{
	const uint64_t argument[CXX_ARGUMENTS] = { (uint64_t)(uintptr_t)"far away" };
	uint64_t result = 7;
	void *throws;

	(void)state;
	throws = library ? dlsym(library, "_ZSt20__throw_out_of_rangePKc") : NULL;
	if (!throws)
		skip();
	assert_true(cxx_find_functions());
	for (int i = 0; i < 1000; i++)
		assert_false(cxx_call((uint64_t)(uintptr_t)throws, argument, &result));
	assert_int_equal(result, 7);
	assert_true(cxx_call((uint64_t)(uintptr_t)note, (const uint64_t[CXX_ARGUMENTS]){ 4, 5, 6 }, &result));
	assert_int_equal(called[2], 6);
}

static void a_short_string_is_not_freed(void **state)
{
	struct cxx_string s = { .text = NULL };
	struct cxx_vector v = { 0, 0, 0 };

	(void)state;
	s.text = s.own;
	cxx_string_free(&s);
	cxx_vector_free(&v);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_call_passes_its_arguments_on),
		cmocka_unit_test(what_is_thrown_ends_in_the_call),
		cmocka_unit_test(a_short_string_is_not_freed),
	};

	return cmocka_run_group_tests(tests, load, NULL);
}
