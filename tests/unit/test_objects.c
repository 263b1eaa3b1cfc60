/* SPDX-License-Identifier: MIT */
/* Symbols from the objects' own tables against dlsym, and the patching of empty functions. */
#include "tests/unit/unit.h"

#include "agent/guest/guest.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

/* The agent's, without the agent. */
bool guest_was_loaded_late(void)
{
	return false;
}

static unsigned char *code;

static int set_up(void **state)
{
	(void)state;
	code = mmap(NULL, 8192, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (code != MAP_FAILED)
		memset(code, 0x90, 4096);
	return code == MAP_FAILED;
}

static int tear_down(void **state)
{
	(void)state;
	return munmap(code, 8192);
}

static void the_next_definition_is_libcs_default_version(void **state)
{
	static const char *const names[] = { "pthread_create", "thrd_create", "dlopen", "dlmopen", "dlclose", "qsort", "getenv" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		assert_non_null(objects_find_next_symbol(names[i]));
		assert_ptr_equal(objects_find_next_symbol(names[i]), dlsym(RTLD_NEXT, names[i]));
	}
	assert_null(objects_find_next_symbol("no_such_function_anywhere"));
	assert_null(objects_find_next_symbol(""));
}

static int first_of(void *found, const struct object *o)
{
	memcpy(found, o, sizeof(*o));
	return 1;
}

static void an_object_knows_what_lies_in_it(void **state)
{
	struct object program;
	char on_stack;

	(void)state;
	assert_int_equal(objects_each(first_of, &program), 1);
	assert_string_equal(program.name, "");
	assert_true(object_contains(&program, (const void *)(uintptr_t)first_of, 1));
	assert_false(object_contains(&program, (const void *)(uintptr_t)first_of, 1ul << 40));
	assert_false(object_contains(&program, &on_stack, 1));
	assert_false(object_contains(&program, NULL, 0));
}

static int nr_calls;

static void called(void)
{
	nr_calls++;
}

static void call(void *function)
{
	void (*f)(void);

	memcpy(&f, &function, sizeof(f));
	f();
}

static void empty_functions_of_every_compiler_are_patched(void **state)
{
	static const struct {
		size_t bytes;
		const char *code;
	} forms[] = {
		{ 1, "\xc3" },
		{ 5, "\xf3\x0f\x1e\xfa\xc3" },
		{ 6, "\x55\x48\x89\xe5\x5d\xc3" },
		{ 10, "\xf3\x0f\x1e\xfa\x55\x48\x89\xe5\x5d\xc3" },
		{ 16, "\xc3\x66\x66\x2e\x0f\x1f\x84\x00\x00\x00\x00\x00\x0f\x1f\x40\x00" },
	};

	(void)state;
	nr_calls = 0;
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		unsigned char *f = code + 64 * i;

		memcpy(f, forms[i].code, forms[i].bytes);
		assert_int_equal(patch_empty_function(f, (void *)(uintptr_t)called), 0);
		call(f);
		assert_int_equal(nr_calls, (int)i + 1);
		assert_int_equal(patch_empty_function(f, (void *)(uintptr_t)called), 0); /* once more is no error */
	}
}

static void what_is_not_empty_is_left_alone(void **state)
{
	static const unsigned char working[] = { 0xb8, 1, 0, 0, 0, 0xc3 }, short_one[] = { 0xc3, 0x90, 0x48, 0x89, 0xf8, 0xc3 };
	unsigned char before[64];

	(void)state;
	memcpy(code, working, sizeof(working));
	memcpy(code + 16, short_one, sizeof(short_one)); /* the next function comes too soon */
	code[41] = 0xc3;				  /* not where functions start */
	code[48] = 0xcc;				  /* a debugger's breakpoint */
	memcpy(before, code, sizeof(before));
	assert_int_equal(patch_empty_function(code, (void *)(uintptr_t)called), -EILSEQ);
	assert_int_equal(patch_empty_function(code + 16, (void *)(uintptr_t)called), -EILSEQ);
	assert_int_equal(patch_empty_function(code + 41, (void *)(uintptr_t)called), -EILSEQ);
	assert_int_equal(patch_empty_function(code + 48, (void *)(uintptr_t)called), -EILSEQ);
	assert_memory_equal(before, code, sizeof(before));
	assert_int_equal(mprotect(code + 4096, 4096, PROT_NONE), 0);
	assert_int_equal(patch_empty_function(code + 4096, (void *)(uintptr_t)called), -EFAULT);
}

static void code_stays_not_writable(void **state)
{
	char line[256], *at = NULL;
	FILE *f;

	(void)state;
	code[0] = 0xc3;
	assert_int_equal(mprotect(code, 4096, PROT_READ | PROT_EXEC), 0);
	assert_int_equal(patch_empty_function(code, (void *)(uintptr_t)called), 0);
	f = fopen("/proc/self/maps", "r");
	assert_non_null(f);
	while (!at && fgets(line, sizeof(line), f)) {
		unsigned long start, end;

		if (sscanf(line, "%lx-%lx", &start, &end) == 2 && start <= (uintptr_t)code && (uintptr_t)code < end)
			at = strchr(line, ' ');
	}
	fclose(f);
	assert_non_null(at);
	assert_memory_equal(at, " r-xp", 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_next_definition_is_libcs_default_version),
		cmocka_unit_test(an_object_knows_what_lies_in_it),
		cmocka_unit_test_setup_teardown(empty_functions_of_every_compiler_are_patched, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_is_not_empty_is_left_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(code_stays_not_writable, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
