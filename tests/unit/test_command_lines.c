/* SPDX-License-Identifier: MIT */
/* What tells the processes of a program apart. */
#include "tests/unit/unit.h"

#include "analyzer/leading/command_lines.h"

#include <string.h>

static struct process process[4], *numbered[4] = { &process[0], &process[1], &process[2], &process[3] };
static struct model m = { .numbered.at = numbered };

static void begin(const char *executable, uint32_t nr, const char *const *lines)
{
	m.processes.nr = nr;
	for (uint32_t i = 0; i < nr; i++)
		process[i] = (struct process){ .executable = (char *)(uintptr_t)executable, .command_line = (char *)(uintptr_t)lines[i] };
}

static void expect(uint32_t i, const char *label)
{
	struct command_words w;
	char text[COMMAND_LABEL_BYTES];

	assert_true(command_words_make(&w, &m));
	command_words_label(&w, &process[i], false, text);
	assert_string_equal(text, label);
	command_words_fini(&w);
}

static void a_compiler_is_told_by_its_file(void **state)
{
	static const char *const lines[] = { "/usr/lib/gcc/cc1 -quiet -I . lapi.c -dumpbase lapi.c -O2 -o /tmp/ccA.s",
					     "/usr/lib/gcc/cc1 -quiet -I . lvm.c -dumpbase lvm.c -O2 -DX -o out/b.s", NULL };

	(void)state;
	begin("/usr/lib/gcc/cc1", 3, lines);
	expect(0, "cc1 ... lapi.c");
	expect(1, "cc1 ... lvm.c");
}

static void the_only_compiler_is_told_by_its_file_too(void **state)
{
	static const char *const lines[] = { "/usr/lib/gcc/cc1plus -quiet -imultiarch x86_64-linux-gnu -I .. -D _GNU_SOURCE big.cc -quiet "
					     "-dumpbase big.cc -dumpbase-ext .cc -mtune=generic -O2 -o /tmp/ccB.s" };

	(void)state;
	begin("/usr/lib/gcc/cc1plus", 1, lines);
	expect(0, "cc1plus ... big.cc");
}

static void one_process_and_equal_ones_have_their_command_line(void **state)
{
	static const char *const one[] = { "/usr/bin/ar rcu liblua.a lapi.o" }, *const equal[] = { "sh -c true", "sh -c true" };

	(void)state;
	begin("/usr/bin/ar", 1, one);
	expect(0, "ar rcu liblua.a lapi.o");
	begin("/bin/sh", 2, equal);
	expect(0, "sh -c true");
}

static void odd_lines_are_borne(void **state)
{
	static char long_line[3000];
	static const char *const lines[] = { "", "   ", "a", long_line };
	char text[COMMAND_LABEL_BYTES];
	struct command_words w;

	(void)state;
	memset(long_line, 'x', sizeof(long_line) - 1);
	begin("/a", 4, lines);
	expect(0, "");
	expect(1, "");
	expect(2, "a");
	assert_true(command_words_make(&w, &m));
	command_words_label(&w, &process[3], true, text);
	assert_int_equal(strlen(text), COMMAND_LABEL_BYTES - 1);
	command_words_fini(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_compiler_is_told_by_its_file),
		cmocka_unit_test(the_only_compiler_is_told_by_its_file_too),
		cmocka_unit_test(one_process_and_equal_ones_have_their_command_line),
		cmocka_unit_test(odd_lines_are_borne),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
