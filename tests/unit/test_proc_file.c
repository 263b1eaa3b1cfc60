/* SPDX-License-Identifier: MIT */
/* What /proc says of this process and of children that were made for it. */
#include "agent/recorder/process/proc_file.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* A child with a hostile name that waits, or has ended and is not waited for. */
static pid_t make_child(bool ended)
{
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, ") Z 1 (\nX");
		if (ended)
			_exit(0);
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	if (ended) {
		siginfo_t info;

		waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	} else {
		assert_int_equal(read(ready[0], &c, 1), 1);
	}
	close(ready[0]);
	return pid;
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void a_name_does_not_pass_for_what_stands_behind_it(void **state)
{
	pid_t pid = make_child(false);
	struct proc_stat s, own;

	(void)state;
	assert_true(proc_stat(pid, 0, &s));
	assert_true(s.state == 'S' || s.state == 'R'); /* on its way into pause() */
	assert_int_equal(s.parent, getpid());
	assert_true(proc_stat(getpid(), getpid(), &own));
	assert_int_equal(own.parent, getppid());
	assert_true(own.start_ticks <= s.start_ticks);
	end_child(pid);
	assert_false(proc_stat(pid, 0, &s));
}

static void ended_processes_have_no_memory(void **state)
{
	pid_t pid = make_child(true);
	struct proc_status s;
	struct proc_stat t;

	(void)state;
	assert_true(proc_stat(pid, 0, &t));
	assert_int_equal(t.state, 'Z');
	assert_int_equal(proc_status(pid, 0, &s), 0);
	assert_int_equal(s.state, 'Z');
	assert_false(s.has_memory);
	end_child(pid);
	assert_int_equal(proc_status(pid, 0, &s), -ESRCH);
}

static void status_says_who_and_what_waits(void **state)
{
	struct proc_status s;
	sigset_t usr1, before;

	(void)state;
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	sigprocmask(SIG_BLOCK, &usr1, &before);
	assert_int_equal(proc_status(getpid(), 0, &s), 0);
	assert_int_equal(s.process, getpid());
	assert_int_equal(s.parent, getppid());
	assert_int_equal(s.user, getuid());
	assert_int_equal(s.effective_user, geteuid());
	assert_true(s.has_memory);
	assert_int_equal(s.pending_signals & 1ull << (SIGUSR1 - 1), 0);
	raise(SIGUSR1);
	assert_int_equal(proc_status(getpid(), getpid(), &s), 0);
	assert_true(s.pending_signals & 1ull << (SIGUSR1 - 1));
	sigtimedwait(&usr1, NULL, &(struct timespec){ 0, 0 });
	sigprocmask(SIG_SETMASK, &before, NULL);
}

struct wanted {
	uint64_t start, end;
	uint32_t prot;
	bool has_path;
};

static int is_it(void *context, const struct proc_mapping *m)
{
	struct wanted *w = context;

	if (w->start < m->start || w->start >= m->end)
		return 0;
	w->end = m->end;
	w->prot = m->prot;
	w->has_path = *m->path;
	return 7;
}

static void mappings_are_found_and_a_callback_ends_it(void **state)
{
	void *p = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct wanted w;

	(void)state;
	assert_int_equal(mprotect((char *)p + 4096, 4096, PROT_READ | PROT_EXEC), 0);
	w = (struct wanted){ .start = (uintptr_t)p + 4096 };
	assert_int_equal(proc_each_mapping(getpid(), is_it, &w), 7);
	assert_int_equal(w.prot, PROT_READ | PROT_EXEC);
	assert_int_equal(w.end, (uintptr_t)p + 2 * 4096);
	assert_false(w.has_path);
	w = (struct wanted){ .start = (uintptr_t)make_child };
	assert_int_equal(proc_each_mapping(getpid(), is_it, &w), 7);
	assert_true(w.has_path);
	munmap(p, 3 * 4096);
	w = (struct wanted){ .start = (uintptr_t)p };
	assert_int_equal(proc_each_mapping(getpid(), is_it, &w), 0);
	assert_int_equal(proc_each_mapping(-1, is_it, &w), -ENOENT);
}

static int sum(void *context, pid_t number)
{
	*(long *)context += number;
	return 0;
}

static void numbers_are_names_in_a_folder(void **state)
{
	char path[] = "/tmp/test_proc_file.XXXXXX", file[64];
	static const char *const names[] = { "12", "345", "self", "0", "-7" };
	long total = 0;

	(void)state;
	assert_non_null(mkdtemp(path));
	for (int i = 0; i < 5; i++) {
		snprintf(file, sizeof(file), "%s/%s", path, names[i]);
		fclose(fopen(file, "w"));
	}
	assert_int_equal(proc_each_numbered_entry(path, sum, &total), 0);
	assert_int_equal(total, 12 + 345);
	for (int i = 0; i < 5; i++) {
		snprintf(file, sizeof(file), "%s/%s", path, names[i]);
		unlink(file);
	}
	rmdir(path);
	assert_int_equal(proc_each_numbered_entry(path, sum, &total), -ENOENT);
}

static void values_and_numbers_of_files(void **state)
{
	char path[] = "/tmp/test_proc_file.XXXXXX", value[8];
	FILE *f = fdopen(mkstemp(path), "w");
	long long number = 5;

	(void)state;
	fputs("41\nmodel name\t: Thing\nmodel name\t: Other\nempty:\n", f);
	fclose(f);
	assert_true(proc_read_number(path, &number));
	assert_int_equal(number, 41);
	proc_read_value(path, "model name", value, sizeof(value));
	assert_string_equal(value, "Thing");
	proc_read_value(path, "model", value, 4);
	assert_string_equal(value, "nam");
	proc_read_value(path, "empty", value, sizeof(value));
	assert_string_equal(value, "");
	unlink(path);
	assert_false(proc_read_number(path, &number));
	assert_int_equal(number, 41);
	proc_read_value(path, "model name", value, sizeof(value));
	assert_string_equal(value, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_name_does_not_pass_for_what_stands_behind_it),
		cmocka_unit_test(ended_processes_have_no_memory),
		cmocka_unit_test(status_says_who_and_what_waits),
		cmocka_unit_test(mappings_are_found_and_a_callback_ends_it),
		cmocka_unit_test(numbers_are_names_in_a_folder),
		cmocka_unit_test(values_and_numbers_of_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
