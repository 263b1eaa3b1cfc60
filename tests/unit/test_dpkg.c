/* SPDX-License-Identifier: MIT */
/* Packages by dpkg's lists, of a folder that the test writes. */
#include "jitreg/base/dpkg.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char folder[] = "/tmp/tailor-dpkg-XXXXXX";

static void write_list(const char *name, const char *text)
{
	char path[200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static const char *package_of(const char *path)
{
	static struct dpkg_file f;

	f.path = path;
	dpkg_find_packages(folder, &f, 1);
	return f.package;
}

static void a_file_has_the_package_that_lists_it(void **state)
{
	struct dpkg_file both[] = { { "/usr/bin/git", "" }, { "/bin/sh", "" }, { "/nowhere", "" } };

	(void)state;
	assert_string_equal(package_of("/usr/bin/git"), "git");
	assert_string_equal(package_of("/usr/lib/libc.so.6"), "libc6"); /* merged /usr: its list has the path without it */
	assert_string_equal(package_of("/lib/libc.so.6"), "libc6");
	assert_string_equal(package_of("/bin/python3.11"), "python3.11-minimal");
	assert_string_equal(package_of("/usr/bin"), "git");
	assert_string_equal(package_of("/usr/bin/gi"), "");
	assert_string_equal(package_of("usr/bin/git"), "");
	assert_string_equal(package_of(""), "");
	dpkg_find_packages(folder, both, 3);
	assert_string_equal(both[0].package, "git");
	assert_string_equal(both[1].package, "dash");
	assert_string_equal(both[2].package, "");
}

static void what_is_no_list_is_not_read(void **state)
{
	char path[200];

	(void)state;
	write_list("evil; rm -rf.list", "/evil/a\n");
	write_list("git.conffiles", "/evil/b\n");
	write_list(".list", "/evil/c\n");
	write_list("empty.list", "");
	snprintf(path, sizeof(path), "%s/fifo.list", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	assert_string_equal(package_of("/evil/a"), "");
	assert_string_equal(package_of("/evil/b"), "");
	assert_string_equal(package_of("/evil/c"), "");
	dpkg_find_packages("/nowhere", &(struct dpkg_file){ "/usr/bin/git", "" }, 1);
}

static void expect(const char *package, const char *debug)
{
	char name[DPKG_NAME_BYTES];

	dpkg_debug_package(package, name);
	assert_string_equal(name, debug);
}

static void symbols_have_a_package_of_their_own(void **state)
{
	char longest[DPKG_NAME_BYTES] = "", name[DPKG_NAME_BYTES];

	(void)state;
	expect("libc6", "libc6-dbg");
	expect("python3.11-minimal", "python3.11-dbg");
	expect("libpython3.12-stdlib", "python3.12-dbg");
	expect("openjdk-17-jre-headless", "openjdk-17-dbg");
	expect("git", "git-dbgsym");
	expect("cpp-12", "cpp-12-dbgsym");
	expect("python3-apt", "python3-apt-dbgsym");
	memset(longest, 'x', sizeof(longest) - 1);
	dpkg_debug_package(longest, name);
	assert_int_equal(strlen(name), sizeof(name) - 1);
}

static int begin(void **state)
{
	(void)state;
	if (!mkdtemp(folder))
		return -1;
	write_list("git.list", "/.\n/usr\n/usr/bin\n/usr/bin/git\n/usr/bin/git-shell\n");
	write_list("libc6:amd64.list", "/.\n/lib\n/lib/libc.so.6\n");
	write_list("python3.11-minimal.list", "/usr/bin/python3.11");
	write_list("dash.list", "/bin/sh\n");
	return 0;
}

static int end(void **state)
{
	char command[200];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_file_has_the_package_that_lists_it),
		cmocka_unit_test(what_is_no_list_is_not_read),
		cmocka_unit_test(symbols_have_a_package_of_their_own),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
