/* SPDX-License-Identifier: MIT */
/* program.c: what a command is before it runs. */
#include "agent/recorder/process/program.h"
#include "tests/unit/unit.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char dir[] = "/tmp/test_program.XXXXXX";
static char path[128];

/* A file of that name in dir; its path. */
static const char *make(const char *name, const void *bytes, size_t nr, mode_t mode)
{
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, nr, f), nr);
	fclose(f);
	chmod(path, mode);
	return path;
}

static const char *make_elf(const char *name, unsigned char class, bool interpreted, mode_t mode)
{
	struct {
		Elf64_Ehdr h;
		Elf64_Phdr ph;
		char interpreter[32];
	} e = { .h = { .e_machine = EM_X86_64, .e_phoff = sizeof(Elf64_Ehdr), .e_phnum = 1, .e_phentsize = sizeof(Elf64_Phdr) },
		.ph = { .p_type = interpreted ? PT_INTERP : PT_LOAD, .p_offset = sizeof(e.h) + sizeof(e.ph) },
		.interpreter = "/lib64/ld-linux-x86-64.so.2" };

	memcpy(e.h.e_ident, ELFMAG, SELFMAG);
	e.h.e_ident[EI_CLASS] = class;
	return make(name, &e, sizeof(e), mode);
}

static void programs_are_found_as_exec_finds_them(void **state)
{
	struct program p;

	(void)state;
	make("tool", "#!/bin/sh\n", 10, 0755);
	make("data", "x", 1, 0644);
	setenv("PATH", "/no/such/folder:", 1);
	program_inspect("tool", &p);
	assert_int_equal(p.error, ENOENT);
	setenv("PATH", dir, 1);
	program_inspect("tool", &p);
	assert_int_equal(p.error, 0);
	program_inspect("data", &p);
	assert_int_equal(p.error, EACCES);
	program_inspect("no-such-tool", &p);
	assert_int_equal(p.error, ENOENT);
	program_inspect("", &p);
	assert_int_equal(p.error, ENOENT);
	program_inspect("/tmp", &p);
	assert_int_equal(p.error, EISDIR);
	setenv("PATH", "/tmp:/usr", 1); /* folders are no programs */
	program_inspect("bin", &p);
	assert_int_not_equal(p.error, 0);
}

static void programs_that_the_agent_cannot_enter_are_told(void **state)
{
	struct program p;
	char script[256];

	(void)state;
	program_inspect(make_elf("dynamic", ELFCLASS64, true, 0755), &p);
	assert_true(p.can_preload);
	assert_null(p.why_not);
	program_inspect(make_elf("static", ELFCLASS64, false, 0755), &p);
	assert_non_null(strstr(p.why_not, "statically linked"));
	program_inspect(make_elf("32", ELFCLASS32, true, 0755), &p);
	assert_false(p.can_preload);
	assert_non_null(strstr(p.why_not, "64-bit"));
	snprintf(script, sizeof(script), "#! %s/static -x\n", dir);
	program_inspect(make("script", script, strlen(script), 0755), &p);
	assert_non_null(strstr(p.why_not, "statically linked"));
	assert_non_null(strstr(p.interpreter, "/static"));
	setenv("PATH", dir, 1);
	program_inspect(make("by-env", "#!/usr/bin/env -S static -x\nenv", 32, 0755), &p);
	assert_non_null(strstr(p.why_not, "statically linked"));
	assert_non_null(strstr(p.interpreter, "/static"));
	program_inspect(make("by-nothing", "#! \n", 4, 0755), &p);
	assert_null(p.why_not);
}

static void programs_with_other_peoples_privileges_are_told(void **state)
{
	struct program p;

	(void)state;
	make_elf("setuid", ELFCLASS64, true, 0755);
	if (geteuid() == 0)
		assert_int_equal(chown(path, 1, 1), 0);
	chmod(path, 04755);
	program_inspect(path, &p);
	if (geteuid() == 0)
		assert_non_null(strstr(p.why_not, "privileges"));
	else
		assert_null(p.why_not); /* our own */
	assert_string_equal(p.why_uncounted ? p.why_uncounted : "", geteuid() == 0 ? "is setuid" : "");
}

static void programs_that_are_damaged_do_no_harm(void **state)
{
	struct program p;
	unsigned char bytes[200];

	(void)state;
	srand(1);
	for (int round = 0; round < 500; round++) {
		for (size_t i = 0; i < sizeof(bytes); i++)
			bytes[i] = (unsigned char)rand();
		memcpy(bytes, ELFMAG, SELFMAG);
		bytes[EI_CLASS] = ELFCLASS64;
		bytes[18] = EM_X86_64;
		bytes[19] = 0;
		program_inspect(make("noise", bytes, (size_t)rand() % sizeof(bytes), 0755), &p);
		assert_int_equal(p.error, 0); /* exec will refuse it */
	}
	program_inspect(make("loop", path, 0, 0755), &p);
	snprintf((char *)bytes, sizeof(bytes), "#!%s/loop\n", dir);
	program_inspect(make("loop", bytes, strlen((char *)bytes), 0755), &p); /* its own interpreter */
	assert_true(p.can_preload);
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state)
{
	char command[64];

	(void)state;
	setenv("PATH", "/usr/bin:/bin", 1);
	snprintf(command, sizeof(command), "rm -rf %s", dir);
	return system(command);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_are_found_as_exec_finds_them),
		cmocka_unit_test(programs_that_the_agent_cannot_enter_are_told),
		cmocka_unit_test(programs_with_other_peoples_privileges_are_told),
		cmocka_unit_test(programs_that_are_damaged_do_no_harm),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
