/* SPDX-License-Identifier: MIT */
#include "agent/recorder/session/control.h"

#include "agent/recorder/guests/handshake.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SUFFIX ".control"
#define ACCEPTED_MAX 16 /* at a time */
#define ANSWER_WAIT_MS 60000 /* the end of a recording writes the images' files */

struct answer {
	int status;
	char sentence[CONTROL_BYTES];
};

static void name_of_control_socket(const char *socket, char name[128])
{
	snprintf(name, 128, "%s" SUFFIX, socket);
}

int control_listen(const char *socket)
{
	char name[128];
	struct diag d;

	name_of_control_socket(socket, name);
	return handshake_listen(name, &d);
}

/* Of one that has sent something, or closed. */
static int receive_request_words(struct control_request *r)
{
	ssize_t n = recv(r->fd, r->text, CONTROL_BYTES, MSG_DONTWAIT);

	if (n <= 0) {
		close(r->fd);
		return -EPERM;
	}
	r->text[n] = 0;
	for (char *at = r->text; at < r->text + n && r->nr < CONTROL_WORDS; at += strlen(at) + 1)
		r->word[r->nr++] = at;
	r->word[r->nr] = NULL;
	return 0;
}

int control_accept_request(int listener, struct visitors *silent, struct control_request *r)
{
	struct ucred peer;
	socklen_t bytes = sizeof(peer);

	r->nr = 0;
	for (int i = 0; i < ACCEPTED_MAX; i++) {
		r->fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (r->fd < 0)
			break;
		if (getsockopt(r->fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) || (peer.uid != 0 && peer.uid != geteuid())) {
			close(r->fd);
			return -EPERM;
		}
		visitors_add(silent, r->fd, peer.pid);
	}
	r->fd = visitors_take_ready(silent, &peer.pid);
	return r->fd < 0 ? -EAGAIN : receive_request_words(r);
}

void control_answer(int fd, int status, const char *sentence)
{
	struct answer a = { .status = status };

	snprintf(a.sentence, sizeof(a.sentence), "%s", sentence);
	if (send(fd, &a, sizeof(a), MSG_NOSIGNAL) < 0)
		errno = 0; /* who asked has gone */
	close(fd);
}

/* Any process can take an abstract name: only the one that is known to be the recorder is asked. */
static int connect_to_recorder_socket(const char *socket_name, pid_t recorder)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	char name[128];
	size_t bytes;
	struct ucred peer;
	socklen_t peer_bytes = sizeof(peer);
	int fd;

	name_of_control_socket(socket_name, name);
	bytes = strlen(name);
	if (bytes > sizeof(a.sun_path) - 1)
		return -ENAMETOOLONG;
	memcpy(a.sun_path + 1, name, bytes);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd >= 0 && connect(fd, (struct sockaddr *)&a, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + bytes))) {
		int error = errno;

		close(fd);
		return -error;
	}
	if (fd >= 0 && (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_bytes) || peer.pid != recorder)) {
		close(fd);
		return -EPERM;
	}
	return fd < 0 ? -errno : fd;
}

int control_send_request(const char *socket_name, pid_t recorder, char *const *words, char *sentence, size_t bytes)
{
	char text[CONTROL_BYTES];
	struct answer a = { 0 };
	struct pollfd wait = { .events = POLLIN };
	size_t at = 0;
	int ret = 0;

	for (; *words; words++) {
		size_t n = strlen(*words) + 1;

		if (n > sizeof(text) - at) {
			snprintf(sentence, bytes, "the options are too long");
			return -E2BIG;
		}
		memcpy(text + at, *words, n);
		at += n;
	}
	wait.fd = connect_to_recorder_socket(socket_name, recorder);
	if (wait.fd < 0) {
		snprintf(sentence, bytes, "its recorder cannot be reached: %s", strerror(-wait.fd));
		return wait.fd;
	}
	if (send(wait.fd, text, at, MSG_NOSIGNAL) != (ssize_t)at || poll(&wait, 1, ANSWER_WAIT_MS) != 1 ||
	    recv(wait.fd, &a, sizeof(a), 0) != sizeof(a)) {
		ret = -EPROTO;
		snprintf(sentence, bytes, "no answer from its recorder (it has exited, or belongs to another user)");
	} else {
		a.sentence[sizeof(a.sentence) - 1] = 0;
		snprintf(sentence, bytes, "%s", a.sentence);
		ret = a.status;
	}
	close(wait.fd);
	return ret;
}
