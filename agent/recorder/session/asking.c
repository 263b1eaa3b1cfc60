/* SPDX-License-Identifier: MIT */
/*
 * Asks the recorders of the machine which of them records a process.  One that is stopped, or hangs, must not delay the others: all are
 * asked at once, and what has not answered in half a second is not waited for.
 */
#include "agent/recorder/session/control.h"

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

#define ALL_NS 500000000ull
#define SHOWN_MAX 8

struct question {
	uid_t owner;
	char pid[16];
	const struct control_silent *silent;
	struct control_silent_recorder *asked;
	struct pollfd *wait; /* as many; fd -1: it has answered */
	uint32_t nr, asked_capacity, wait_capacity;
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
	int bytes = (int)(strlen(name) - strlen(CONTROL_SUFFIX)), fd;

	if ((size_t)snprintf(r.socket, sizeof(r.socket), "%.*s", bytes, name) >= sizeof(r.socket) || was_silent(q->silent, r.socket))
		return 0;
	fd = listener_connect(name, q->owner, &r.pid);
	if (fd < 0)
		return 0;
	if (!control_send_words(fd, words) || !GROW(q->asked, q->nr, q->asked_capacity) || !GROW(q->wait, q->nr, q->wait_capacity)) {
		close(fd);
		return 0;
	}
	q->asked[q->nr] = r;
	q->wait[q->nr++] = (struct pollfd){ fd, POLLIN, 0 };
	return 0;
}

static bool says_yes(int fd)
{
	struct control_answer_message a;

	return recv(fd, &a, sizeof(a), MSG_DONTWAIT) == sizeof(a) && a.status == CMD_DONE;
}

/* The one that records it; NULL: none has said so in time. */
static const struct control_silent_recorder *wait_for_yes(struct question *q)
{
	uint64_t until_ns = clock_now_ns() + ALL_NS, now_ns;
	uint32_t nr_left = q->nr;

	while (nr_left && (now_ns = clock_now_ns()) < until_ns) {
		if (poll(q->wait, q->nr, 1 + (int)((until_ns - now_ns) / 1000000)) <= 0)
			continue;
		for (uint32_t i = 0; i < q->nr; i++) {
			bool yes;

			if (q->wait[i].fd < 0 || !q->wait[i].revents)
				continue;
			yes = says_yes(q->wait[i].fd);
			close(q->wait[i].fd);
			q->wait[i].fd = -1;
			nr_left--;
			if (yes)
				return &q->asked[i];
		}
	}
	return NULL;
}

static void end_question(struct question *q, struct control_silent *silent, bool is_answered)
{
	for (uint32_t i = 0; i < q->nr; i++) {
		if (q->wait[i].fd < 0)
			continue;
		close(q->wait[i].fd);
		if (!is_answered && silent->nr < CONTROL_SILENT_MAX)
			silent->recorder[silent->nr] = q->asked[i];
		silent->nr += !is_answered;
	}
	free(q->asked);
	free(q->wait);
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
	listeners_each("tailor-", CONTROL_SUFFIX, ask_listener, &q);
	found = wait_for_yes(&q);
	if (found && (size_t)snprintf(socket, bytes, "%s", found->socket) < bytes)
		*recorder = found->pid;
	end_question(&q, silent, found != NULL);
	return *recorder ? 0 : -ENOENT;
}

const char *control_silent_text(const struct control_silent *s)
{
	static char text[64 * SHOWN_MAX]; /* one thread */
	size_t at = 0;

	text[0] = 0;
	for (uint32_t i = 0; i < s->nr && i < SHOWN_MAX; i++)
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%sprocess %d%s", i == 0 ? "" : i + 1 == s->nr ? " and " : ", ",
				       (int)s->recorder[i].pid, control_is_stopped(s->recorder[i].pid) ? " (stopped)" : "");
	if (s->nr > SHOWN_MAX)
		snprintf(text + at, sizeof(text) - at, " and %u more", s->nr - SHOWN_MAX);
	return text;
}
