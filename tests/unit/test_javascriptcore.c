/* SPDX-License-Identifier: MIT */
/* JavaScriptCore's option is in the environment until executable memory is mapped, and the environment is not written again. */
#include "tests/unit/unit.h"

#define JITREG_AGENT 1 /* jitreg_emit is here */
#include "shim/hosts/hosts.h"

#include <fcntl.h>
#include <stdio.h>

int jitreg_emit(const struct iovec *parts, int nr_parts)
{
	(void)parts;
	(void)nr_parts;
	return 0;
}

void *object_find_symbol(const struct object *o, const char *name)
{
	(void)o;
	return strcmp(name, "JSGlobalContextCreate") == 0 ? &environ : NULL;
}

static void mappings_behind_the_first_leave_the_environment_alone(void **state)
{
	const struct object library = { .name = "/usr/lib/libjavascriptcoregtk-4.1.so.0" };
	char **ours, path[64];
	int fd;

	(void)state;
	javascriptcore_hook_object(&library);
	assert_string_equal(getenv("JSC_useJITDump"), "1");
	javascriptcore_note_mapping(-1);
	assert_null(getenv("JSC_useJITDump"));
	assert_null(getenv("JSC_jitDumpDirectory"));

	/* an environment that must not be written */
	ours = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(ours != MAP_FAILED);
	ours[0] = (char *)(uintptr_t)"A=1";
	assert_int_equal(mprotect(ours, 4096, PROT_READ), 0);
	environ = ours;
	javascriptcore_note_mapping(-1);

	/* the file is removed when it is mapped, which may be later */
	snprintf(path, sizeof(path), "/tmp/jit-%d.dump", (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	javascriptcore_note_mapping(fd);
	assert_int_equal(access(path, F_OK), -1);
	close(fd);
	assert_ptr_equal(environ, ours);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mappings_behind_the_first_leave_the_environment_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
