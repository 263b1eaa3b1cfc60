/* SPDX-License-Identifier: MIT */
/*
 * Starts a recorder (tailor-record, or `tailor recorder`) beside a host that was preloaded without `tailor run`.
 *
 * Two raw clone(2)s have no exit signal, and the first child ends at once and is waited for by its number.  So the host never gets a
 * SIGCHLD, never finds an unknown child in wait(2), and libc's fork handlers do not run. The recorder gets a session of its own, and none
 * of the host's descriptors (but stderr if TAILOR_DEBUG is set), because `host | cat` would never end otherwise. It has one end of a pipe,
 * through which it says that it listens, or why not. If it dies, the pipe ends.
 */
#include "agent/guest/guest.h"

#include "agent/guest/environ.h"
#include "agent/guest/sys.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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
#define READY_FD 3 /* the recorder's end of the pipe */
#define READY_TEXT "3"
#define READY_WAIT_MS 10000
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef __WALL
#define __WALL 0x40000000
#endif

extern char **environ;

static int find_own_library_path(void *context, const struct object *o)
{
	if (!object_contains(o, (const void *)(uintptr_t)find_own_library_path, 1))
		return 0;
	strncpy(context, o->name, 4095);
	return 1;
}

/*
 * Writes the command that runs the recorder to path.  It is TAILOR_COMMAND if that is set.  Otherwise it is tailor-record beside this
 * library, which can do nothing else and so starts fast, or else the tailor command, there or where it is installed.  If none is found, it
 * is "tailor", which execvpe looks for in PATH.
 */
static void find_recorder_command(char path[4096])
{
	static const char *const beside[] = { "tailor-record", "tailor", "../../bin/tailor" };
	const char *told = environ_get(ENVIRON_COMMAND);
	char *slash;

	memset(path, 0, 4096);
	if (told) {
		strncpy(path, told, 4095);
		return;
	}
	if (objects_each(find_own_library_path, path)) {
		slash = strrchr(path, '/');
		for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]) && slash && slash - path < 4000; i++) {
			strcpy(slash + 1, beside[i]);
			if (access(path, X_OK) == 0)
				return;
		}
	}
	strcpy(path, "tailor");
}

static size_t fill_recorder_arguments(char **argv, const char *command, const char *socket, const char *pid)
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
	argv[nr++] = (char *)"recorder";
	argv[nr++] = (char *)"--socket";
	argv[nr++] = (char *)(uintptr_t)socket;
	argv[nr++] = (char *)"--pid";
	argv[nr++] = (char *)(uintptr_t)pid;
	argv[nr++] = (char *)"--ready";
	argv[nr++] = (char *)READY_TEXT;
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

/* The host's address space limit may be too small for the recorder's libraries. */
static void lift_address_space_limit(void)
{
	struct rlimit most = { RLIM_INFINITY, RLIM_INFINITY };

	if (setrlimit(RLIMIT_AS, &most) && getrlimit(RLIMIT_AS, &most) == 0) {
		most.rlim_cur = most.rlim_max;
		setrlimit(RLIMIT_AS, &most);
	}
}

/* The host's descriptor limit may be too small for the recorder. */
static void lift_descriptor_limit(void)
{
	struct rlimit r;

	if (getrlimit(RLIMIT_NOFILE, &r) == 0) {
		r.rlim_cur = r.rlim_max;
		setrlimit(RLIMIT_NOFILE, &r);
	}
}

/*
 * Makes descriptors 0 to 2 /dev/null, and closes all others but the pipe (only those below 1024 if close_range fails). The recorder's
 * messages must not reach the host's output, nor a file that gets a low number later. A memfd takes the place of a missing /dev/null. If
 * TAILOR_DEBUG is set, an open stderr is kept. Returns false on failure.
 */
static bool replace_all_descriptors(int report)
{
	if (dup2(report, READY_FD) < 0)
		return false;
	if (syscall(SYS_close_range, READY_FD + 1u, ~0u, 0u))
		for (int fd = READY_FD + 1; fd < 1024; fd++)
			close(fd);
	for (int fd = 0; fd < READY_FD; fd++) {
		int null;

		if (fd == STDERR_FILENO && guest_debugging() && fcntl(fd, F_GETFD) >= 0)
			continue;
		close(fd);
		null = open("/dev/null", O_RDWR);
		if (null < 0)
			null = (int)syscall(SYS_memfd_create, "null", 0u);
		if (null != fd)
			return false;
	}
	return true;
}

/* Runs in the child of the host's child. Nothing that takes a lock of libc is called from here on, because another thread of the host may
 * have held the lock when this process was cloned. */
__attribute__((noreturn)) static void become_recorder(const char *command, char **argv, int report)
{
	sigset_t none;
	int error;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	setsid();
	lift_address_space_limit();
	lift_descriptor_limit();
	if (!replace_all_descriptors(report))
		_exit(126);
	/* the recorder must not load the agent; the text that is changed is this process's copy */
	for (char **e = environ; e && *e; e++)
		if (strncmp(*e, "LD_PRELOAD=", 11) == 0)
			(*e)[0] = 'X';
	if (strchr(command, '/'))
		execve(command, argv, environ);
	else
		execvpe(command, argv, environ);
	error = errno;
	if (write(READY_FD, &error, sizeof(error)) < 0)
		_exit(126);
	_exit(127);
}

static pid_t clone_without_exit_signal(void)
{
	return (pid_t)syscall(SYS_clone, 0ul, 0ul, 0ul, 0ul, 0ul);
}

/* The host's timers may interrupt the wait, so it is bounded by the clock. */
static int wait_for_recorder_ready(int fd)
{
	struct pollfd wait = { fd, POLLIN, 0 };
	struct timespec t;
	int64_t now_ms, until_ms = 0;
	int error, ret;

	do {
		clock_gettime(CLOCK_MONOTONIC, &t);
		now_ms = (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
		if (!until_ms)
			until_ms = now_ms + READY_WAIT_MS;
		ret = sys_poll(&wait, 1, now_ms < until_ms ? (int)(until_ms - now_ms) : 0);
	} while (ret == -EINTR);
	if (ret <= 0)
		return ret ? ret : -ETIMEDOUT;
	/* the recorder listens or has failed, so read() does not block */
	return read(fd, &error, sizeof(error)) == (ssize_t)sizeof(error) ? -error : -ECHILD;
}

int spawn_recorder(char *socket, size_t bytes)
{
	char command[4096], pid[16], *argv[ARGUMENTS_MAX];
	uint64_t random = 0;
	int report[2], ret;
	pid_t middle;

	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) != sizeof(random))
		random = (uint64_t)time(NULL);
	snprintf(socket, bytes, "tailor-%d-%016llx", (int)getpid(), (unsigned long long)random);
	snprintf(pid, sizeof(pid), "%d", (int)getpid());
	find_recorder_command(command);
	fill_recorder_arguments(argv, command, socket, pid);
	if (pipe2(report, O_CLOEXEC))
		return -errno;
	middle = clone_without_exit_signal();
	if (middle == 0) {
		pid_t last = clone_without_exit_signal();

		if (last == 0)
			become_recorder(command, argv, report[1]);
		_exit(last < 0);
	}
	ret = middle < 0 ? -errno : 0;
	close(report[1]);
	if (ret == 0) {
		while (waitpid(middle, NULL, __WALL) < 0 && errno == EINTR)
			;
		ret = wait_for_recorder_ready(report[0]);
	}
	close(report[0]);
	return ret;
}
