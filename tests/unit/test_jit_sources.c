/* SPDX-License-Identifier: MIT */
/* jit_sources.c on ourselves, who offer the GDB JIT interface, and on files. */
#include "agent/recorder/doctor/jit_sources.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/unit.h"

struct seen {
	int nr;
	char text[32][256];
};

static void on_channel(void *context, const struct jit_source *c)
{
	struct seen *s = context;

	assert_true(s->nr < 32 && c->name && c->object && c->says);
	snprintf(s->text[s->nr++], sizeof(s->text[0]), "%s|%d", c->name, c->in_use);
}

static bool has(const struct seen *s, const char *text)
{
	for (int i = 0; i < s->nr; i++)
		if (strcmp(s->text[i], text) == 0)
			return true;
	return false;
}

static void what_a_process_uses_is_found(void **state)
{
	struct seen s = { 0 };
	char path[64];
	int fd, nr;
	void *code;

	(void)state;
	snprintf(path, sizeof(path), "/tmp/perf-%d.map", getpid());
	unlink(path);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(utimes(path, (struct timeval[2]){ { 1, 0 }, { 1, 0 } }), 0); /* a process's before us that had our number */
	assert_true(jit_sources_of_process(getpid(), on_channel, &s) >= 0);
	assert_false(has(&s, "perf map|1"));
	assert_false(has(&s, "executable memory|1"));
	fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	assert_true(fd >= 0);
	close(fd);
	code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(code != MAP_FAILED);
	memset(&s, 0, sizeof(s));
	nr = jit_sources_of_process(getpid(), on_channel, &s);
	assert_int_equal(nr, s.nr);
	assert_true(has(&s, "perf map|1"));
	assert_true(has(&s, "executable memory|1"));
	munmap(code, 4096);
	unlink(path);
}

/* This program has the words of all hosts in it; it is started anew, as one with a JIT, with PHP's option and without. */
static void an_option_of_the_host_is_its_interface_in_use(void **state)
{
	const char *const options[] = { "memory_limit=1G", "opcache.jit_debug=0x100" };

	(void)state;
	for (int given = 0; given < 2; given++) {
		struct seen s = { 0 };
		int begun[2];
		pid_t pid;
		char byte;

		assert_int_equal(pipe(begun), 0);
		pid = fork();
		if (pid == 0) {
			dup2(begun[1], STDOUT_FILENO);
			execl("/proc/self/exe", "php", "-d", options[given], NULL);
			_exit(1);
		}
		close(begun[1]);
		assert_int_equal(read(begun[0], &byte, 1), 1);
		jit_sources_of_process(pid, on_channel, &s);
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		close(begun[0]);
		assert_true(has(&s, given ? "opcache.jit_debug|1" : "opcache.jit_debug|0"));
	}
}

static void what_a_program_names_is_found(void **state)
{
	static const char names[] = "\177ELF\0some\0luaJIT_setmode\0libLLVM-14.so.1\0mono_profiler_set_jit_done_callback_too\0";
	char path[] = "/tmp/tailor-channels-XXXXXX";
	struct seen s = { 0 };
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0 && write(fd, names, sizeof(names)) == sizeof(names));
	close(fd);
	assert_int_equal(jit_sources_of_program(path, on_channel, &s), 2);
	assert_true(has(&s, "jit.attach|0") && has(&s, "GDB JIT interface|0"));
	unlink(path);
}

static void what_is_not_there_is_an_error(void **state)
{
	struct seen s = { 0 };

	(void)state;
	assert_int_equal(jit_sources_of_program("/nowhere/at/all", on_channel, &s), -ENOENT);
	assert_int_equal(jit_sources_of_program("/tmp", on_channel, &s), -ENOEXEC);
	assert_true(jit_sources_of_process(0x7ffffff0, on_channel, &s) < 0);
	assert_int_equal(s.nr, 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_process_uses_is_found),
		cmocka_unit_test(an_option_of_the_host_is_its_interface_in_use),
		cmocka_unit_test(what_a_program_names_is_found),
		cmocka_unit_test(what_is_not_there_is_an_error),
	};

	if (argc > 1 && strcmp(argv[1], "-d") == 0) { /* the program of one of them */
		alarm(60);
		if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED &&
		    write(STDOUT_FILENO, "b", 1) == 1)
			pause();
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
