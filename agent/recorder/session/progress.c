/* SPDX-License-Identifier: MIT */
/*
 * This file shows the samples and losses of the recording so far in one line on the terminal, if stderr is one and the user wants messages.
 * If the recorder has started the host, stdout must not be a terminal, since the line would stand amid the host's output.
 */
#include "agent/recorder/session/internal.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define EVERY_NS 500000000ull
#define CLEAR "\r\033[K"

void session_progress_start(struct session *s, bool our_child)
{
	s->progress.hint = our_child ? "" : " (Ctrl-C stops)";
	s->progress.wanted = !s->options.quiet && isatty(STDERR_FILENO) && !(our_child && isatty(STDOUT_FILENO));
}

void session_progress_show(struct session *s, uint64_t now_ns)
{
	struct recording_state state;
	uint64_t lost = 0;

	if (!s->progress.wanted || !s->recording || now_ns - s->progress.shown_ns < EVERY_NS)
		return;
	state = recording_state(s->recording);
	for (int i = 0; i < NR_LOSSES; i++)
		lost += trace_losses[i].of == LOSS_OF_SAMPLES ? state.lost[i] : 0;
	s->progress.shown_ns = now_ns;
	s->progress.shown = true;
	fprintf(stderr, CLEAR "%s: %.0f s, %llu samples, %llu lost, %.1f MiB%s", program_invocation_name,
		(double)(now_ns - state.begin_ns) / 1e9, (unsigned long long)state.samples, (unsigned long long)lost,
		(double)state.bytes / (1 << 20), s->progress.hint);
	fflush(stderr);
}

void session_progress_clear(struct session *s)
{
	if (s->progress.shown)
		fputs(CLEAR, stderr);
	s->progress.shown = false;
}
