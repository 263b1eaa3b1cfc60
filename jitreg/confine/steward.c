/* SPDX-License-Identifier: MIT */
/* This file is the side of the recorder, or of another client, which sends requests to the steward processes and receives answers. */
#include "jitreg/confine/steward_internal.h"

#include "jitreg/base/file_changes.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MS 3000 /* longest wait for an answer, of servers that handle one request at a time and wait for nothing themselves */
/* a server that has timed out is waited for only this long, since a recorder asks for several files at its end */
#define ANSWER_OF_LATE_MS 100

static struct steward own = { .steward = -1, .changer = -1 };

/* Receive an answer, and set *result to it, or to -ETIMEDOUT or -EPIPE.  Returns the descriptor that came with it, or -1. */
static int receive_answer(int socket, int *result)
{
	union steward_control control;
	struct iovec io = { result, sizeof(*result) };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c;
	int fd = -1;
	ssize_t n;

	do {
		n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n != sizeof(*result)) {
		*result = n < 0 && errno == EAGAIN ? -ETIMEDOUT : -EPIPE;
		return -1;
	}
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(c), sizeof(fd));
	return fd;
}

/* Send a request, and wait for its answer.  folder: a descriptor to send with it, or -1.  most_ms: how long to wait, or 0 for no limit.
 * Sets *result to the result of the request, or to -errno.  Returns the descriptor that came with the answer, or -1. */
static int ask_for(int server, const struct steward_request *r, int folder, int most_ms, int *result)
{
	const struct timeval most = { most_ms / 1000, most_ms % 1000 * 1000 };
	int ends[2], fd = -1, sent[2], nr = 0;

	*result = -errno;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends)) {
		*result = -errno;
		return -1;
	}
	setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
	sent[nr++] = ends[1];
	if (folder >= 0)
		sent[nr++] = folder;
	if (steward_send(server, r, sizeof(*r), sent, nr) < 0) {
		*result = -errno;
		close(ends[1]);
	} else {
		close(ends[1]); /* the server now has the only other end, so receive_answer() notices if it dies */
		fd = receive_answer(ends[0], result);
	}
	close(ends[0]);
	return fd;
}

static int ask(int server, const struct steward_request *r, int folder, int *result)
{
	static int late = -1; /* socket of the server whose last answer timed out; -1: none */
	int fd = ask_for(server, r, folder, server == late ? ANSWER_OF_LATE_MS : ANSWER_MS, result);

	if (*result == -ETIMEDOUT)
		late = server;
	else if (server == late)
		late = -1;
	return fd;
}

static bool put_name(char *to, const char *name)
{
	const size_t bytes = strlen(name) + 1;

	if (bytes > STEWARD_PATH_BYTES) {
		errno = ENAMETOOLONG;
		return false;
	}
	memcpy(to, name, bytes);
	return true;
}

static int as_call(int result)
{
	if (result >= 0)
		return 0;
	errno = -result;
	return -1;
}

static int open_by_changer(const char *path, int flags, mode_t mode)
{
	struct steward_request r = { .act = STEWARD_OPEN, .flags = flags, .mode = mode };
	int result, fd;

	if (!put_name(r.path[0], path))
		return -1;
	fd = ask(own.changer, &r, -1, &result);
	if (fd < 0 && result >= 0)
		result = -EPIPE;
	return fd < 0 ? as_call(result) : fd;
}

static int rename_by_changer(const char *from, const char *to)
{
	struct steward_request r = { .act = STEWARD_RENAME };
	int result;

	if (!put_name(r.path[0], from) || !put_name(r.path[1], to))
		return -1;
	ask(own.changer, &r, -1, &result);
	return as_call(result);
}

static int remove_by_changer(const char *path)
{
	struct steward_request r = { .act = STEWARD_REMOVE_OUTPUT };
	int result;

	if (!put_name(r.path[0], path))
		return -1;
	ask(own.changer, &r, -1, &result);
	return as_call(result);
}

static int read_by_steward(int at, const char *path)
{
	struct steward_request r = { .act = STEWARD_READ };
	int result, fd;

	if (!put_name(r.path[0], path))
		return -1;
	fd = ask(own.steward, &r, at < 0 ? -1 : at, &result);
	if (fd < 0 && result >= 0)
		result = -EPIPE;
	return fd < 0 ? as_call(result) : fd;
}

/* End the servers that this process has started, at its exit, when it waits for no answer any more. Commands that the steward executes go
 * on, because they run in children of the steward. */
static void end_servers(void)
{
	const pid_t pids[] = { own.steward_pid, own.changer_pid };

	for (size_t i = 0; i < sizeof(pids) / sizeof(pids[0]) && own.parent == getpid(); i++)
		if (pids[i] > 0 && kill(pids[i], SIGKILL) == 0)
			waitpid(pids[i], NULL, 0);
}

int steward_start(char *const *const command[STEWARD_COMMANDS_MAX], const char *output)
{
	int ret = steward_fork(command, output, &own);

	if (ret == 0)
		atexit(end_servers);
	if (ret == 0)
		file_changes.read_private = read_by_steward;
	if (ret == 0 && output)
		file_changes = (struct file_changes){ .open = open_by_changer, .rename = rename_by_changer, .remove = remove_by_changer,
						       .read_private = read_by_steward };
	return ret;
}

void steward_start_opener(bool (*may_open)(const char *path, int fd))
{
	if (steward_fork_opener(may_open, &own))
		return;
	atexit(end_servers);
	file_changes.read_private = read_by_steward;
}

bool steward_is_there(void)
{
	return own.steward >= 0;
}

int steward_run(unsigned number, const char *operand)
{
	struct steward_request r = { .act = STEWARD_RUN, .number = number, .pid = getpid() };
	int result;

	if (operand && !put_name(r.path[0], operand))
		return -ENAMETOOLONG;
	ask_for(own.steward, &r, -1, 0, &result);
	return result;
}

/* Ask the steward to create, remove or connect to a file of HotSpot. Without a steward, this process calls the same function that the
 * steward would. Returns 0, or -1 with errno. */
static int ask_about_jvm(struct steward_request *r, int folder, const char *name, int *fd)
{
	int result;

	if (!put_name(r->path[0], name))
		return -1;
	if (own.steward < 0)
		result = steward_do_for_jvm(r, folder, fd);
	else
		*fd = ask(own.steward, r, folder, &result);
	return as_call(result);
}

int steward_create_trigger(int folder, const char *name, uid_t uid, gid_t gid)
{
	struct steward_request r = { .act = STEWARD_TRIGGER, .uid = uid, .gid = gid };
	int fd = -1;

	return ask_about_jvm(&r, folder, name, &fd);
}

int steward_remove(int folder, const char *name)
{
	struct steward_request r = { .act = STEWARD_REMOVE };
	int fd = -1;

	return ask_about_jvm(&r, folder, name, &fd);
}

int steward_connect(int folder, const char *name)
{
	struct steward_request r = { .act = STEWARD_CONNECT };
	int fd = -1, ret = ask_about_jvm(&r, folder, name, &fd);

	return ret ? -1 : fd;
}
