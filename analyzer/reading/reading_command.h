/* SPDX-License-Identifier: MIT */
/* Reads a trace for a command, and turns the errors of reading.h into messages and exit statuses. Context: thread. */
#ifndef TAILOR_READING_COMMAND_H
#define TAILOR_READING_COMMAND_H

#include "analyzer/reading/reading.h"

/*
 * Calls reading_open(). Shows the progress after half a second if stderr is a terminal and r->options.each is NULL. Returns CMD_DONE, and
 * then the caller calls reading_command_close(). Otherwise returns CMD_MISUSED (for -EINVAL) or CMD_FAILED after a message on stderr, and
 * *r needs no closing.
 */
int reading_command_open(struct reading *r, const char *path, const struct reading_arguments *arguments,
			 void (*ask)(void *context, struct report *r), void *context);
/*
 * Calls reading_close(). Returns status, the exit status of the command so far. If the trace was damaged, or its budget was exceeded,
 * prints a message on stderr, and returns CMD_FAILED instead of CMD_DONE.
 */
int reading_command_close(struct reading *r, int status);

#endif
