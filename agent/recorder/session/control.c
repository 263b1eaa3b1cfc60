/* SPDX-License-Identifier: MIT */
#include "agent/recorder/session/control.h"

#include "agent/recorder/guests/handshake.h"
#include "agent/recorder/process/attach_target.h"
#include "agent/recorder/process/proc_file.h"
#include "jitreg/base/command.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SUFFIX ".control"
#define ACCEPTED_MAX 16 /* at a time */
#define LOOK_WAIT_MS 2000
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

static int send_and_wait(const char *socket_name, pid_t recorder, char *const *words, int wait_ms, char *sentence, size_t bytes)
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
	if (send(wait.fd, text, at, MSG_NOSIGNAL) != (ssize_t)at || poll(&wait, 1, wait_ms) != 1 ||
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

int control_send_request(const char *socket_name, pid_t recorder, char *const *words, char *sentence, size_t bytes)
{
	return send_and_wait(socket_name, recorder, words, ANSWER_WAIT_MS, sentence, bytes);
}

static bool recorder_has(void *pid, const char *socket, pid_t recorder)
{
	char answer[CONTROL_BYTES];
	char *const words[] = { (char *)(uintptr_t)TAILOR_VERSION, (char *)(uintptr_t)CONTROL_HAS, pid, NULL };

	return send_and_wait(socket, recorder, words, LOOK_WAIT_MS, answer, sizeof(answer)) == CMD_DONE;
}

int control_find_recorder(pid_t pid, char *socket, size_t bytes, pid_t *recorder)
{
	struct proc_status s;
	char text[16];

	if (attach_target_find_recorder(pid, socket, bytes, recorder) == 0)
		return 0;
	snprintf(text, sizeof(text), "%d", (int)pid);
	*recorder = proc_status(pid, 0, &s) ? 0 : attach_target_each_recorder((uid_t)s.user, recorder_has, text, socket, bytes);
	return *recorder ? 0 : -ENOENT;
}
