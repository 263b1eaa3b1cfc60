/* SPDX-License-Identifier: MIT */
/*
 * Reads a trace, or a window of a store, into a report. Nothing here prints, and errors are sentences in a struct diag. Commands that print
 * them on stderr use reading_command.h. Context: thread.
 */
#ifndef TAILOR_READING_H
#define TAILOR_READING_H

#include "analyzer/query/report.h"
#include "analyzer/reading/reading_arguments.h"

/* This is a trace that has been read. It owns reader, model, attribution and report. */
struct reading {
	struct trace_reader *reader;
	struct model *model;
	struct attribution *attribution;
	struct report report;
	/* The caller may set each, also_by_stack, progress and progress_context before reading_open(), which sets the other members. */
	struct attribute_options options;
	bool damaged; /* a part of the trace could not be read, which `damage` describes */
	char damage[1024];
};

/*
 * Opens the trace or the window of a store at path, builds its model, lets ask(context, report) request the sums, and reads all samples.
 * Unless arguments->live is set, waits at most ten seconds for a recorder that is still writing the trace. *r is zero before, except for
 * r->options. Of a damaged trace, the readable part is read, and reading_close() returns the error. Returns 0, or -errno with a sentence,
 * after which *r is zero and needs no reading_close(). -EINVAL: the arguments name something that the trace does not have, or the window of
 * a store cannot be parsed.
 */
int reading_open(struct reading *r, const char *path, const struct reading_arguments *arguments,
		 void (*ask)(void *context, struct report *r), void *context, struct diag *d);
/*
 * Frees all that *r owns, and sets it to zero. Returns 0, -EBADMSG with a sentence if a part of the trace could not be read, or -E2BIG with
 * a sentence if reading and reporting exceeded the budget. What was shown before is incomplete then.
 */
int reading_close(struct reading *r, struct diag *d);

#endif
