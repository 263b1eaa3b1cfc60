/* SPDX-License-Identifier: MIT */
#include "agent/recorder/session/control.h"

#include "agent/recorder/guests/handshake.h"
#include "agent/recorder/process/listeners.h"
#include "agent/recorder/process/proc_file.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACCEPTED_MAX 16 /* at a time */
#define LOOK_MS 100

static void name_of_control_socket(const char *socket, char name[128])
{
	snprintf(name, 128, "%s" CONTROL_SUFFIX, socket);
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
	struct control_answer_message a = { .status = status };

	snprintf(a.sentence, sizeof(a.sentence), "%s", sentence);
	if (send(fd, &a, sizeof(a), MSG_NOSIGNAL) < 0)
		errno = 0; /* who asked has gone */
	close(fd);
}

bool control_send_words(int fd, char *const *words)
{
	char text[CONTROL_BYTES];
	size_t at = 0;

	for (; *words; words++) {
		size_t n = strlen(*words) + 1;

		if (n > sizeof(text) - at) {
			errno = E2BIG;
			return false;
		}
		memcpy(text + at, *words, n);
		at += n;
	}
	return send(fd, text, at, MSG_NOSIGNAL) == (ssize_t)at;
}

bool control_is_stopped(pid_t recorder)
{
	struct proc_status s;

	return proc_status(recorder, 0, &s) == 0 && (s.state == 'T' || s.state == 't');
}

/* 0; -ETIMEDOUT; -EBUSY: it is stopped. */
static int wait_for_answer(int fd, pid_t recorder, int most_ms)
{
	struct pollfd wait = { fd, POLLIN, 0 };
	int stopped_ms = 0;

	for (int ms = 0; ms < most_ms; ms += LOOK_MS) {
		if (poll(&wait, 1, LOOK_MS) > 0)
			return 0;
		stopped_ms = control_is_stopped(recorder) ? stopped_ms + LOOK_MS : 0;
		if (stopped_ms >= CONTROL_STOPPED_MS)
			return -EBUSY;
	}
	return -ETIMEDOUT;
}

static int fail_unanswered(int error, pid_t recorder, int most_ms, char *sentence, size_t bytes)
{
	if (error == -EBUSY)
		snprintf(sentence, bytes, "its recorder, process %d, is stopped (kill -CONT %d lets it go on)", (int)recorder, (int)recorder);
	else if (error == -ETIMEDOUT)
		snprintf(sentence, bytes, "its recorder, process %d, did not answer within %d s", (int)recorder, most_ms / 1000);
	else
		snprintf(sentence, bytes, "no answer from its recorder (it has exited, or belongs to another user)");
	return error;
}

/* Any process can take an abstract name: only the one that is known to be the recorder is asked. */
static int connect_to_recorder(const char *socket_name, pid_t recorder)
{
	char name[LISTENER_NAME_BYTES];
	struct proc_status s;
	pid_t pid = 0;
	int fd;

	name_of_control_socket(socket_name, name);
	fd = listener_connect(name, proc_status(recorder, 0, &s) ? geteuid() : (uid_t)s.effective_user, &pid);
	if (fd >= 0 && pid != recorder) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

int control_send_request(const char *socket_name, pid_t recorder, char *const *words, char *sentence, size_t bytes)
{
	int most_ms = strcmp(words[1], "status") == 0 ? CONTROL_STATUS_MS : CONTROL_ANSWER_MS;
	int fd = connect_to_recorder(socket_name, recorder), ret;
	struct control_answer_message a = { 0 };

	if (fd == -EAGAIN) /* so many wait for it already */
		return fail_unanswered(control_is_stopped(recorder) ? -EBUSY : -ETIMEDOUT, recorder, 0, sentence, bytes);
	if (fd < 0) {
		snprintf(sentence, bytes, "its recorder cannot be reached: %s", strerror(-fd));
		return fd;
	}
	errno = 0;
	if (!control_send_words(fd, words)) {
		ret = errno == E2BIG ? -E2BIG : -EPROTO;
		if (ret == -E2BIG)
			snprintf(sentence, bytes, "the options are too long");
		else
			fail_unanswered(ret, recorder, most_ms, sentence, bytes);
		close(fd);
		return ret;
	}
	ret = wait_for_answer(fd, recorder, most_ms);
	if (ret == 0 && recv(fd, &a, sizeof(a), 0) != sizeof(a))
		ret = -EPROTO;
	close(fd);
	if (ret)
		return fail_unanswered(ret, recorder, most_ms, sentence, bytes);
	a.sentence[sizeof(a.sentence) - 1] = 0;
	snprintf(sentence, bytes, "%s", a.sentence);
	return a.status;
}
