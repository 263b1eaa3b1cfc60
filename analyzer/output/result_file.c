/* SPDX-License-Identifier: MIT */
#include "analyzer/output/result_file.h"

#include "jitreg/base/command.h"
#include "jitreg/base/message.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRACE_ENDING ".tlr"

void result_file_name(const char *input, const char *ending, char *name, size_t bytes)
{
	const char *slash = strrchr(input, '/'), *base = slash ? slash + 1 : input;
	size_t n = strlen(base), end = strlen(TRACE_ENDING);

	if (n > end && strcmp(base + n - end, TRACE_ENDING) == 0)
		n -= end;
	snprintf(name, bytes, "%.*s%s", (int)n, base, ending);
}

static int viewers = -1; /* socket to the child that starts a viewer, or -1 */

/* Starts the viewer in a session of its own, without input and output, and does not wait for its end. Returns 0 or -errno. */
static int start_viewer(const char *path)
{
	char *words[] = { (char[]){ "xdg-open" }, (char *)(uintptr_t)path, NULL };
	posix_spawn_file_actions_t nowhere;
	posix_spawnattr_t attributes;
	pid_t viewer;
	int ret;

	if (posix_spawn_file_actions_init(&nowhere) || posix_spawnattr_init(&attributes))
		return -ENOMEM;
	for (int i = 0; i < 3; i++)
		posix_spawn_file_actions_addopen(&nowhere, i, "/dev/null", O_RDWR, 0);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID);
	ret = posix_spawnp(&viewer, words[0], &nowhere, &attributes, words, environ);
	posix_spawn_file_actions_destroy(&nowhere);
	posix_spawnattr_destroy(&attributes);
	return -ret;
}

void result_file_prepare(bool open)
{
	char path[PATH_MAX];
	int ends[2], error;
	pid_t parent = getpid();

	if (!open || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return;
	viewers = ends[0];
	if (fork()) { /* if fork() failed, ask_for_viewer() gets no answer, and the file is reported as not shown */
		close(ends[1]);
		return;
	}
	close(ends[0]);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() == parent && recv(ends[1], path, sizeof(path), 0) > 0) {
		error = start_viewer(path);
		send(ends[1], &error, sizeof(error), MSG_NOSIGNAL);
	}
	_exit(0);
}

/* Asks the child to start a viewer. Returns 0, -EPIPE if the child does not answer, or the -errno of start_viewer(). */
static int ask_for_viewer(const char *path)
{
	int error;

	if (send(viewers, path, strlen(path) + 1, MSG_NOSIGNAL) < 0 || recv(viewers, &error, sizeof(error), 0) != sizeof(error))
		return -EPIPE;
	return error;
}

void result_file_tell(const char *path, bool quiet, bool open)
{
	struct stat st;

	if (stat(path, &st) || !S_ISREG(st.st_mode))
		return;
	if (!quiet && st.st_size < 1 << 20)
		message_print("%s (%llu KiB)", path, (unsigned long long)(st.st_size + 1023) / 1024);
	else if (!quiet)
		message_print("%s (%.1f MiB)", path, (double)st.st_size / (1 << 20));
	if (open && ask_for_viewer(path))
		message_print("not shown: there is no xdg-open (package xdg-utils); open the file in a browser");
}

int result_flush(int status)
{
	if (!fflush(stdout) && !ferror(stdout))
		return status;
	message_print("cannot write the output");
	return CMD_FAILED;
}
