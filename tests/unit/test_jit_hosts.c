/* SPDX-License-Identifier: MIT */
#include "jitreg/hosts/jit_hosts.h"

#include <string.h>

#include "tests/unit/unit.h"

static bool is(const char *path, const char *name)
{
	const struct jit_host *h = jit_host_of_object(path);

	if (name && h && strcmp(h->name, name) == 0)
		return true;
	if (!name && !h)
		return true;
	print_error("%s: %s, expected %s\n", path, h ? h->name : "nothing", name ? name : "nothing");
	return false;
}

static void a_host_is_found_by_the_object_that_holds_its_code(void **state)
{
	(void)state;
	assert_true(is("/usr/bin/node", "Node"));
	assert_true(is("/usr/lib/x86_64-linux-gnu/libLLVM-14.so.1", "LLVM"));
	assert_true(is("/usr/lib/x86_64-linux-gnu/libmozjs-102.so.0", "SpiderMonkey"));
	assert_true(is("/usr/bin/php8.2", "PHP"));
	assert_true(is("/usr/lib/php/20220829/opcache.so", "PHP"));
	assert_true(is("/usr/lib/sbcl/sbcl.core", "SBCL"));
	assert_true(is("/home/u/orcexec.KCZLv6 (deleted)", "ORC"));
	assert_true(is("qemu-x86_64", "QEMU"));
	assert_true(is("/usr/lib/smlnj/bin/.run/run.x86-linux", "Standard ML of New Jersey"));
	assert_true(is("/usr/bin/nodemon", NULL));
	assert_true(is("/usr/bin/node_exporter", NULL));
	assert_true(is("/usr/bin/javac", NULL));
	assert_true(is("", NULL));
}

static void loaded_libraries_are_told_from_modules_of_a_name(void **state)
{
	static const char *const no_library[] = { "/usr/lib/python3/poly.so", "/venv/poly.cpython-310-x86_64-linux-gnu.so", "/usr/bin/node",
						  "/usr/lib/libjpeg.so.62", "" };
	const struct jit_host *wasmtime = jit_host_of_library("/venv/lib/wasmtime/linux-x86_64/_libwasmtime.so");

	(void)state;
	assert_non_null(wasmtime);
	assert_string_equal(wasmtime->name, "wasmtime");
	assert_non_null(jit_host_of_library("/venv/wasmer/wasmer.cpython-310-x86_64-linux-gnu.so"));
	assert_false(jit_host_serves_others(wasmtime));
	assert_true(jit_host_serves_others(jit_host_of_library("/usr/lib/x86_64-linux-gnu/libpcre2-8.so.0")));
	for (size_t i = 0; i < sizeof(no_library) / sizeof(no_library[0]); i++)
		assert_null(jit_host_of_library(no_library[i]));
}

static void every_host_has_a_remedy(void **state)
{
	(void)state;
	for (size_t i = 0; i < nr_jit_hosts; i++) {
		const struct jit_host *h = &jit_hosts[i];

		assert_true(h->name && h->objects && h->remedy && *h->remedy && h->remedy[strlen(h->remedy) - 1] != '.');
		assert_true(!h->interface || (h->word && h->says));
		assert_true(strlen(h->remedy) <= 120); /* two lines behind a line */
	}
	assert_true(jit_host_is_buffer("code_gen_buffer"));
	assert_false(jit_host_is_buffer("main"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_host_is_found_by_the_object_that_holds_its_code),
		cmocka_unit_test(loaded_libraries_are_told_from_modules_of_a_name),
		cmocka_unit_test(every_host_has_a_remedy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
