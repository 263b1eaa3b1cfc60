/* SPDX-License-Identifier: MIT */
/*
 * tailor run starts a command with the agent loaded, and records it and its descendants.
 *
 * The child is forked first, and waits before its exec until the recorder is ready. So it keeps the limits, signals and descriptors of the
 * caller, whatever the recorder changes for itself. Its counters start at its exec, unless the agent opens them.
 */
#include "agent/recorder/cmd_recording.h"
#include "agent/recorder/keep_source.h"
#include "agent/recorder/rights.h"
#include "agent/recorder/spark_log.h"
#include "agent/recorder/process/program.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"
#include "jitreg/confine/confine.h"
#include "jitreg/protocol/env.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LIBRARY "libtailor.so"

enum { KEY_FOLLOW = 0x200, KEY_NO_ADAPT, KEY_NO_PRELOAD, KEY_SPARK, KEY_USAGE_FD };
static const struct argp_option options[] = {
	{ "follow", KEY_FOLLOW, NULL, 0, "record until all processes that the command started have exited", 0 },
	{ "spark", KEY_SPARK, NULL, 0,
	  "have Spark write its event log (into TRACE.spark) and lines of generated code, and add its plans to the trace; implies --follow",
	  0 },
	{ "usage-fd", KEY_USAGE_FD, "DESCRIPTOR", OPTION_HIDDEN, "write the command's PID, time of exec and CPU time there", 0 },
	{ "no-adapt", KEY_NO_ADAPT, NULL, 0,
	  "disable host adapters, which make known JITs report more of their code (the trace lists those used)", 0 },
	{ "no-preload", KEY_NO_PRELOAD, NULL, 0,
	  "do not load the agent into the command: it is sampled from outside, without what its JIT registers", 0 },
	{ "quiet", 'q', NULL, 0, "print errors only", 0 },
	{ 0 },
};

static error_t parse_run_argument(int key, char *arg, struct argp_state *state)
{
	struct run_request *a = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = state->child_inputs[1] = &a->session;
		break;
	case 'q':
		a->session.quiet = true;
		break;
	case KEY_USAGE_FD:
		a->usage_fd = *arg && !arg[strspn(arg, "0123456789")] ? (int)strtol(arg, NULL, 10) : -1;
		if (fcntl(a->usage_fd, F_SETFD, FD_CLOEXEC) < 0) /* the call also keeps the command from inheriting it */
			usage_fail(state, "--usage-fd must be an open descriptor, not '%s'", arg);
		break;
	case KEY_NO_ADAPT:
		setenv(TAILOR_ENV_NO_ADAPT, "1", 1);
		break;
	case KEY_NO_PRELOAD:
		a->no_preload = true;
		break;
	case KEY_SPARK:
		a->spark = a->follow = true;
		break;
	case KEY_FOLLOW:
		a->follow = true;
		break;
	case ARGP_KEY_ARGS:
		a->command = state->argv + state->next;
		break;
	case ARGP_KEY_END:
		if (a->session.dormant && strcmp(a->session.output, SESSION_OUTPUT) != 0)
			usage_fail(state, "--dormant writes no trace; give -o to `tailor start PID`");
		break;
	case ARGP_KEY_NO_ARGS:
		usage_fail(state, "no command given");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

/* Finds libtailor.so beside this program, in ../lib/tailor, or in ../lib.  Returns false if it is in none of them, or its path is too
 * long. */
static bool find_agent_library(char *path, size_t bytes)
{
	static const char *const places[] = { "", "../lib/tailor/", "../lib/" };
	char self[4096];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (n <= 0)
		return false;
	self[n] = 0;
	*(strrchr(self, '/') + 1) = 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++)
		if ((size_t)snprintf(path, bytes, "%s%s" LIBRARY, self, places[i]) < bytes && access(path, R_OK) == 0)
			return true;
	return false;
}

