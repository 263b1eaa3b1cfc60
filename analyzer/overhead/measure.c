/* SPDX-License-Identifier: MIT */
/*
 * Runs the program without recording, and by `tailor run` in a process of its own, as users do.  In both cases the run time is that from
 * the program's exec until the pidfd of its process becomes readable.
 */
#include "analyzer/overhead/overhead.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POLL_MS 200    /* time after which *stop is looked at again, because a signal may arrive just before poll() */
#define END_TIMEOUT_MS 2000 /* time between SIGTERM and SIGKILL */
#define WORDS_MAX 16

extern char **environ;

struct measurement {
	struct overhead *o;
	volatile int *stop;
	char trace[512], messages[512];
	struct diag *d;
};

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double cpu_seconds_of_usage(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) + (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1e-6;
}

/* Wait until fd is readable.  Returns 0, or -EINTR if *m->stop is set. */
static int wait_until_readable(const struct measurement *m, int fd)
{
	struct pollfd p = { fd, POLLIN, 0 };

	while (!*m->stop)
		if (poll(&p, 1, POLL_MS) > 0)
			return 0;
	return -EINTR;
}

/* Start a program. With o->show_output, its output goes to standard error. Otherwise its errors go to m->messages, and its standard output
 * to /dev/null. tell: a descriptor that it inherits, or -1. Returns its pid, or -errno. */
static pid_t spawn_program(const struct measurement *m, const char *path, char **argv, int tell)
{
	int out = m->o->show_output ? STDERR_FILENO : -1, ret;
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t signals;
	pid_t pid;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	if (out >= 0) {
		posix_spawn_file_actions_adddup2(&actions, out, 1);
	} else {
		posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
		posix_spawn_file_actions_addopen(&actions, 2, m->messages, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	}
	if (tell >= 0)
		posix_spawn_file_actions_adddup2(&actions, tell, tell); /* a descriptor that is duplicated to itself loses close-on-exec */
	posix_spawnattr_init(&attributes);
	sigemptyset(&signals);
	posix_spawnattr_setsigmask(&attributes, &signals);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	ret = posix_spawnp(&pid, path, &actions, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&actions);
	return ret ? -ret : pid;
}

/* End the processes of a run after Ctrl-C or a failure. They get END_TIMEOUT_MS to end after SIGTERM. child: the program or its recorder.
 * host: the program if child is its recorder, or 0. */
static void end_processes(pid_t child, pid_t host)
{
	int status;

	kill(child, SIGTERM);
	for (int ms = 0; ms < END_TIMEOUT_MS; ms += 10) {
		if (waitpid(child, &status, WNOHANG) != 0)
			return;
		usleep(10000);
	}
	if (host > 0)
		kill(host, SIGKILL);
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
}

/* Wait for the end of a process, and set r->wall_s to the time since begin_s.  Returns 0, or -errno (-EINTR if *m->stop is set). */
static int wait_for_end(const struct measurement *m, pid_t pid, double begin_s, struct overhead_run *r)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0), ret;

	if (fd < 0) /* with ESRCH, the recorder has already reaped the program, so that has ended */
		ret = errno == ESRCH ? 0 : -errno;
	else
		ret = wait_until_readable(m, fd);
	r->wall_s = now_s() - begin_s;
	if (fd >= 0)
		close(fd);
	return ret;
}

static int run_bare(struct measurement *m, struct overhead_run *r, int *status)
{
	struct rusage usage;
	pid_t pid = spawn_program(m, m->o->command[0], m->o->command, -1);
	int ret;

	if (pid < 0)
		return diag_fail(m->d, -pid, "%s: %s", m->o->command[0], pid == -ENOENT ? "no such command" : strerror(-pid));
	ret = wait_for_end(m, pid, now_s(), r);
	if (ret) {
		end_processes(pid, 0);
		return diag_fail(m->d, -ret, "interrupted");
	}
	while (wait4(pid, status, 0, &usage) < 0 && errno == EINTR)
		;
	r->cpu_s = cpu_seconds_of_usage(&usage);
	return 0;
}

/* Make the command line of `tailor run` in argv. options and number: memory for its words, to which argv points. Returns 0, or -E2BIG if
 * the words and a NULL are more than words_max, for which argv has room. */
