/* SPDX-License-Identifier: MIT */
/* Execs in files of kernels before Linux 3.16, whose COMM records do not say that they are an exec's. */
#include "agent/recorder/import/old_execs.h"
#include "tests/unit/unit.h"

#include <string.h>

static struct old_execs execs;

static void is_named(uint32_t pid, const char *name, uint64_t time_ns)
{
	const struct kernel_comm c = { .pid = pid, .tid = pid, .name = name, .bytes = strlen(name) };

	old_execs_note_comm(&execs, &c, time_ns);
}

/* Does the mapping show an exec, of this name and time?  NULL: it must show none. */
static void expect(uint32_t pid, const char *path, const char *name, uint64_t time_ns)
{
	const struct mapping m = { .pid = pid, .path = path, .path_bytes = strlen(path) };
	struct kernel_comm c;
	uint64_t exec_ns;

	if (old_execs_note_mapping(&execs, &m, &c, &exec_ns) != (name != NULL))
		fail_msg("%s of process %u: expected %s exec", path, pid, name ? "an" : "no");
	if (!name)
		return;
	assert_true(c.exec);
	assert_int_equal(c.pid, pid);
	assert_int_equal(c.tid, pid);
	assert_int_equal(exec_ns, time_ns);
	assert_int_equal(c.bytes, strlen(name));
	assert_memory_equal(c.name, name, c.bytes);
}

static void the_mapping_behind_a_name_tells(void **state)
{
	(void)state;
	expect(7, "/bin/unknown", NULL, 0);
	is_named(7, "planted-tool", 100);
	is_named(8, "renamed", 110);
	is_named(9, "a-name-of-more-than-fifteen-bytes", 120);
	expect(8, "/lib/libplanted-2.15.so", NULL, 0); /* a thread that has named itself loads a library */
	expect(8, "/bin/late", NULL, 0); /* only the first mapping tells */
	expect(7, "/usr/bin/planted-tool", "planted-tool", 100);
	expect(7, "/usr/bin/planted-tool", NULL, 0);
	expect(9, "/opt/x", "a-name-of-more-", 120);
	is_named(7, "script", 300);
	expect(7, "/bin/sh", "script", 300);
	is_named(7, "self", 400);
	expect(7, "[vdso]", NULL, 0);
	is_named(7, "self", 500);
	expect(7, "/lib/libc.so.6", NULL, 0);
	is_named(7, "", 600);
	expect(7, "/bin/x", NULL, 0);
	old_execs_fini(&execs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_mapping_behind_a_name_tells),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
