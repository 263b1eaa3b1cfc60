/* SPDX-License-Identifier: MIT */
/*
 * This file sends requests to a recorder, receives and answers them there, and finds the recorder of a process. To find it, all recorders
 * may have to be asked, and one that is stopped or hangs must not delay the requester, so they are asked at once, and have half a second
 * together.
 */
#include "agent/recorder/session/control.h"

#include "agent/recorder/guests/handshake.h"
#include "agent/recorder/process/attach_target.h"
#include "agent/recorder/process/listeners.h"
#include "agent/recorder/process/proc_file.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/command.h"
#include "jitreg/base/grow.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define SUFFIX ".control" /* appended to the name of the guests' socket */
#define ACCEPTED_MAX 16 /* maximum number of connections that one call of control_accept_request() accepts */
#define LOOK_MS 100
#define ALL_NS 500000000ull /* time for the answers of all recorders together */
#define SHOWN_MAX 8

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

/* Called when r->fd is readable, because its peer has sent something or closed. Sets the words to the first CONTROL_WORDS texts of the
 * message. Returns 0. If nothing was sent or recv(2) fails, closes r->fd and returns -EPERM. */
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
		errno = 0; /* an answer is dropped if the requester does not take it, mostly since it has closed its end */
	close(fd);
}

static bool send_words(int fd, char *const *words)
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

static bool is_stopped(pid_t recorder)
{
	struct proc_status s;

	return proc_status(recorder, 0, &s) == 0 && (s.state == 'T' || s.state == 't');
}

/* Waits until the recorder has answered or closed the connection.  Returns 0, -ETIMEDOUT, or -EBUSY if the recorder has been stopped
 * (SIGSTOP) for CONTROL_STOPPED_MS. */
static int wait_for_answer(int fd, pid_t recorder, int most_ms)
{
	struct pollfd wait = { fd, POLLIN, 0 };
	int stopped_ms = 0;

	for (int ms = 0; ms < most_ms; ms += LOOK_MS) {
		if (poll(&wait, 1, LOOK_MS) > 0)
			return 0;
		stopped_ms = is_stopped(recorder) ? stopped_ms + LOOK_MS : 0;
		if (stopped_ms >= CONTROL_STOPPED_MS)
			return -EBUSY;
	}
	return -ETIMEDOUT;
}

static int fail_unanswered(int error, pid_t recorder, int most_ms, char *sentence, size_t bytes)
{
	if (error == -EBUSY)
		snprintf(sentence, bytes, "its recorder, process %d, is stopped (kill -CONT %d lets it go on)", (int)recorder,
			 (int)recorder);
	else if (error == -EAGAIN)
		snprintf(sentence, bytes, "its recorder, process %d, accepts no further requests now; try again", (int)recorder);
	else if (error == -ETIMEDOUT)
		snprintf(sentence, bytes, "its recorder, process %d, did not answer within %d s", (int)recorder, most_ms / 1000);
	else
		snprintf(sentence, bytes, "no answer from its recorder (it has exited, or belongs to another user)");
	return error;
}