static void set_preload_environment(const char *library, const char *socket)
{
	const char *before = getenv("LD_PRELOAD");
	char *all = NULL;

	if (library && before && strstr(before, library))
		library = NULL; /* the caller has put it there already */
	/* The library is appended, since the runtime of a sanitizer in LD_PRELOAD has to be the first one. */
	if (library && asprintf(&all, "%s%s%s", before ? before : "", before && *before ? ":" : "", library) >= 0) {
		setenv("LD_PRELOAD", all, 1);
		free(all);
	}
	setenv(TAILOR_ENV_SOCKET, socket, 1);
}

struct child {
	pid_t pid;
	int go;	    /* write end of a pipe, from which the child reads a struct go before it executes the command */
	int failed; /* read end of a pipe, which has errno if exec failed, and is at the end of file otherwise */
};

struct go {
	bool preload;
	char library[4096], socket[64];
};

static int fork_waiting_child(char **command, struct child *c)
{
	int go[2], failed[2];

	if (pipe2(go, O_CLOEXEC) || pipe2(failed, O_CLOEXEC))
		return -errno;
	c->pid = fork();
	if (c->pid < 0)
		return -errno;
	if (c->pid == 0) {
		struct go g;
		int error;

		close(go[1]);
		close(failed[0]);
		if (read(go[0], &g, sizeof(g)) != sizeof(g))
			_exit(CMD_FAILED); /* the recorder failed, and has reported why, or it was killed */
		set_preload_environment(g.preload ? g.library : NULL, g.socket);
		execvp(command[0], command);
		error = errno;
		if (write(failed[1], &error, sizeof(error)) < 0)
			_exit(126);
		_exit(error == ENOENT ? 127 : 126);
	}
	close(go[0]);
	close(failed[1]);
	c->go = go[1];
	c->failed = failed[0];
	return 0;
}

static int exit_status_of_wait(int wait_status)
{
	return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

static unsigned long long cpu_time_used_us(int who)
{
	struct rusage u = { 0 };

	getrusage(who, &u);
	return ((unsigned long long)u.ru_utime.tv_sec + (unsigned long long)u.ru_stime.tv_sec) * 1000000 +
	       (unsigned long long)u.ru_utime.tv_usec + (unsigned long long)u.ru_stime.tv_usec;
}

/*
 * Both functions write usage for `tailor overhead`, unless `to` is negative. The one at the beginning writes the command's PID, its time of
 * exec (CLOCK_MONOTONIC, ns) and the recorder's CPU time until then. The one at the end writes the CPU time of the command with its
 * children, and of the recorder. CPU times are in microseconds.
 */
static void write_usage_at_begin(int to, pid_t pid)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	if (to >= 0)
		dprintf(to, "%d %llu %llu\n", (int)pid, (unsigned long long)now.tv_sec * 1000000000 + (unsigned long long)now.tv_nsec,
			cpu_time_used_us(RUSAGE_SELF));
}

static void write_usage_at_end(int to)
{
	if (to >= 0)
		dprintf(to, "%llu %llu\n", cpu_time_used_us(RUSAGE_CHILDREN), cpu_time_used_us(RUSAGE_SELF));
}

static int abandon_run(struct session *s, struct child *c, const struct diag *d)
{
	message_print("%s", d->text);
	close(c->go);
	kill(c->pid, SIGKILL); /* the child has executed nothing yet, and other signals would wait if it is stopped */
	waitpid(c->pid, NULL, 0);
	if (s)
		session_abandon(s);
	return CMD_FAILED;
}

/* Returns NULL if the agent will be loaded into the command, else the reason why not.  *preload: LD_PRELOAD is to be set, which may be true
 * even then, because programs that the command starts may load the agent.  *library: path of the agent. */
static const char *why_agent_unavailable(const struct program *p, char *library, size_t bytes, bool *preload)
{
	*preload = false;
	if (!find_agent_library(library, bytes))
		return LIBRARY " not found beside the tailor command";
	if (strpbrk(library, " :"))
		return "LD_PRELOAD cannot hold the path of " LIBRARY ", which has a blank or a colon";
	*preload = p->can_preload;
	return p->why_not;
}

