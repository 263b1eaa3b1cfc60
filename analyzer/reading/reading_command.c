/* SPDX-License-Identifier: MIT */
#include "analyzer/reading/reading_command.h"

#include "jitreg/base/clock.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#define PATIENCE_NS 500000000u /* time without a progress line, since shorter work needs none */

struct progress {
	uint64_t begin_ns;
	int shown; /* per cent; -1: nothing yet */
};

static void show_progress(void *context, uint64_t at, uint64_t total)
{
	struct progress *p = context;
	int percent = total ? (int)(100 * at / total) : 100;

	if (percent == p->shown || clock_now_ns() - p->begin_ns < PATIENCE_NS)
		return;
	fprintf(stderr, "\rreading: %d %%", percent);
	p->shown = percent;
}

/* Erases the progress line, so that the next output does not stand behind it. */
static void erase_progress(const struct progress *p)
{
	if (p->shown >= 0)
		fputs("\r               \r", stderr);
}

int reading_command_open(struct reading *r, const char *path, const struct reading_arguments *arguments,
			 void (*ask)(void *context, struct report *r), void *context)
{
	struct progress progress = { clock_now_ns(), -1 };
	struct diag d;
	int ret;

	if (isatty(2) && !r->options.each) {
		r->options.progress = show_progress;
		r->options.progress_context = &progress;
	}
	ret = reading_open(r, path, arguments, ask, context, &d);
	erase_progress(&progress);
	if (ret == 0)
		return CMD_DONE;
	message_print("%s", d.text);
	return ret == -EINVAL ? CMD_MISUSED : CMD_FAILED;
}

int reading_command_close(struct reading *r, int status)
{
	struct diag d;

	if (reading_close(r, &d) == 0)
		return status;
	message_print("%s", d.text);
	return status == CMD_DONE ? CMD_FAILED : status;
}
