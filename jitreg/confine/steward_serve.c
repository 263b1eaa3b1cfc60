/* SPDX-License-Identifier: MIT */
/* This file has the loop of the steward, the changer and the opener, which handle one request after another until no process can send
 * one any more. */
#include "jitreg/confine/confine.h"
#include "jitreg/confine/steward_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FIRST_FD 3

struct server {
	int socket;
	char *const *const *command; /* commands that the steward may execute; NULL in the changer and the opener */
	const char *output;
	bool is_opener; /* this is the opener of steward_start_opener() */
	bool (*may_open)(const char *path, int fd);
};

/* Receive a request.  Returns how many descriptors came with it, or -1 if no process can send requests any more.  An incomplete request
 * gets an unknown act, so it is refused. */
static int receive_request(int socket, struct steward_request *r, int fd[STEWARD_SENT_MAX])
{
	union steward_control control;
	struct iovec io = { r, sizeof(*r) };
	struct msghdr m = { .msg_iov = &io, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof(control.bytes) };
	struct cmsghdr *c;
	int nr = 0;
	ssize_t n;

	do {
		n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n <= 0)
		return -1;
	c = CMSG_FIRSTHDR(&m);
	if (c && c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
		nr = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fd, CMSG_DATA(c), (size_t)nr * sizeof(int));
	}
	if (n != sizeof(*r))
		r->act = -1u;
	r->path[0][STEWARD_PATH_BYTES - 1] = r->path[1][STEWARD_PATH_BYTES - 1] = 0;
	return nr;
}

static int change_file(const struct steward_request *r, int *fd)
{
	switch (r->act) {
	case STEWARD_OPEN:
		*fd = open(r->path[0], r->flags | O_CLOEXEC | O_NOCTTY, r->mode & 0777);
		return *fd < 0 ? -errno : 0;
	case STEWARD_RENAME:
		return rename(r->path[0], r->path[1]) ? -errno : 0;
	case STEWARD_REMOVE_OUTPUT:
		return remove(r->path[0]) ? -errno : 0;
	default:
		return -EPERM;
	}
}

/* Does path consist of the output's folder, spelt as in output, and a name that does not begin with '-', which a command could take for an
 * option? */
static bool is_beside(const char *output, const char *path)
{
	const char *slash = output ? strrchr(output, '/') : NULL;
	const size_t folder = slash ? (size_t)(slash + 1 - output) : 0;

	return output && strncmp(output, path, folder) == 0 && path[folder] && path[folder] != '-' && !strchr(path + folder, '/');
}

static void answer_request(const struct server *s, const struct steward_request *r, const int *sent, int nr_sent)
{
	const char *operand = r->path[0][0] ? r->path[0] : NULL;
	int fd = -1, result = -EPERM;

	if (s->is_opener) {
		result = r->act == STEWARD_READ ? steward_open_named(r, s->may_open, &fd) : -EPERM;
	} else if (!s->command) {
		result = change_file(r, &fd);
	} else if (r->act == STEWARD_RUN && r->number < STEWARD_COMMANDS_MAX && s->command[r->number] &&
		   (!operand || is_beside(s->output, operand))) {
		steward_execute(r, s->command[r->number], operand, sent[0]);
		return;
	} else if (r->act == STEWARD_READ) {
		result = steward_read_private(r, nr_sent == STEWARD_SENT_MAX ? sent[1] : -1, &fd);
	} else if (nr_sent == STEWARD_SENT_MAX) {
		result = steward_do_for_jvm(r, sent[1], &fd);
	}
	steward_send(sent[0], &result, sizeof(result), &fd, fd >= 0);
	if (fd >= 0)
		close(fd);
}

/* Handle requests until the end, and exit.  All signals are blocked, because a Ctrl-C on the terminal reaches this process too, and the
 * recorder sends its last requests after it. */
static void serve(const struct server *s)
{
	static struct steward_request r;
	int sent[STEWARD_SENT_MAX], nr;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	signal(SIGCHLD, SIG_IGN); /* children that execute commands send the answer by themselves, so their end need not be waited for */
	dup2(s->socket, FIRST_FD);
	syscall(SYS_close_range, FIRST_FD + 1, ~0u, 0);
	fcntl(FIRST_FD, F_SETFD, FD_CLOEXEC);
	if (!s->command && !s->is_opener) {
		confine_allow_write(s->output);
		confine_begin(CONFINE_CHANGER);
	}
	while ((nr = receive_request(FIRST_FD, &r, sent)) >= 0) {
		if (nr > 0)
			answer_request(s, &r, sent, nr);
		for (int i = 0; i < nr; i++)
			close(sent[i]);
	}
	_exit(0);
}

static int fork_server(struct server s, int *socket, pid_t *child)
{
	int ends[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -errno;
	s.socket = ends[1];
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		prctl(PR_SET_NAME, "tailor-steward");
		serve(&s);
	}
	close(ends[1]);
	*socket = ends[0];
	*child = pid;
	return pid < 0 ? -errno : 0;
}

int steward_fork_opener(bool (*may_open)(const char *path, int fd), struct steward *s)
{
	s->parent = getpid();
	return fork_server((struct server){ .is_opener = true, .may_open = may_open }, &s->steward, &s->steward_pid);
}

int steward_fork(char *const *const command[STEWARD_COMMANDS_MAX], const char *output, struct steward *s)
{
	int ret = fork_server((struct server){ .command = command, .output = output }, &s->steward, &s->steward_pid);

	s->parent = getpid();
	return ret || !output ? ret : fork_server((struct server){ .output = output }, &s->changer, &s->changer_pid);
}
