/* SPDX-License-Identifier: MIT */
#include "agent/recorder/own_command.h"

#include "jitreg/base/message.h"
#include "jitreg/confine/steward.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define END_TRIES 20 /* tenths of a second that the child has after SIGTERM, before SIGKILL */

/* Starts a child with all signals unblocked.  Without that it would inherit the signals that block_ends() and the recorder have blocked.
 * Returns 0, or another number if it could not be started. */
static int spawn(char *const argv[], pid_t *pid)
{
	posix_spawnattr_t attributes;
	sigset_t none;
	int ret;

	if (posix_spawnattr_init(&attributes))
		return -1;
	sigemptyset(&none);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
	ret = posix_spawn(pid, "/proc/self/exe", NULL, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	return ret;
}

static bool has_ended(pid_t pid)
{
	return waitpid(pid, NULL, WNOHANG) != 0;
}

static void end_child(pid_t pid)
{
	const struct timespec pause = { 0, 100000000 };

	kill(pid, SIGTERM);
	for (int i = 0; i < END_TRIES; i++) {
		if (has_ended(pid))
			return;
		nanosleep(&pause, NULL);
	}
	kill(pid, SIGKILL);
}

static void block_ends(sigset_t *awaited, sigset_t *before)
{
	static const int ends[] = { SIGCHLD, SIGTERM, SIGINT, SIGHUP, SIGQUIT };

	sigemptyset(awaited);
	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		sigaddset(awaited, ends[i]);
	sigprocmask(SIG_BLOCK, awaited, before);
}

/* Waits until the child has ended, a signal other than SIGCHLD comes, or about OWN_COMMAND_S seconds are over.  Ends the child in the last
 * two cases. */
static void wait_for_child(pid_t pid, const sigset_t *awaited, const char *what)
{
	const struct timespec second = { 1, 0 };
	int got = 0;

	for (int s = 0; s < OWN_COMMAND_S && !has_ended(pid);) {
		got = sigtimedwait(awaited, NULL, &second);
		if (got > 0 && got != SIGCHLD)
			break;
		s += got < 0;
	}
	if (!has_ended(pid)) {
		kill(-pid, SIGKILL); /* a child that leads a process group shares it with the command that the steward has started */
		end_child(pid);
		message_print("%s left out: %s", what, got > 0 ? "a signal came" : "it took more than 5 minutes");
	}
}

void own_command_run(char *const argv[], const char *what)
{
	sigset_t awaited, before;
	pid_t pid;

	block_ends(&awaited, &before);
	if (spawn(argv, &pid) == 0) {
		if (getpriority(PRIO_PROCESS, (id_t)pid) < 0) /* the child has inherited the recorder's raised priority */
			setpriority(PRIO_PROCESS, (id_t)pid, 0);
		wait_for_child(pid, &awaited, what);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}

void own_command_by_steward(unsigned number, const char *what)
{
	sigset_t awaited, before;
	pid_t pid;

	block_ends(&awaited, &before);
	pid = fork();
	if (pid == 0) {
		setpgid(0, 0); /* the steward gives the command the process group of its caller, so both can be killed at once */
		setpriority(PRIO_PROCESS, 0, 0);
		_exit(steward_run(number, NULL) != 0);
	}
	if (pid > 0) {
		setpgid(pid, pid);
		wait_for_child(pid, &awaited, what);
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}
