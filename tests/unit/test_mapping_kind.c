/* SPDX-License-Identifier: MIT */
/* mapping_kind.c: paths as the kernel gives them. */
#include "jitreg/base/mapping_kind.h"

#include <string.h>
#include <sys/mman.h>

#include "tests/unit/unit.h"

#define RX (PROT_READ | PROT_EXEC)

static bool may_hold(const char *path, uint32_t prot, bool shared)
{
	return mapping_may_hold_generated_code(path, strlen(path), prot, shared);
}

static void generated_code_is_in_memory_and_in_files_that_are_written(void **state)
{
	static const char *const memory[] = { "", "//anon", "[heap]", "[anon:JIT]", "/memfd:doublemapper (deleted)", "/dev/zero (deleted)",
					      "/SYSV00000000 (deleted)", "/anon_hugepage (deleted)" };
	static const char *const files[] = { "/usr/lib/libz.so.1", "/dev/shm/dm", "/var/tmp/jit-buffer (deleted)", "/dev/hugepages/x" };

	(void)state;
	for (size_t i = 0; i < sizeof(memory) / sizeof(memory[0]); i++)
		assert_true(may_hold(memory[i], RX, false));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		assert_int_equal(mapping_kind(files[i], strlen(files[i])), MAPPING_FILE);
		assert_false(may_hold(files[i], RX, false));
		assert_true(may_hold(files[i], RX, true));
		assert_true(may_hold(files[i], RX | PROT_WRITE, false));
	}
}

static void the_kernels_own_and_devices_hold_none(void **state)
{
	(void)state;
	assert_false(may_hold("[vdso]", RX, false));
	assert_false(may_hold("[vsyscall]", RX, false));
	assert_false(may_hold("[uprobes]", RX, false));
	assert_false(may_hold("/dev/dri/card0", RX, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(generated_code_is_in_memory_and_in_files_that_are_written),
		cmocka_unit_test(the_kernels_own_and_devices_hold_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
