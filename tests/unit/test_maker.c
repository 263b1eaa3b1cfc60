/* SPDX-License-Identifier: MIT */
/* Whose code has no name, by what a process has loaded. */
#include "tests/unit/unit.h"

#include "analyzer/attribute/nameless.h"

#include <string.h>

static char python[] = "/usr/bin/python3.12", node[] = "/usr/bin/node", wasmtime[] = "/venv/wasmtime/_libwasmtime.so",
	    pcre[] = "/usr/lib/libpcre2-8.so.0", llvm[] = "/usr/lib/libLLVM-19.so.1", guile[] = "/usr/lib/libguile-3.0.so.1",
	    module[] = "/venv/poly.so";
static struct code images[8], region = { .kind = CODE_REGION };

static struct process process(uint32_t number, char *executable, size_t nr, char *const *loaded, struct code_fact *facts)
{
	for (size_t i = 0; i < nr; i++) {
		images[i] = (struct code){ .kind = CODE_IMAGE, .path = loaded[i] };
		facts[i] = (struct code_fact){ 0x1000 * i, 0x1000 * i + 0x1000, 100 * i, &images[i] };
	}
	return (struct process){ .number = number, .executable = executable, .code = { .facts.at = facts, .facts.nr = nr } };
}

static void expect(const char *maker, char *executable, size_t nr, char *const *loaded)
{
	struct model m = { .processes.nr = 2 };
	struct makers s = { NULL, 0 };
	struct code_fact facts[8];
	struct process p = process(0, executable, nr, loaded, facts);

	assert_string_equal(makers_find(&s, &m, &p, &region), maker);
	assert_string_equal(makers_find(&s, &m, &p, &region), maker); /* what was found is kept */
	makers_fini(&s);
}
#define LIST(...) (char *const[]){ __VA_ARGS__ }
/* The first object is the program. */
#define EXPECT(maker, ...) expect(maker, LIST(__VA_ARGS__)[0], sizeof(LIST(__VA_ARGS__)) / sizeof(char *), LIST(__VA_ARGS__))

static void the_one_host_that_is_loaded_made_it(void **state)
{
	(void)state;
	EXPECT(wasmtime, python, wasmtime);
	EXPECT(python, python, module);
	EXPECT(node, node, wasmtime); /* a program that is a host */
}

static void one_of_several_is_not_guessed(void **state)
{
	(void)state;
	EXPECT(python, python, wasmtime, guile);
	EXPECT(wasmtime, python, wasmtime, wasmtime);
	EXPECT(python, python, llvm, pcre);
}

static void what_others_load_too_counts_alone_only(void **state)
{
	(void)state;
	EXPECT(wasmtime, python, llvm, pcre, wasmtime);
	EXPECT(pcre, python, pcre);
}

static void what_the_agent_saw_goes_first(void **state)
{
	struct model m = { .processes.nr = 1 };
	struct makers s = { NULL, 0 };
	struct code_fact facts[8];
	struct process p = process(0, python, 1, (char *const[]){ wasmtime }, facts);
	struct code mapped = { .kind = CODE_REGION, .mapper = guile };

	(void)state;
	assert_string_equal(makers_find(&s, &m, &p, &mapped), guile);
	makers_fini(&s);
}

static void a_forked_process_has_what_its_parent_had_loaded(void **state)
{
	struct model m = { .processes.nr = 2 };
	struct makers s = { NULL, 0 };
	struct code_fact facts[8];
	struct process parent = process(0, python, 2, (char *const[]){ wasmtime, guile }, facts),
		       child = { .number = 1, .executable = python, .parent = &parent, .forked_ns = 50 };

	(void)state;
	assert_string_equal(makers_find(&s, &m, &child, &region), wasmtime); /* Guile was loaded after that */
	assert_string_equal(makers_find(&s, &m, &parent, &region), python);
	makers_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_one_host_that_is_loaded_made_it),
		cmocka_unit_test(one_of_several_is_not_guessed),
		cmocka_unit_test(what_others_load_too_counts_alone_only),
		cmocka_unit_test(what_the_agent_saw_goes_first),
		cmocka_unit_test(a_forked_process_has_what_its_parent_had_loaded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
