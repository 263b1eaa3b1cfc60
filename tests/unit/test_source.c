/* SPDX-License-Identifier: MIT */
/* Files of source text: where they may be, and which are read. */
#include "analyzer/source/source_file.h"
#include "analyzer/source/source_path.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

static char folder[] = "/tmp/tailor-source-XXXXXX";

static const char *path_of(const char *name)
{
	static char path[200];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static const char *file_with(const char *name, const void *text, size_t bytes)
{
	int fd = open(path_of(name), O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, bytes), (ssize_t)bytes);
	close(fd);
	return path_of(name);
}

static enum source_state state_of(const char *path)
{
	struct source_file f = { 0 };
	enum source_state state = source_file_read(path, &f);

	assert_true(state == SOURCE_FOUND || !f.text);
	source_file_fini(&f);
	return state;
}

static void assert_line(const struct source_file *f, uint32_t n, const char *expected)
{
	size_t bytes;
	const char *text = source_file_line(f, n, &bytes);

	assert_int_equal(bytes, strlen(expected));
	assert_memory_equal(text, expected, bytes);
}

static void lines_are_without_their_ends(void **state)
{
	struct source_file f;

	(void)state;
	assert_int_equal(source_file_read(file_with("a.c", "one\r\n\n  three", 13), &f), SOURCE_FOUND);
	assert_int_equal(f.nr_lines, 3);
	assert_line(&f, 0, "");
	assert_line(&f, 1, "one");
	assert_line(&f, 2, "");
	assert_line(&f, 3, "  three");
	assert_line(&f, 4, "");
	assert_line(&f, UINT32_MAX, "");
	source_file_fini(&f);
	assert_int_equal(source_file_read(file_with("a.c", "one\n", 4), &f), SOURCE_FOUND);
	assert_int_equal(f.nr_lines, 1);
	source_file_fini(&f);
	assert_int_equal(source_file_read(file_with("empty.c", "", 0), &f), SOURCE_FOUND);
	assert_int_equal(f.nr_lines, 0);
	source_file_fini(&f);
}

static void only_text_of_languages_is_read(void **state)
{
	(void)state;
	assert_int_equal(state_of(file_with("x.JS", "x", 1)), SOURCE_FOUND);
	assert_int_equal(state_of(file_with("script", "#!/bin/sh", 9)), SOURCE_FOUND);
	assert_int_equal(state_of(file_with("id_rsa", "secret", 6)), SOURCE_NO_LANGUAGE);
	assert_int_equal(state_of(file_with(".c d", "secret", 6)), SOURCE_NO_LANGUAGE); /* (two endings of the list) */
	assert_int_equal(state_of(file_with("x.", "secret", 6)), SOURCE_NO_LANGUAGE);
	assert_int_equal(state_of(file_with("x.secretsecretsecret", "secret", 6)), SOURCE_NO_LANGUAGE);
	assert_int_equal(state_of(file_with("zero.c", "a\0b", 3)), SOURCE_BINARY);
}

static void what_is_no_file_or_large_is_not_read(void **state)
{
	int fd;

	(void)state;
	assert_int_equal(state_of(path_of("nowhere.c")), SOURCE_ABSENT);
	assert_int_equal(mkfifo(path_of("fifo.c"), 0644), 0);
	assert_int_equal(state_of(path_of("fifo.c")), SOURCE_ABSENT);
	assert_int_equal(mkdir(path_of("folder.c"), 0755), 0);
	assert_int_equal(state_of(path_of("folder.c")), SOURCE_ABSENT);
	assert_int_equal(symlink("/dev/zero", path_of("device.c")), 0);
	assert_int_equal(state_of(path_of("device.c")), SOURCE_ABSENT);
	file_with("large.c", "x", 1);
	assert_int_equal(truncate(path_of("large.c"), 1 << 30), 0); /* a hole */
	assert_int_equal(state_of(path_of("large.c")), SOURCE_TOO_LARGE);
	file_with("long.c", "", 0);
	fd = open(path_of("long.c"), O_WRONLY);
	for (size_t i = 0; i < SOURCE_FILE_BYTES_MAX / 4096; i++) {
		char block[4096];

		memset(block, 'x', sizeof(block));
		assert_int_equal(write(fd, block, sizeof(block)), sizeof(block));
	}
	close(fd);
	assert_int_equal(state_of(path_of("long.c")), SOURCE_FOUND);
}

/* All candidates, in a line. */
static const char *candidates(const char *file, const char *working_folder)
{
	static char all[64 * PATH_MAX];
	char at[PATH_MAX];

	*all = 0;
	for (unsigned n = 0; source_path_get(file, working_folder, n, at); n++)
		if (*at)
			strcat(strcat(all, at), " ");
	return all;
}

static void files_are_looked_for_where_the_user_says(void **state)
{
	(void)state;
	assert_string_equal(candidates("/a/b.c", "/w"), "/a/b.c ");
	assert_string_equal(candidates("a/b.c", "/w/"), "/w/a/b.c ");
	assert_string_equal(candidates("a/b.c", NULL), "");
	assert_false(source_path_add(""));
	assert_false(source_path_add("=x"));
	assert_false(source_path_add("x="));
	assert_true(source_path_add("/build/x=/home/me/"));
	assert_string_equal(candidates("/build/x/a.c", NULL), "/home/me/a.c /build/x/a.c ");
	assert_string_equal(candidates("/build/xy/a.c", NULL), "/build/xy/a.c ");
	assert_true(source_path_add("/src/"));
	assert_string_equal(candidates("../csu/start.c", NULL), "/src/csu/start.c /src/start.c ");
	assert_string_equal(candidates("/build/x/y/a.c", NULL),
			    "/home/me/y/a.c /src/build/x/y/a.c /src/x/y/a.c /src/y/a.c /src/a.c /build/x/y/a.c ");
	for (int i = 2; i < SOURCE_PATHS_MAX; i++)
		assert_true(source_path_add("/more"));
	assert_false(source_path_add("/more"));
}

static void long_paths_are_none(void **state)
{
	char path[PATH_MAX + 200];

	(void)state;
	memset(path, 'x', sizeof(path) - 1);
	path[sizeof(path) - 1] = 0;
	assert_string_equal(candidates(path, "/w"), "");
	path[0] = '/';
	assert_string_equal(candidates(path, "/w"), "");
}

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[100];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines_are_without_their_ends),
		cmocka_unit_test(only_text_of_languages_is_read),
		cmocka_unit_test(what_is_no_file_or_large_is_not_read),
		cmocka_unit_test(files_are_looked_for_where_the_user_says),
		cmocka_unit_test(long_paths_are_none),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