static int make_command(const struct measurement *m, unsigned rate, enum capture c, int tell, char **argv, size_t words_max,
			char *options, size_t options_bytes, char number[2][24])
{
	size_t nr = 0;
	char *save;

	snprintf(options, options_bytes, "%s", capture_options(c));
	snprintf(number[0], 24, "%llu", (unsigned long long)m->o->rate[rate]);
	snprintf(number[1], 24, "%d", tell);
	argv[nr++] = (char *)(uintptr_t)"tailor";
	argv[nr++] = (char *)(uintptr_t)"run";
	argv[nr++] = (char *)(uintptr_t)"-q";
	if (c != CAPTURE_DORMANT) { /* with --dormant, no trace is written */
		argv[nr++] = (char *)(uintptr_t)"-o";
		argv[nr++] = (char *)(uintptr_t)m->trace;
	}
	argv[nr++] = (char *)(uintptr_t)"--rate";
	argv[nr++] = number[0];
	argv[nr++] = (char *)(uintptr_t)"--source-text";
	argv[nr++] = (char *)(uintptr_t)"0";
	argv[nr++] = (char *)(uintptr_t)"--usage-fd";
	argv[nr++] = number[1];
	if (m->o->event) {
		argv[nr++] = (char *)(uintptr_t)"--event";
		argv[nr++] = (char *)(uintptr_t)m->o->event;
	}
	for (char *word = strtok_r(options, " ", &save); word; word = strtok_r(NULL, " ", &save))
		argv[nr++] = word;
	argv[nr++] = (char *)(uintptr_t)"--";
	for (size_t i = 0; m->o->command[i]; i++) {
		if (nr + 1 >= words_max)
			return -E2BIG;
		argv[nr++] = m->o->command[i];
	}
	argv[nr] = NULL;
	return 0;
}

/* Append to text what the recorder writes to its --usage-fd. That is a first line with the program's pid, the time of its exec (ns) and the
 * recorder's own CPU time (us), and at the end the CPU times of the program and of the recorder (us). first_line: stop behind the first
 * line. Reading also stops if *m->stop is set. */
static void read_usage_report(const struct measurement *m, int fd, char *text, size_t bytes, bool first_line)
{
	size_t nr = strlen(text);

	while (nr + 1 < bytes && !(first_line && strchr(text, '\n'))) {
		ssize_t n;

		if (wait_until_readable(m, fd))
			break;
		n = read(fd, text + nr, bytes - 1 - nr);
		if (n <= 0)
			break;
		nr += (size_t)n;
		text[nr] = 0;
	}
}

static int run_recorded(struct measurement *m, unsigned rate, enum capture c, struct overhead_run *r, int *status)
{
	size_t words_max = 32;
	unsigned long long exec_ns = 0, command_us, before_us, after_us;
	char told[128] = "", options[256], number[2][24], **argv;
	int tell[2], host = 0, ret = 0;
	struct rusage usage;
	pid_t pid;

	while (m->o->command[words_max - 32])
		words_max++;
	argv = calloc(words_max, sizeof(*argv));
	if (!argv || pipe2(tell, O_CLOEXEC)) {
		free(argv);
		return diag_fail(m->d, errno, "cannot start the recorder: %s", strerror(errno));
	}
	ret = make_command(m, rate, c, tell[1], argv, words_max, options, sizeof(options), number);
	pid = ret ? ret : spawn_program(m, "/proc/self/exe", argv, tell[1]);
	free(argv);
	close(tell[1]);
	if (pid < 0) {
		close(tell[0]);
		return diag_fail(m->d, -pid, "cannot start the recorder: %s", strerror(-pid));
	}
	read_usage_report(m, tell[0], told, sizeof(told), true);
	if (sscanf(told, "%d %llu", &host, &exec_ns) == 2)
		ret = wait_for_end(m, host, (double)exec_ns * 1e-9, r);
	read_usage_report(m, tell[0], told, sizeof(told), false);
	close(tell[0]);
	if (*m->stop || ret) {
		end_processes(pid, host);
		return diag_fail(m->d, *m->stop ? EINTR : -ret, "interrupted");
	}
	while (wait4(pid, status, 0, &usage) < 0 && errno == EINTR)
		;
	if (sscanf(told, "%*d %*u %llu %llu %llu", &before_us, &command_us, &after_us) == 3) {
		r->cpu_s = (double)command_us * 1e-6;
		r->recorder_s = (double)(after_us - before_us) * 1e-6;
		r->outside_s = cpu_seconds_of_usage(&usage) - r->cpu_s - r->recorder_s;
	} else if (WIFEXITED(*status) && WEXITSTATUS(*status) == 0) {
		return diag_fail(m->d, EPROTO, "the recorder did not report its CPU time");
	}
	return 0;
}