/* Any process can take an abstract name, so requests go only to the process that is known to be the recorder. */
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
	struct answer a = { 0 };

	if (fd == -EAGAIN) /* the recorder's queue of connections is full, as when it is stopped or hangs */
		return fail_unanswered(is_stopped(recorder) ? -EBUSY : fd, recorder, 0, sentence, bytes);
	if (fd < 0) {
		snprintf(sentence, bytes, "its recorder cannot be reached: %s", strerror(-fd));
		return fd;
	}
	errno = 0;
	if (!send_words(fd, words)) {
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

/* ---------------------------------------------------------------------------------------- which of all recorders records a process */

struct question {
	uid_t owner;
	char pid[16];
	const struct control_silent *silent;
	ARRAY(struct control_silent_recorder) asked;
	ARRAY(struct pollfd) wait; /* connection to each asked recorder; fd is -1 once that has answered or closed it */
};

static bool was_silent(const struct control_silent *s, const char *socket)
{
	for (uint32_t i = 0; i < s->nr && i < CONTROL_SILENT_MAX; i++)
		if (strcmp(s->recorder[i].socket, socket) == 0)
			return true;
	return false;
}

static int ask_listener(void *question, const char *name)
{
	struct question *q = question;
	char *const words[] = { (char *)(uintptr_t)TAILOR_VERSION, (char *)(uintptr_t)CONTROL_HAS, q->pid, NULL };
	struct control_silent_recorder r = { 0 };
	int bytes = (int)(strlen(name) - strlen(SUFFIX)), fd;

	if ((size_t)snprintf(r.socket, sizeof(r.socket), "%.*s", bytes, name) >= sizeof(r.socket) || was_silent(q->silent, r.socket))
		return 0;
	fd = listener_connect(name, q->owner, &r.pid);
	if (fd < 0)
		return 0;
	if (!send_words(fd, words) || !ARRAY_GROW(q->asked) || !ARRAY_GROW(q->wait)) {
		close(fd);
		return 0;
	}
	q->asked.at[q->asked.nr++] = r;
	q->wait.at[q->wait.nr++] = (struct pollfd){ fd, POLLIN, 0 };
	return 0;
}

static bool says_yes(int fd)
{
	struct answer a;

	return recv(fd, &a, sizeof(a), MSG_DONTWAIT) == sizeof(a) && a.status == CMD_DONE;
}

/* Returns the first recorder that says that it records the process, or NULL once all have said no or closed the connection, or ALL_NS is
 * over. */
static const struct control_silent_recorder *wait_for_yes(struct question *q)
{
	uint64_t until_ns = clock_now_ns() + ALL_NS, now_ns;
	uint32_t nr_left = q->wait.nr;

	while (nr_left && (now_ns = clock_now_ns()) < until_ns) {
		if (poll(q->wait.at, q->wait.nr, 1 + (int)((until_ns - now_ns) / 1000000)) <= 0)
			continue;
		for (uint32_t i = 0; i < q->wait.nr; i++) {
			bool yes;

			if (q->wait.at[i].fd < 0 || !q->wait.at[i].revents)
				continue;
			yes = says_yes(q->wait.at[i].fd);
			close(q->wait.at[i].fd);
			q->wait.at[i].fd = -1;
			nr_left--;
			if (yes)
				return &q->asked.at[i];
		}
	}
	return NULL;
}

static void end_question(struct question *q, struct control_silent *silent, bool is_answered)
{
	for (uint32_t i = 0; i < q->wait.nr; i++) {
		if (q->wait.at[i].fd < 0)
			continue;
		close(q->wait.at[i].fd);
		if (!is_answered && silent->nr < CONTROL_SILENT_MAX)
			silent->recorder[silent->nr] = q->asked.at[i];
		silent->nr += !is_answered;
	}
	free(q->asked.at);
	free(q->wait.at);
}

int control_find_recorder(pid_t pid, struct control_silent *silent, char *socket, size_t bytes, pid_t *recorder)
{
	struct question q = { .silent = silent };
	const struct control_silent_recorder *found;
	struct proc_status s;

	if (attach_target_find_recorder(pid, socket, bytes, recorder) == 0)
		return 0;
	*recorder = 0;
	if (proc_status(pid, 0, &s))
		return -ENOENT;
	q.owner = (uid_t)s.user;
	snprintf(q.pid, sizeof(q.pid), "%d", (int)pid);
	listeners_each("tailor-", SUFFIX, ask_listener, &q);
	found = wait_for_yes(&q);
	if (found && (size_t)snprintf(socket, bytes, "%s", found->socket) < bytes)
		*recorder = found->pid;
	end_question(&q, silent, found != NULL);
	return *recorder ? 0 : -ENOENT;
}

const char *control_silent_text(const struct control_silent *s)
{
	static char text[64 * SHOWN_MAX]; /* only one thread calls this */
	size_t at = 0;

	text[0] = 0;
	for (uint32_t i = 0; i < s->nr && i < SHOWN_MAX; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%sprocess %d%s", i == 0 ? "" : i + 1 == s->nr ? " and " : ", ",
				       (int)s->recorder[i].pid, is_stopped(s->recorder[i].pid) ? " (stopped)" : "");
	if (s->nr > SHOWN_MAX)
		snprintf(text + at, sizeof(text) - at, " and %u more", s->nr - SHOWN_MAX);
	return text;
}
