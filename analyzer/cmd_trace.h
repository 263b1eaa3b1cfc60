/* SPDX-License-Identifier: MIT */
/*
 * What all commands that look into a trace share: the options that say which samples, and reading it once into a report.
 * Context: thread.
 */
#ifndef TAILOR_CMD_TRACE_H
#define TAILOR_CMD_TRACE_H

#include "report.h"

#include <argp.h>

/* Options of a command's struct arguments that begin with this. */
struct trace_arguments {
	struct filter_arguments filter;
	const char *level;
	bool stack_only;
	enum unwind_way unwinder;
};

/* As a child of a command's argp; its input is the struct trace_arguments (set child_inputs[0] in ARGP_KEY_INIT). */
extern const struct argp trace_argp;

struct trace_session {
	struct trace_reader *reader;
	struct model *model;
	struct attribution *attribution;
	struct report report;
	struct attribute_options options;
	bool damaged;
	char damage[1024];
};

/*
 * Open path, build its model, let ask(context, report) say what is to be summed up, and read all samples.  CMD_DONE, or
 * CMD_FAILED or CMD_MISUSED with a sentence on stderr.  On success the caller closes; a damaged trace is no failure here.
 */
int trace_session_read(struct trace_session *s, const char *path, const struct trace_arguments *arguments,
		       void (*ask)(void *context, struct report *r), void *context);
/* Say on stderr what was damaged; CMD_FAILED for a damaged trace, else status.  Frees all. */
int trace_session_close(struct trace_session *s, int status);
/* One sentence on stderr, as all commands say it. */
void trace_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
