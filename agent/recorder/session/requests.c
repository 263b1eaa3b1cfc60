/* SPDX-License-Identifier: MIT */
/* This file answers the requests to the recorder (control.h), which are to start or stop a recording, to tell its status, and whether it
 * records a process. */
#include "agent/recorder/session/internal.h"

#include "agent/recorder/process/attach_target.h"
#include "agent/recorder/process/proc_file.h"
#include "agent/recorder/session/options.h"
#include "jitreg/base/clock.h"
#include "jitreg/base/command.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REQUESTS_MAX 16 /* maximum number of requests that are answered in a round of the loop */
#define ANCESTORS_MAX 64

static void answer_status_request(struct session *s, struct control_request *r)
{
	char text[512 + PATH_MAX];
	uint64_t records = 0, bytes = 0;
	unsigned guests = 0;

	for (size_t i = 0; i < s->guests.nr; i++)
		if (s->guests.at[i].log.head) {
			guests++;
			records += s->guests.at[i].store ? registration_cache_nr_records(s->guests.at[i].store) : 0;
			bytes += s->guests.at[i].store ? registration_cache_bytes(s->guests.at[i].store) : 0;
		}
	if (s->recording) {
		struct recording_state state = recording_state(s->recording);

		snprintf(text, sizeof(text), "is being recorded into %s: %.0f s, %llu samples, %.1f MiB", s->options.output,
			 (double)(clock_now_ns() - state.begin_ns) / 1e9, (unsigned long long)state.samples,
			 (double)state.bytes / (1 << 20));
	} else {
		snprintf(text, sizeof(text), "is dormant: %llu registrations of %u process%s (%.1f MiB); `tailor start` starts a recording",
			 (unsigned long long)records, guests, guests == 1 ? "" : "es", (double)bytes / (1 << 20));
	}
	control_answer(r->fd, CMD_DONE, text);
}

/* Begins a recording of the tree of the first named process and of all guests, and writes what these have registered so far into it.
 * Returns 0, or -errno with a sentence. */
static int start_tree_recording(struct session *s, struct diag *d)
{
	int ret;

	s->options.command = attach_target_read_command(s->root.pid);
	ret = session_begin_recording(s, d);
	if (ret)
		return ret;
	ret = session_attach_tree(s, s->root.pid);
	if (ret) {
		diag_fail(d, -ret, "cannot count %s: %s", counting_events(s->counting)->event[0].name, strerror(-ret));
		session_drop_recording(s);
		return ret;
	}
	session_replay_guests(s);
	return 0;
}

/* Begins a recording with the options of the request: word[0] is the requester's version, word[1] the request, and from word[2] on there
 * are the options as `tailor start` or `attach` got and checked them. */
static void answer_start_request(struct session *s, struct control_request *r, bool our_child)
{
	struct session_options o = s->dormant.options;
	char sentence[512 + PATH_MAX], text[CONTROL_BYTES], *notices = NULL;
	struct diag d = { "" };
	size_t bytes = 0;
	int ret, nr = r->nr - 1;

	if (s->recording) {
		snprintf(sentence, sizeof(sentence), "is already being recorded into %s; %s", s->options.output,
			 our_child && !s->options.dormant ? "that recording ends with its command" :
			 "end that recording with `tailor stop`");
		control_answer(r->fd, CONTROL_PROCESS_IS, sentence);
		return;
	}
	s->dormant.words = *r; /* argp_parse() makes the options point into the text, so they need a copy that stays */
	for (int i = 0; i <= r->nr; i++)
		s->dormant.words.word[i] = r->word[i] ? s->dormant.words.text + (r->word[i] - r->text) : NULL;
	if (argp_parse(&request_argp, nr, s->dormant.words.word + 1, ARGP_NO_EXIT | ARGP_NO_HELP, NULL, &o)) {
		control_answer(r->fd, CMD_MISUSED, "its recorder does not support these options");
		return;
	}
	o.quiet = true;	   /* stderr is the host's, so notices go only to the requester and into the trace */
	o.duration_ns = 0; /* `tailor attach` itself waits that long, and then requests the end */
	s->options = o;
	s->asking.notices = open_memstream(&notices, &bytes);
	ret = start_tree_recording(s, &d);
	if (s->asking.notices && fclose(s->asking.notices) == 0 && bytes)
		notices[bytes - 1] = 0; /* removes the last newline */
	s->asking.notices = NULL;
	snprintf(sentence, sizeof(sentence), "is being recorded into %s", s->options.output);
	snprintf(text, sizeof(text), "%s%s%s", ret ? d.text : sentence, bytes ? "\n" : "", bytes ? notices : "");
	control_answer(r->fd, ret ? CMD_FAILED : CMD_DONE, text);
	free(notices);
}