/* Set text to ": " and the last line that the program or the recorder wrote to standard error, or to "" if that is not known. */
static void last_line(const struct measurement *m, char *text, size_t bytes)
{
	FILE *f = m->o->show_output ? NULL : fopen(m->messages, "re");
	char line[256];

	text[0] = 0;
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		if (*line)
			snprintf(text, bytes, ": %s", line);
	}
	if (f)
		fclose(f);
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
}

static int fail_with_exit_status(const struct measurement *m, int status, bool started, unsigned rate, enum capture c)
{
	char how[64], words[280];

	if (WIFSIGNALED(status))
		snprintf(how, sizeof(how), "was killed by signal %d", WTERMSIG(status));
	else
		snprintf(how, sizeof(how), "exited with status %d", WEXITSTATUS(status));
	last_line(m, words, sizeof(words));
	if (c != CAPTURE_BARE && !started) /* `tailor run` has printed the reason, and exits with 2 if its options are wrong */
		return diag_fail(m->d, WIFEXITED(status) && WEXITSTATUS(status) == 2 ? EINVAL : ECHILD,
				 "cannot record %s (%s, %llu samples/s)%s", m->o->command[0], capture_kinds[c].name,
				 (unsigned long long)m->o->rate[rate], words);
	if (c == CAPTURE_BARE)
		return diag_fail(m->d, ECHILD, "%s failed without a recorder: it %s%s", m->o->command[0], how, words);
	return diag_fail(m->d, ECHILD, "%s failed under the recorder only: it %s (%s, %llu samples/s)%s", m->o->command[0],
			 how, capture_kinds[c].name, (unsigned long long)m->o->rate[rate], words);
}

static int run_one_capture(struct measurement *m, unsigned rate, enum capture c, struct overhead_run *r)
{
	int status = 0, ret;

	*r = (struct overhead_run){ NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
	ret = c == CAPTURE_BARE ? run_bare(m, r, &status) : run_recorded(m, rate, c, r, &status);
	if (ret == 0 && *m->stop)
		ret = diag_fail(m->d, EINTR, "interrupted");
	if (ret == 0 && status)
		ret = fail_with_exit_status(m, status, !isnan(r->wall_s), rate, c);
	if (ret == 0 && c > CAPTURE_DORMANT)
		ret = overhead_read(m->o, rate, c, m->trace, r, m->d);
	unlink(m->trace);
	return ret;
}

int overhead_measure(struct overhead *o, const char *directory, volatile int *stop, overhead_progress progress, void *context,
		     struct diag *d)
{
	struct measurement m = { .o = o, .stop = stop, .d = d };
	unsigned nr = o->nr_rates * NR_CAPTURES, total = o->nr_rounds * nr, done = 0;
	unsigned order[OVERHEAD_RATES_MAX * NR_CAPTURES] = { 0 };
	struct overhead_run warm_up;
	uint64_t random = 1;
	int ret;

	snprintf(m.trace, sizeof(m.trace), "%s/trace.tlr", directory);
	snprintf(m.messages, sizeof(m.messages), "%s/messages", directory);
	/* Two first runs do not count. They fill the page cache, and show whether the program fails or the event is unknown before the
	 * rounds, which may take an hour. */
	ret = run_one_capture(&m, 0, CAPTURE_BARE, &warm_up);
	if (ret == 0)
		ret = run_one_capture(&m, 0, CAPTURE_STACK_8K, &warm_up);
	for (unsigned round = 0; round < o->nr_rounds && ret == 0; round++) {
		for (unsigned i = 0; i < nr; i++) {
			unsigned other = (unsigned)random_below(&random, i + 1);

			order[i] = order[other];
			order[other] = i;
		}
		for (unsigned i = 0; i < nr && ret == 0; i++) {
			unsigned rate = order[i] / NR_CAPTURES;
			enum capture c = order[i] % NR_CAPTURES;

			if (progress)
				progress(context, done, total, rate, c);
			ret = run_one_capture(&m, rate, c, overhead_run_of(o, round, rate, c));
			done++;
		}
	}
	unlink(m.messages);
	return ret;
}
