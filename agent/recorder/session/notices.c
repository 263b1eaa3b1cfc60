/* SPDX-License-Identifier: MIT */
/* This file reports notices and losses of a session, and what hosts lack. These go into the recording, if there is one. Notices are printed
 * for the user as well, and losses without a recording are kept for the next one. */
#include "agent/recorder/session/internal.h"
#include "jitreg/base/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void session_print_notice(void *session, const char *sentence)
{
	struct session *s = session;

	if (s->asking.notices)
		fprintf(s->asking.notices, "%s\n", sentence);
	session_progress_clear(s);
	if (!s->options.quiet)
		message_print("%s", sentence);
}

void session_notice(struct session *s, enum notice_kind kind, const char *format, ...)
{
	char text[1024];
	va_list list;

	va_start(list, format);
	vsnprintf(text, sizeof(text), format, list);
	va_end(list);
	if (s->recording)
		recording_notice(s->recording, kind, "%s", text);
	else
		session_print_notice(s, text);
}

void session_note_lack(struct session *s, pid_t pid, const struct host_lack *l)
{
	char sentence[HOST_SENTENCE_BYTES];

	if (s->recording)
		recording_note_lack(s->recording, pid, l);
	else
		session_print_notice(s, host_lack_sentence(l, sentence));
}

/* Writes the notice into the trace, and prints it for the user.  It is not printed in later epochs, since it was in the first, nor if it is
 * about a machine without hardware counters, where the user can change nothing (`tailor doctor` reports that). */
void session_note_fallback(struct session *s, enum notice_kind kind, const char *sentence)
{
	if ((kind == NOTICE_FALLBACK && !counting_machine_has_counters()) || s->epochs.number > 1)
		recording_write_notice(s->recording, kind, sentence, strlen(sentence));
	else
		recording_notice(s->recording, kind, "%s", sentence);
}

void session_add_fallback(void *session, enum notice_kind kind, const char *sentence)
{
	struct session *s = session;

	if (s->recording) {
		session_note_fallback(s, kind, sentence);
	} else if (s->notices.nr_fallbacks < FALLBACKS_MAX) {
		s->notices.fallback[s->notices.nr_fallbacks].kind = kind;
		snprintf(s->notices.fallback[s->notices.nr_fallbacks++].sentence, sizeof(s->notices.fallback[0].sentence), "%s", sentence);
	}
}

void session_count_loss(struct session *s, enum loss_reason reason, uint32_t pid, uint32_t tid, uint64_t count)
{
	if (s->recording)
		recording_count_loss(s->recording, reason, pid, tid, count);
	else
		s->lost[reason] += count;
}
