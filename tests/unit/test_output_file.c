/* SPDX-License-Identifier: MIT */
/* output_file.c: what may stand at a path already, and that it is not followed, waited for or written to. */
#include "tests/unit/unit.h"

#include "jitreg/base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>

#define SOMEBODY 12345 /* any user but root */

static char folder[64], at[96], other[96];

static int setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/test_output_file.XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(at, sizeof(at), "%s/out", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rmdir(at);
	unlink(at);
	unlink(other);
	return rmdir(folder);
}

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void expect_text(const char *path, const char *text)
{
	char got[32] = "";
	FILE *f = fopen(path, "r");

	assert_non_null(f);
	if (!fgets(got, sizeof(got), f))
		got[0] = 0;
	fclose(f);
	assert_string_equal(got, text);
}

/* In a sentence that begins with the path. */
static void expect_refused(const char *path, int error, const char *why)
{
	struct diag d = { "" };

	assert_int_equal(output_file_open(path, &d), -error);
	assert_memory_equal(d.text, path, strlen(path));
	assert_non_null(strstr(d.text, why));
}

static void new_files_are_their_users_alone(void **state)
{
	mode_t mask = umask(0);
	struct diag d;
	struct stat st;
	int fd = output_file_open(at, &d);

	(void)state;
	umask(mask);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	close(fd);
}

static void who_has_the_old_file_open_keeps_it(void **state)
{
	struct diag d;
	struct stat st;
	int fd, old;

	(void)state;
	put(at, "old");
	assert_int_equal(chmod(at, 0644), 0);
	old = open(at, O_RDONLY);
	fd = output_file_open(at, &d);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, "new", 3), 3);
	assert_int_equal(fstat(old, &st), 0);
	assert_int_equal(st.st_size, 3);
	assert_int_equal(st.st_nlink, 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	close(old);
	close(fd);
	expect_text(at, "new");
}

static void links_are_not_followed(void **state)
{
	(void)state;
	put(other, "precious");
	assert_int_equal(symlink(other, at), 0);
	expect_refused(at, ELOOP, "symbolic link");
	expect_text(other, "precious");
	unlink(other);
	expect_refused(at, ELOOP, "symbolic link");
	assert_int_equal(access(other, F_OK), -1);
}

static void a_fifo_without_a_reader_is_not_waited_for(void **state)
{
	(void)state;
	assert_int_equal(mkfifo(at, 0600), 0);
	alarm(60);
	expect_refused(at, ENXIO, "no program reads from it");
	assert_null(output_file_stream(at, NULL));
	alarm(0);
}

static void a_fifo_with_a_reader_is_written_to(void **state)
{
	char got[8] = "";
	struct diag d;
	int reader, fd;

	(void)state;
	assert_int_equal(mkfifo(at, 0600), 0);
	reader = open(at, O_RDONLY | O_NONBLOCK);
	fd = output_file_open(at, &d);
	assert_true(fd >= 0);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_int_equal(write(fd, "abc", 3), 3);
	assert_int_equal(read(reader, got, sizeof(got)), 3);
	close(fd);
	close(reader);
}

static void special_files_of_others_are_refused(void **state)
{
	int reader;

	(void)state;
	if (geteuid() != 0)
		skip(); /* only root can make one */
	assert_int_equal(mkfifo(at, 0666), 0);
	assert_int_equal(chown(at, SOMEBODY, (gid_t)-1), 0);
	reader = open(at, O_RDONLY | O_NONBLOCK);
	expect_refused(at, EPERM, "another user");
	close(reader);
	unlink(at);
	if (mknod(at, S_IFCHR | 0666, makedev(1, 3)) || chown(at, SOMEBODY, (gid_t)-1))
		return; /* not in a container */
	expect_refused(at, EPERM, "another user");
}

static void what_is_no_file_is_refused(void **state)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	(void)state;
	snprintf(name.sun_path, sizeof(name.sun_path), "%s", at);
	assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	expect_refused(at, EPERM, "neither a file nor a FIFO");
	close(fd);
	unlink(at);
	assert_int_equal(mkdir(at, 0700), 0);
	expect_refused(at, EISDIR, "Is a directory");
	assert_int_equal(output_file_check(at, NULL), -EISDIR);
	rmdir(at);
	if (geteuid() == 0 && mknod(at, S_IFBLK | 0600, makedev(7, 0)) == 0)
		expect_refused(at, EPERM, "neither a file nor a FIFO");
}

static void roots_devices_are_written_to(void **state)
{
	struct diag d;
	int fd = output_file_open("/dev/null", &d);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
}

static void streams_may_be_our_own_descriptors(void **state)
{
	char name[32];
	struct diag d = { "" };
	int fd = open(at, O_WRONLY | O_CREAT, 0600);
	FILE *f;

	(void)state;
	snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	f = output_file_stream(name, &d);
	assert_non_null(f);
	fputs("text", f);
	fclose(f);
	close(fd);
	expect_text(at, "text");
	assert_null(output_file_stream(name, &d));
	assert_memory_equal(d.text, name, strlen(name));
}

static void files_that_fail_say_why(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/none/out", folder);
	expect_refused(path, ENOENT, strerror(ENOENT));
	assert_int_equal(output_file_check(path, NULL), -ENOENT);
	assert_int_equal(output_file_check(at, NULL), 0);
	assert_int_equal(access(at, F_OK), -1);
}

static void only_files_are_removed(void **state)
{
	(void)state;
	put(at, "x");
	output_file_remove(at);
	assert_int_equal(access(at, F_OK), -1);
	assert_int_equal(mkfifo(at, 0600), 0);
	output_file_remove(at);
	assert_int_equal(access(at, F_OK), 0);
	put(other, "y");
	unlink(at);
	assert_int_equal(symlink(other, at), 0);
	output_file_remove(at);
	expect_text(at, "y");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(new_files_are_their_users_alone),
		CASE(who_has_the_old_file_open_keeps_it),
		CASE(links_are_not_followed),
		CASE(a_fifo_without_a_reader_is_not_waited_for),
		CASE(a_fifo_with_a_reader_is_written_to),
		CASE(special_files_of_others_are_refused),
		CASE(what_is_no_file_is_refused),
		CASE(roots_devices_are_written_to),
		CASE(streams_may_be_our_own_descriptors),
		CASE(files_that_fail_say_why),
		CASE(only_files_are_removed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
