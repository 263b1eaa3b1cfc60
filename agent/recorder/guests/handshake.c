/* SPDX-License-Identifier: MIT */
#include "agent/recorder/guests/handshake.h"

#include "agent/recorder/process/proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define ANCESTORS_MAX 64
#define ACCEPTED_MAX 64 /* maximum number of connections accepted per call, because a process may connect without end */

/*
 * Without a free descriptor no connection can be accepted, and the agent would wait for an answer.  So one descriptor is reserved for
 * refusing the connection.
 */
static int reserve = -1;

static void open_reserve_descriptor(void)
{
	if (reserve < 0)
		reserve = eventfd(0, EFD_CLOEXEC); /* an eventfd needs no file */
}

int handshake_listen(const char *name, struct diag *d)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	size_t bytes = strlen(name);
	int fd;

	if (bytes > sizeof(a.sun_path) - 1)
		return diag_fail(d, EINVAL, "socket name '%s' is too long", name);
	memcpy(a.sun_path + 1, name, bytes); /* an abstract name starts with NUL, and ends with the length */
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + bytes)) ||
	    listen(fd, 1024)) {
		int error = errno;

		if (fd >= 0)
			close(fd);
		return diag_fail(d, error, "cannot create the socket for agents: %s%s", strerror(error),
				 error == EMFILE ? " (ulimit -n)" : "");
	}
	open_reserve_descriptor();
	if (reserve < 0) {
		int error = errno;

		close(fd);
		return diag_fail(d, error, "cannot open descriptors for the recording: %s (ulimit -n)", strerror(error));
	}
	return fd;
}

static pid_t parent_of_process(pid_t pid)
{
	struct proc_stat s;

	return proc_stat(pid, 0, &s) ? s.parent : 0;
}

static bool is_in_trees(pid_t pid, const pid_t *trees, uint32_t nr)
{
	for (int i = 0; i < ANCESTORS_MAX && pid > 1; i++, pid = parent_of_process(pid))
		for (uint32_t k = 0; k < nr; k++)
			if (pid == trees[k])
				return true;
	return false;
}

static void refuse_handshake(struct handshake *h, int error)
{
	struct wire_answer answer = { .status = -error };

	handshake_answer(h, &answer, -1);
}

/* Accepts a connection with the reserved descriptor, and refuses it.  Returns false if there is no connection.  (Without a free descriptor
 * accept4() fails whether there is one or not.) */
static bool refuse_for_want_of_descriptors(int socket)
{
	struct handshake h = { .fd = -1 };

	if (reserve >= 0)
		close(reserve);
	reserve = -1;
	h.fd = accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (h.fd >= 0)
		refuse_handshake(&h, EMFILE);
	open_reserve_descriptor();
	return h.fd >= 0;
}

/* Receives the message of a connection that has sent something, or closed.  Returns 0, or -errno after it was refused and closed. */
static int receive_handshake_message(struct handshake *h)
{
	char control[CMSG_SPACE(sizeof(h->fds))] __attribute__((aligned(8)));
	struct iovec part = { &h->message, sizeof(h->message) };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(h->fd, &m, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	for (struct cmsghdr *c = CMSG_FIRSTHDR(&m); n >= 0 && c; c = CMSG_NXTHDR(&m, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS) {
			h->nr_fds = (int)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
			memcpy(h->fds, CMSG_DATA(c), (size_t)h->nr_fds * sizeof(int));
		}
	if (n != sizeof(h->message) || h->message.magic != WIRE_MAGIC || h->message.version != LOG_VERSION) {
		/* magic and version are the first members in all versions */
		bool other = n >= 8 && h->message.magic == WIRE_MAGIC && h->message.version != LOG_VERSION;

		refuse_handshake(h, EPROTO);
		return other ? -EPROTONOSUPPORT : -EPROTO;
	}
	if ((uint32_t)h->nr_fds < h->message.nr_fds && m.msg_flags & MSG_CTRUNC) { /* the recorder has no free descriptors */
		refuse_handshake(h, EMFILE);
		return -EMFILE;
	}
	return 0;
}

int handshake_accept(int socket, const pid_t *trees, uint32_t nr, struct visitors *silent, struct handshake *h)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);
	struct pollfd sent;

	for (int i = 0; i < ACCEPTED_MAX; i++) {
		*h = (struct handshake){ .fd = accept4(socket, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) };
		if (h->fd < 0 && (errno == EMFILE || errno == ENFILE) && refuse_for_want_of_descriptors(socket))
			return -EMFILE;
		if (h->fd < 0)
			break;
		if (getsockopt(h->fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes)) {
			close(h->fd);
			return -EPROTO;
		}
		/* every process can connect to an abstract socket, so the user is checked */
		if (peer.uid != geteuid() && peer.uid != 0 && !is_in_trees(peer.pid, trees, nr)) {
			refuse_handshake(h, EPERM);
			return -EPERM;
		}
		h->pid = peer.pid;
		sent = (struct pollfd){ h->fd, POLLIN, 0 };
		if (poll(&sent, 1, 0) == 1)
			return receive_handshake_message(h);
		visitors_add(silent, h->fd, h->pid);
	}
	*h = (struct handshake){ .fd = -1 };
	h->fd = visitors_take_ready(silent, &h->pid);
	return h->fd < 0 ? -EAGAIN : receive_handshake_message(h);
}

bool handshake_answer(struct handshake *h, struct wire_answer *answer, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = { 0 };
	struct iovec part = { answer, sizeof(*answer) };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	ssize_t sent;

	answer->magic = WIRE_MAGIC;
	answer->version = LOG_VERSION;
	answer->attr_bytes = WIRE_ATTR_BYTES;
	if (fd >= 0) {
		struct cmsghdr *c;

		m.msg_control = control;
		m.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&m);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &fd, sizeof(int));
	}
	do {
		sent = sendmsg(h->fd, &m, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	for (int i = 0; i < h->nr_fds; i++)
		if (h->fds[i] >= 0)
			close(h->fds[i]);
	close(h->fd);
	return sent >= 0;
}
