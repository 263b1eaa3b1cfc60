/* SPDX-License-Identifier: MIT */
/* output_file.c: an output is whole or not there, and what stands at its path is not followed, waited for, or lost. */
#include "tests/unit/unit.h"

#include "jitreg/output/output_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/wait.h>

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
	chmod(folder, 0700);
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

static const struct output_form form = { "a test", "MARK", 4, 0, 0 }, far_form = { "a far test", "MARK", 4, 0, 64 };

/* In a sentence that begins with the path. */
static void expect_refused(const char *path, int error, const char *why)
{
	struct output_file o = { .form = &form };
	struct diag d = { "" };

	assert_int_equal(output_file_open(&o, path, &d), -error);
	assert_memory_equal(d.text, path, strlen(path));
	assert_non_null(strstr(d.text, why));
}

static void expect_no_other_file(void)
{
	DIR *d = opendir(folder);
	struct dirent *e;

	assert_non_null(d);
	while ((e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && strcmp(e->d_name, "out") && strcmp(e->d_name, "other") &&
		    strcmp(e->d_name, "out.old"))
			fail_msg("%s is left", e->d_name);
	closedir(d);
}

/* Both ways: without a name, and with a hidden one. */
#define BOTH_WAYS(o) for (int way = 0; o = (struct output_file){ .form = &form, .is_named = way == 1 }, way < 2; way++)

static void new_files_are_their_users_alone(void **state)
{
	mode_t mask = umask(0);
	struct output_file o;
	struct diag d;
	struct stat st;

	(void)state;
	BOTH_WAYS(o) {
		assert_int_equal(output_file_open(&o, at, &d), 0);
		assert_int_equal(fstat(o.fd, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
		assert_true(fcntl(o.fd, F_GETFD) & FD_CLOEXEC);
		assert_int_equal(output_file_end(&o, &d), 0);
		assert_int_equal(stat(at, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
		unlink(at);
	}
	umask(mask);
}

static void a_file_is_there_whole_or_not_at_all(void **state)
{
	struct output_file o;
	struct diag d;

	(void)state;
	BOTH_WAYS(o) {
		assert_int_equal(output_file_open_stream(&o, at, &d), 0);
		fputs("MARK new", o.to);
		fflush(o.to);
		assert_int_equal(access(at, F_OK), -1);
		assert_int_equal(output_file_end(&o, &d), 0);
		expect_text(at, "MARK new");
		o.is_named = way == 1;
		assert_int_equal(output_file_open_stream(&o, at, &d), 0);
		fputs("half", o.to);
		fflush(o.to);
		output_file_drop(&o);
		expect_text(at, "MARK new");
		expect_no_other_file();
		unlink(at);
	}
}

static void what_is_left_by_a_killed_program_is_hidden(void **state)
{
	struct output_file o;
	struct diag d;
	int status;
	pid_t pid;

	(void)state;
	for (int i = 0; i < 4; i++) { /* SIGTERM and SIGKILL, without a name and with a hidden one; the fourth leaves that */
		const int signal_number = i % 2 ? SIGKILL : SIGTERM;

		pid = fork();
		if (pid == 0) {
			o = (struct output_file){ .is_named = i > 1 };
			signal(SIGTERM, SIG_DFL);
			if (output_file_open_stream(&o, at, &d) || fputs("half", o.to) < 0 || fflush(o.to))
				_exit(1);
			kill(getpid(), signal_number);
			_exit(1);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFSIGNALED(status) && WTERMSIG(status) == signal_number);
		assert_int_equal(access(at, F_OK), -1);
		if (i < 3)
			expect_no_other_file();
	}
	snprintf(other, sizeof(other), "rm -f %s/.tailor-*.part", folder);
	assert_int_equal(system(other), 0);
	snprintf(other, sizeof(other), "%s/other", folder);
}

static void who_has_the_old_file_open_keeps_it(void **state)
{
	struct output_file o;
	struct diag d;
	struct stat st;
	int old;

	(void)state;
	BOTH_WAYS(o) {
		put(at, "MARK old");
		assert_int_equal(chmod(at, 0644), 0);
		assert_int_equal(link(at, other), 0);
		old = open(at, O_RDONLY);
		assert_int_equal(output_file_open(&o, at, &d), 0);
		assert_int_equal(write(o.fd, "new", 3), 3);
		expect_text(at, "MARK old");
		assert_int_equal(output_file_end(&o, &d), 0);
		assert_int_equal(fstat(old, &st), 0);
		assert_int_equal(st.st_size, 8);
		expect_text(other, "MARK old");
		assert_int_equal(stat(at, &st), 0);
		assert_int_equal(st.st_mode & 07777, 0600);
		expect_text(at, "new");
		expect_no_other_file();
		close(old);
		unlink(at);
		unlink(other);
	}
}

static void files_that_are_not_ours_are_refused(void **state)
{
	struct output_file o = { .form = &form, .overwrite = true };
	struct diag d;

	(void)state;
	put(at, "precious");
	expect_refused(at, EEXIST, "not a test of tailor; give another name, or --overwrite");
	expect_text(at, "precious");
	assert_int_equal(output_file_check(at, &form, NULL), -EEXIST);
	put(at, "no MARK");
	expect_refused(at, EEXIST, "not a test of tailor");
	assert_int_equal(output_file_check(at, &far_form, NULL), 0);
	assert_int_equal(output_file_check(at, NULL, &d), -EEXIST);
	assert_non_null(strstr(d.text, "this file exists; give another name, or --overwrite"));
	assert_int_equal(output_file_open(&o, at, &d), 0);
	assert_int_equal(output_file_end(&o, &d), 0);
	expect_text(at, "");
	assert_int_equal(output_file_check(at, NULL, &d), 0); /* an empty one */
	put(at, "MARK");
	assert_int_equal(chmod(at, 0400), 0);
	expect_refused(at, EACCES, "read-only");
}

static void of_two_writers_the_second_is_told(void **state)
{
	struct output_file o, second;
	struct diag d;

	(void)state;
	for (int existed = 0; existed < 2; existed++)
		BOTH_WAYS(o) {
			second = (struct output_file){ .form = &form, .overwrite = true };
			if (existed)
				put(at, "MARK before");
			assert_int_equal(output_file_open_stream(&o, at, &d), 0);
			assert_int_equal(output_file_open_stream(&second, at, &d), 0);
			fputs("MARK first", second.to);
			assert_int_equal(output_file_end(&second, &d), 0);
			fputs("MARK second", o.to);
			assert_int_equal(output_file_end(&o, &d), -EEXIST);
			assert_non_null(strstr(d.text, "another program has written this file meanwhile"));
			expect_text(at, "MARK first");
			expect_no_other_file();
			unlink(at);
		}
}

static void a_file_that_is_recorded_into_is_refused(void **state)
{
	struct output_file o = { .form = &form }, second = { .form = &form, .overwrite = true };
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	struct diag d;
	int status;
	pid_t pid;

	(void)state;
	put(at, "MARK old");
	assert_int_equal(output_file_open(&o, at, &d), 0);
	assert_int_equal(fcntl(o.fd, F_SETLK, &lock), 0);
	assert_int_equal(output_file_take_name(&o, &d), 0);
	assert_int_equal(access(at, F_OK), 0);
	assert_int_equal(write(o.fd, "MARK", 4), 4);
	pid = fork(); /* a lock is its process's, and is lost where that closes the file once */
	if (pid == 0)
		_exit(output_file_open(&second, at, &d) == -EBUSY && strstr(d.text, "records into it; give another name") ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(output_file_has_name(&o, &d), 0);
	put(other, "MARK");
	assert_int_equal(rename(other, at), 0);
	assert_int_equal(output_file_has_name(&o, &d), -ESTALE);
	output_file_drop(&o);
	expect_text(at, "MARK");
}

static void the_old_one_is_kept_and_put_back(void **state)
{
	struct output_file o = { .form = &form, .keep_old = true };
	struct diag d;
	char old[128];

	(void)state;
	snprintf(old, sizeof(old), "%s.old", at);
	put(at, "MARK old");
	put(old, "MARK older");
	assert_int_equal(output_file_open(&o, at, &d), 0);
	assert_int_equal(output_file_take_name(&o, &d), 0);
	expect_text(at, "");
	expect_text(old, "MARK old");
	output_file_drop(&o);
	expect_text(at, "MARK old");
	assert_int_equal(access(old, F_OK), -1);
	put(old, "precious");
	assert_int_equal(output_file_open(&o, at, &d), -EEXIST);
	assert_memory_equal(d.text, old, strlen(old));
	expect_text(at, "MARK old");
	expect_text(old, "precious");
	unlink(old);
}

static void a_failed_write_says_why_and_leaves_nothing(void **state)
{
	struct rlimit before, limit;
	struct output_file o = { .form = &form };
	struct diag d = { "" };

	(void)state;
	assert_int_equal(output_file_open_stream(&o, "/dev/full", &d), 0);
	fputs("text", o.to);
	assert_int_equal(output_file_end(&o, &d), -ENOSPC);
	assert_string_equal(d.text, "/dev/full: cannot be written: No space left on device");
	getrlimit(RLIMIT_FSIZE, &before);
	limit = (struct rlimit){ 1000, before.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	put(at, "MARK old");
	assert_int_equal(output_file_open_stream(&o, at, &d), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	for (int i = 0; i < 10000; i++)
		fputs("a long text of many lines\n", o.to);
	assert_int_equal(output_file_end(&o, &d), -EFBIG);
	setrlimit(RLIMIT_FSIZE, &before);
	assert_non_null(strstr(d.text, strerror(EFBIG)));
	expect_text(at, "MARK old");
	expect_no_other_file();
}

static void a_read_only_folder_is_told_apart(void **state)
{
	struct output_file o = { .form = &form };
	struct diag d;
	int status = 1;
	pid_t pid;

	(void)state;
	put(at, "MARK");
	assert_int_equal(chmod(at, 0666), 0);
	assert_int_equal(chmod(folder, 0555), 0);
	pid = fork();
	if (pid == 0) { /* root may write everywhere */
		if (geteuid() == 0 && (setgid(SOMEBODY) || setuid(SOMEBODY)))
			_exit(2);
		_exit(output_file_open(&o, at, &d) == -EACCES && strstr(d.text, "its folder is read-only") ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	chmod(folder, 0700);
	assert_int_equal(status, 0);
	expect_text(at, "MARK");
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
	assert_int_equal(output_file_open_stream(&(struct output_file){ 0 }, at, NULL), -ENXIO);
	alarm(0);
}

static void a_fifo_with_a_reader_is_written_to(void **state)
{
	char got[8] = "";
	struct output_file o = { .form = &form };
	struct diag d;
	int reader;

	(void)state;
	assert_int_equal(mkfifo(at, 0600), 0);
	reader = open(at, O_RDONLY | O_NONBLOCK);
	assert_int_equal(output_file_open(&o, at, &d), 0);
	assert_true(fcntl(o.fd, F_GETFL) & O_NONBLOCK);
	assert_int_equal(write(o.fd, "abc", 3), 3);
	assert_int_equal(read(reader, got, sizeof(got)), 3);
	assert_int_equal(output_file_end(&o, &d), 0);
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
	assert_int_equal(output_file_check(at, NULL, NULL), -EISDIR);
	rmdir(at);
	if (geteuid() == 0 && mknod(at, S_IFBLK | 0600, makedev(7, 0)) == 0)
		expect_refused(at, EPERM, "neither a file nor a FIFO");
}

static void roots_devices_are_written_to(void **state)
{
	struct output_file o = { .form = &form };
	struct diag d;

	(void)state;
	assert_int_equal(output_file_open(&o, "/dev/null", &d), 0);
	assert_int_equal(output_file_end(&o, &d), 0);
}

static void streams_may_be_our_own_descriptors(void **state)
{
	struct output_file o = { 0 };
	char name[32];
	struct diag d = { "" };
	int fd = open(at, O_WRONLY | O_CREAT, 0600), ends[2];

	(void)state;
	snprintf(name, sizeof(name), "/dev/fd/%d", fd);
	assert_int_equal(output_file_open_stream(&o, name, &d), 0);
	fputs("text", o.to);
	assert_int_equal(output_file_end(&o, &d), 0);
	assert_int_equal(output_file_open(&o, name, &d), -EPERM); /* a trace cuts its file back, which may have more in it */
	close(fd);
	expect_text(at, "text");
	assert_int_equal(output_file_open_stream(&o, name, &d), -EBADF);
	assert_memory_equal(d.text, name, strlen(name));
	assert_int_equal(pipe(ends), 0);
	snprintf(name, sizeof(name), "/dev/fd/%d", ends[1]);
	assert_int_equal(output_file_open(&o, name, &d), 0);
	assert_true(fcntl(o.fd, F_GETFL) & O_NONBLOCK);
	assert_false(fcntl(ends[1], F_GETFL) & O_NONBLOCK);
	output_file_drop(&o);
	close(ends[0]);
	close(ends[1]);
}

static void files_that_fail_say_why(void **state)
{
	char path[128];

	(void)state;
	snprintf(path, sizeof(path), "%s/none/out", folder);
	expect_refused(path, ENOENT, strerror(ENOENT));
	assert_int_equal(output_file_check(path, NULL, NULL), -ENOENT);
	assert_int_equal(output_file_check(at, NULL, NULL), 0);
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
		CASE(a_file_is_there_whole_or_not_at_all),
		CASE(what_is_left_by_a_killed_program_is_hidden),
		CASE(who_has_the_old_file_open_keeps_it),
		CASE(files_that_are_not_ours_are_refused),
		CASE(of_two_writers_the_second_is_told),
		CASE(a_file_that_is_recorded_into_is_refused),
		CASE(the_old_one_is_kept_and_put_back),
		CASE(a_failed_write_says_why_and_leaves_nothing),
		CASE(a_read_only_folder_is_told_apart),
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