int cmd_run_recorded(struct run_request *a)
{
	struct session *s = NULL;
	struct program program;
	struct child child = { 0 };
	struct go go = { 0 };
	struct diag d = { "" };
	const char *no_agent;
	bool fell_back = false;
	int status = 0, error = 0, ret;

	a->session.command = a->command;
	a->session.way = JIT_WAY_RUN;
	a->session.no_adapt = getenv(TAILOR_ENV_NO_ADAPT) != NULL;
	program_inspect(a->command[0], &program);
	if (program.error) {
		message_print("%s: %s", a->command[0], program.error == ENOENT ? "command not found" : strerror(program.error));
		return program.error == ENOENT ? 127 : 126;
	}
	no_agent = why_agent_unavailable(&program, go.library, sizeof(go.library), &go.preload);
	if (a->no_preload) {
		no_agent = "--no-preload";
		go.preload = false;
	}
	a->session.counting.no_guest = no_agent != NULL;
	a->session.preloads = go.preload && !a->session.dormant;
	a->session.uncounted = program.why_uncounted != NULL;
	if (no_agent && a->session.counting.scope_thread) {
		a->session.counting.scope_thread = false;
		fell_back = true;
	}
	if (a->spark && spark_log_prepare(&a->session, &d)) {
		message_print("%s", d.text);
		return CMD_FAILED;
	}
	ret = fork_waiting_child(a->command, &child);
	if (ret) {
		message_print("cannot start a process: %s", strerror(-ret));
		return CMD_FAILED;
	}
	session_raise_limits();
	ret = session_open(&a->session, &s, &d);
	if (ret == -EINVAL) {
		abandon_run(s, &child, &d);
		return CMD_MISUSED;
	}
	if (ret || session_listen(s, NULL, &d))
		return abandon_run(s, &child, &d);
	recorder_rights_keep(&a->session, keep_source_words(&a->session), a->spark ? spark_log_words(&a->session) : NULL);
	if (session_start_counting(s, child.pid, true, &d))
		return abandon_run(s, &child, &d);
	if (no_agent)
		session_notice(s, NOTICE_HOST, "agent unavailable in %s (%s); sampling without registrations of its JIT%s", a->command[0],
			       no_agent, fell_back ? ", and per CPU instead of per thread" : "");
	if (program.why_uncounted)
		session_notice(s, NOTICE_NO_SAMPLES, PROGRAM_UNCOUNTED, a->command[0], program.why_uncounted,
			       program_uncounted_remedy());
	snprintf(go.socket, sizeof(go.socket), "%s", session_socket_name(s));
	if (write(child.go, &go, sizeof(go)) != sizeof(go))
		return abandon_run(s, &child, &d);
	if (read(child.failed, &error, sizeof(error)) == sizeof(error)) {
		waitpid(child.pid, &status, 0);
		message_print("%s: %s", a->command[0], strerror(error));
		session_abandon(s);
		return exit_status_of_wait(status);
	}
	write_usage_at_begin(a->usage_fd, child.pid);
	session_run(s, child.pid, true, a->follow, &status);
	write_usage_at_end(a->usage_fd);
	if (session_close(s, status, &d))
		message_print("%s; the command was not affected", d.text);
	else {
		keep_source_text(&a->session);
		if (a->spark)
			spark_log_add(&a->session);
	}
	return exit_status_of_wait(status);
}

static int run_run_command(int argc, char **argv)
{
	static const struct argp_child children[] = { { &sampling_argp, 0, NULL, 0 }, { &dormant_argp, 0, NULL, 0 },
						       { &confine_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options,
		parse_run_argument,
		"-- COMMAND [ARGUMENT...]",
		"Run a command with the agent loaded, and record it and all processes that it starts into one trace.\v"
		"Exit status: that of the command; 128 + N if signal N killed it; 127 or 126 if it could not be started; 1 (failure) "
		"or 2 (usage error) if it was not run.",
		children,
		NULL,
		NULL
	};
	struct run_request a = { .session = SESSION_OPTIONS_DEFAULT, .usage_fd = -1 };

	a.session.output = SESSION_OUTPUT;
	argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &a);
	return cmd_run_recorded(&a);
}

const struct cmd cmd_run = { "run", "run a command and record where its time goes", run_run_command };
