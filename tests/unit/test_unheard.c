/* SPDX-License-Identifier: MIT */
/* Which program of a process it was that said hello, where the hello is read when that process has executed the next one already. */
#include "agent/recorder/session/internal.h"
#include "tests/unit/unit.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* A process that has the agent mapped, or not, until it is killed. */
static pid_t start(bool has_agent)
{
	char path[] = "/tmp/test_unheard.XXXXXX", library[64];
	int ready[2];
	pid_t pid;
	char c;

	assert_non_null(mkdtemp(path));
	snprintf(library, sizeof(library), "%s/libtailor.so", path);
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		FILE *f = has_agent ? fopen(library, "w+") : NULL;

		if (has_agent && (!f || fputs("agent", f) < 0 || fflush(f) ||
				  mmap(NULL, 5, PROT_READ, MAP_PRIVATE, fileno(f), 0) == MAP_FAILED))
			_exit(1);
		if (write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	unlink(library);
	rmdir(path);
	return pid;
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void executes(struct session *s, pid_t pid, const char *name, uint64_t time_ns)
{
	struct kernel_comm c = { .pid = (uint32_t)pid, .tid = (uint32_t)pid, .exec = true, .name = name, .bytes = strlen(name) };

	session_unheard_note_exec(s, &c, time_ns);
}

static void check_left(const struct session *s, const char *name)
{
	assert_int_equal(s->unheard.nr, 1);
	assert_string_equal(s->unheard.program[0].comm, name);
}

static struct session *begin(pid_t pid)
{
	struct session *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	s->options.preloads = true;
	executes(s, pid, "first", 1000);
	executes(s, pid, "second", 2000);
	assert_int_equal(s->unheard.nr, 2);
	return s;
}

static void a_late_hello_is_of_the_program_that_had_the_agent(void **state)
{
	pid_t pid = start(false);
	struct session *s = begin(pid);

	(void)state;
	session_unheard_note_hello(s, (uint32_t)pid);
	check_left(s, "second");
	end(pid);
	free(s);
}

static void a_hello_in_time_is_of_the_last_program(void **state)
{
	pid_t pid = start(true);
	struct session *s = begin(pid);

	(void)state;
	session_unheard_note_hello(s, (uint32_t)pid);
	check_left(s, "first");
	session_unheard_note_hello(s, (uint32_t)pid); /* and the other's, which was read late */
	assert_int_equal(s->unheard.nr, 0);
	end(pid);
	free(s);
}

static void a_late_hello_of_a_process_that_is_gone(void **state)
{
	pid_t pid = start(false);
	struct session *s = begin(pid);

	(void)state;
	end(pid);
	session_unheard_note_exit(s, (uint32_t)pid, 1000);
	session_unheard_note_hello(s, (uint32_t)pid);
	check_left(s, "second");
	free(s);
}

/* Each name once, also one that is a part of another's. */
static void names_that_are_parts_of_others_are_listed(void **state)
{
	static const char *const programs[] = { "gcc", "cc", "gcc", "c", "cc" };
	struct session *s = calloc(1, sizeof(*s));

	(void)state;
	s->options.preloads = true;
	for (uint32_t i = 0; i < 5; i++) {
		pid_t pid = start(false);

		executes(s, pid, programs[i], 1000);
		end(pid);
		session_unheard_note_exit(s, (uint32_t)pid, 1000);
	}
	for (int i = 0; i < 10; i++)
		session_unheard_find_reasons(s);
	assert_int_equal(s->unheard.nr, 0);
	for (int i = 0; i < NR_UNHEARD; i++)
		if (s->unheard.of_reason[i]) {
			assert_int_equal(s->unheard.of_reason[i], 5);
			assert_true(strspn(s->unheard.names[i], "gc, ") == strlen("gcc, cc, c"));
		}
	free(s);
}

/* The kernel reports the end of a process's first thread also when another of its threads executes a program, which is counted on. */
static void a_process_with_later_samples_is_counted(void **state)
{
	struct session *s = calloc(1, sizeof(*s));
	pid_t pid[2] = { start(false), start(false) };

	(void)state;
	for (uint32_t i = 0; i < 2; i++) {
		session_unheard_note_exit(s, (uint32_t)pid[i], 1000000000);
		/* The process's program gives no privileges, so the kernel has not ended its counters. */
		assert_int_equal(s->unheard.nr_uncounted, i);
		s->unheard.uncounted[i] = (struct uncounted_process){ (uint32_t)pid[i], 1000000000, "planted" };
		s->unheard.nr_uncounted = i + 1;
	}
	session_unheard_note_sample(s, (uint32_t)pid[0], 999999999); /* samples of before are read late */
	session_unheard_note_sample(s, 1, 2000000000);
	assert_int_equal(s->unheard.nr_uncounted, 2);
	session_unheard_note_sample(s, (uint32_t)pid[0], 2000000000);
	assert_int_equal(s->unheard.nr_uncounted, 1);
	assert_int_equal(s->unheard.uncounted[0].pid, pid[1]);
	for (int i = 0; i < 2; i++)
		end(pid[i]);
	free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_late_hello_is_of_the_program_that_had_the_agent),
		cmocka_unit_test(a_process_with_later_samples_is_counted),
		cmocka_unit_test(a_hello_in_time_is_of_the_last_program),
		cmocka_unit_test(a_late_hello_of_a_process_that_is_gone),
		cmocka_unit_test(names_that_are_parts_of_others_are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