static void answer_stop_request(struct session *s, struct control_request *r, bool our_child)
{
	struct diag d = { "" };

	if (!s->recording) {
		control_answer(r->fd, CONTROL_PROCESS_IS, "is not being recorded");
	} else if (s->options.dormant) {
		int ret = session_end_recording(s, -1, &d);

		control_answer(r->fd, ret ? CMD_FAILED : CMD_DONE, ret ? d.text : s->result);
	} else if (our_child) {
		control_answer(r->fd, CONTROL_PROCESS_IS, "is being recorded by `tailor run`; that recording ends with its command");
	} else if (s->asking.fd >= 0) {
		control_answer(r->fd, CONTROL_PROCESS_IS, "is being recorded; another `tailor stop` has already requested its end");
	} else {
		s->asking.fd = r->fd; /* session_answer_stop_request() answers it when the trace is complete */
		s->waiting.stop = true;
	}
}

/* Is the process, or an ancestor of it, noted as counted or attached to? Looks at ANCESTORS_MAX processes at most. */
static bool is_being_recorded(const struct session *s, pid_t pid)
{
	struct proc_stat stat;

	for (int depth = 0; s->recording && pid > 1 && depth < ANCESTORS_MAX; depth++) {
		if (session_epochs_has_process(s, pid, false))
			return true;
		for (uint32_t i = 0; i < s->root.attached.nr; i++)
			if (s->root.attached.at[i] == pid)
				return true;
		if (!proc_stat(pid, 0, &stat))
			return false;
		pid = stat.parent;
	}
	return false;
}

void session_serve_control(struct session *s, bool our_child)
{
	static struct control_request r; /* only one thread calls this */
	int ret, nr = 0;

	s->asking.now = false;
	while (nr++ < REQUESTS_MAX && (ret = control_accept_request(s->asking.socket, &s->asking.silent, &r)) != -EAGAIN) {
		if (ret)
			continue;
		if (r.nr < 2 || strcmp(r.word[0], TAILOR_VERSION) != 0)
			control_answer(r.fd, CMD_FAILED, "its recorder is tailor " TAILOR_VERSION ", this command is another version; use "
				       "the recorder's version");
		else if (strcmp(r.word[1], CONTROL_HAS) == 0)
			control_answer(r.fd, r.nr > 2 && is_being_recorded(s, (pid_t)atoi(r.word[2])) ? CMD_DONE : CMD_FAILED, "");
		else if (strcmp(r.word[1], "status") == 0)
			answer_status_request(s, &r);
		else if (strcmp(r.word[1], "start") == 0)
			answer_start_request(s, &r, our_child);
		else if (strcmp(r.word[1], "stop") == 0)
			answer_stop_request(s, &r, our_child);
		else
			control_answer(r.fd, CMD_FAILED, "its recorder does not support this request");
	}
}

void session_answer_stop_request(struct session *s)
{
	if (s->asking.fd >= 0)
		control_answer(s->asking.fd, CMD_DONE, s->result);
	s->asking.fd = -1;
}
