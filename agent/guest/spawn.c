/* SPDX-License-Identifier: MIT */
/*
 * Preloaded without `tailor run`: start `tailor record` beside the host.
 *
 * Two raw clone(2)s without an exit signal: the first child ends at once and is waited for by its number, so the host never
 * gets a SIGCHLD, never finds a stranger in wait(2), and libc's fork handlers do not run.  The recorder gets a session of
 * its own and none of the host's descriptors (else `host | cat` would never end).
 */
#include "guest.h"

#include "environ.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARGUMENTS_MAX 24
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef __WALL
#define __WALL 0x40000000
#endif

extern char **environ;

static int own_path(void *context, const struct object *o)
{
	if (!object_contains(o, (const void *)(uintptr_t)own_path, 1))
		return 0;
	strncpy(context, o->name, 4095);
	return 1;
}

/* The tailor command: as told, or beside this library, or where it is installed with it; else execvpe finds it in PATH. */
static void find_command(char path[4096])
{
	const char *told = environ_get(ENVIRON_COMMAND);
	char *slash;

	memset(path, 0, 4096);
	if (told) {
		strncpy(path, told, 4095);
		return;
	}
	if (objects_each(own_path, path)) {
		slash = strrchr(path, '/');
		if (slash && slash - path < 4000) {
			strcpy(slash + 1, "tailor");
			if (access(path, X_OK) == 0)
				return;
			strcpy(slash + 1, "../../bin/tailor"); /* as installed */
			if (access(path, X_OK) == 0)
				return;
		}
	}
	strcpy(path, "tailor");
}

static size_t arguments(char **argv, const char *command, const char *socket, const char *pid)
{
	static const struct {
		enum environ_variable variable;
		const char *option;
	} options[] = {
		{ ENVIRON_OUTPUT, "--output" }, { ENVIRON_EVENT, "--event" }, { ENVIRON_RATE, "--rate" },
		{ ENVIRON_SCOPE, "--scope" },	{ ENVIRON_STACK, "--stack" },
		{ ENVIRON_SAMPLER, "--sampler" },
	};
	size_t nr = 0;

	argv[nr++] = (char *)(uintptr_t)command;
	argv[nr++] = (char *)"record";
	argv[nr++] = (char *)"--socket";
	argv[nr++] = (char *)(uintptr_t)socket;
	argv[nr++] = (char *)"--pid";
	argv[nr++] = (char *)(uintptr_t)pid;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (environ_get(options[i].variable)) {
			argv[nr++] = (char *)(uintptr_t)options[i].option;
			argv[nr++] = (char *)(uintptr_t)environ_get(options[i].variable);
		}
	if (environ_get(ENVIRON_DORMANT))
		argv[nr++] = (char *)"--dormant";
	argv[nr] = NULL;
	return nr;
}

/* The host's address space may be too small for the recorder's libraries. */
static void lift_address_space(void)
{
	struct rlimit most = { RLIM_INFINITY, RLIM_INFINITY };

	if (setrlimit(RLIMIT_AS, &most) && getrlimit(RLIMIT_AS, &most) == 0) {
		most.rlim_cur = most.rlim_max;
		setrlimit(RLIMIT_AS, &most);
	}
}

/* Two processes away from the host; only system calls from here on. */
__attribute__((noreturn)) static void become_recorder(const char *command, char **argv, int report)
{
	int null = open("/dev/null", O_RDWR), error;
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	lift_address_space();
	dup2(null, 0);
	dup2(null, 1);
	if (!guest_debugging())
		dup2(null, 2);
	if (report != 3) {
		dup2(report, 3);
		report = 3;
	}
	fcntl(report, F_SETFD, FD_CLOEXEC);
	if (syscall(SYS_close_range, 4u, ~0u, 0u))
		for (int fd = 4; fd < 1024; fd++)
			close(fd);
	/* our copy of the environment: the recorder is no host */
	for (char **e = environ; e && *e; e++)
		if (strncmp(*e, "LD_PRELOAD=", 11) == 0)
			(*e)[0] = 'X';
	if (strchr(command, '/'))
		execve(command, argv, environ);
	else
		execvpe(command, argv, environ);
	error = errno;
	if (write(report, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

static pid_t clone_silently(void)
{
	return (pid_t)syscall(SYS_clone, 0ul, 0ul, 0ul, 0ul, 0ul);
}

int spawn_recorder(char *socket, size_t bytes, pid_t *recorder)
{
	char command[4096], pid[16], *argv[ARGUMENTS_MAX];
	uint64_t random = 0;
	int report[2], error = 0;
	pid_t middle;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (uint64_t)time(NULL);
	snprintf(socket, bytes, "tailor-%d-%016llx", (int)getpid(), (unsigned long long)random);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	find_command(command);
	arguments(argv, command, socket, pid);
	if (pipe2(report, O_CLOEXEC))
		return -errno;
	middle = clone_silently();
	if (middle == 0) {
		pid_t last = clone_silently();

		if (last == 0)
			become_recorder(command, argv, report[1]);
		/* the pid first, then an error if there is one */
		_exit(last < 0 || write(report[1], &last, sizeof(last)) != sizeof(last));
	}
	error = middle < 0 ? errno : 0;
	close(report[1]);
	if (!error) {
		while (waitpid(middle, NULL, __WALL) < 0 && errno == EINTR)
			;
		if (read(report[0], recorder, sizeof(*recorder)) != sizeof(*recorder))
			error = ECHILD;
		else if (read(report[0], &error, sizeof(error)) != sizeof(error))
			error = 0; /* closed by a successful exec */
	}
	close(report[0]);
	return -error;
}
