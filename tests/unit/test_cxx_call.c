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

static uint64_t called[3];

static void note(uint64_t a, uint64_t b, uint64_t c)
{
	called[0] = a;
	called[1] = b;
	called[2] = c;
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
	(void)state;
	if (!library)
		skip();
	assert_true(cxx_find_functions());
	assert_true(cxx_call((uint64_t)(uintptr_t)note, 1, 2, 3));
	assert_int_equal(called[0], 1);
	assert_int_equal(called[1], 2);
	assert_int_equal(called[2], 3);
}

static void what_is_thrown_ends_in_the_call(void **state)
{
	void *throws;

	(void)state;
	throws = library ? dlsym(library, "_ZSt20__throw_out_of_rangePKc") : NULL;
	if (!throws)
		skip();
	assert_true(cxx_find_functions());
	for (int i = 0; i < 1000; i++)
		assert_false(cxx_call((uint64_t)(uintptr_t)throws, (uint64_t)(uintptr_t)"far away", 0, 0));
	assert_true(cxx_call((uint64_t)(uintptr_t)note, 4, 5, 6));
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
