/* SPDX-License-Identifier: MIT */
/* Runs the loop of `tailor top`, which reads the trace every few seconds, and shows the rows on a screen or as lines.  Context: thread. */
#ifndef TAILOR_TOP_WATCHING_H
#define TAILOR_TOP_WATCHING_H

#include "analyzer/reading/reading_arguments.h"
#include "analyzer/top/follow.h"
#include "analyzer/top/rows.h"

struct watching_options {
	struct reading_arguments trace; /* filters */
	struct follow *follow;
	const char *path; /* complete trace to go through; NULL: the growing trace of follow */
	const char *what; /* name of the trace, store, processes or command, for the title */
	enum top_level by;
	enum top_sort sort;
	const char *pattern; /* regular expression for rows, or NULL */
	double interval_s, window_s;
	double speed; /* a complete trace is gone through so many times as fast as it was recorded; 0: not given */
	uint32_t looks, rows; /* looks: how often rows are shown, 0 for no end; rows: 0 for all */
	bool whole, json, on_screen;
	bool may_wait; /* the interval becomes longer if reading and showing the trace takes more than 1 % of a processor */
};

/* Runs until the user, the end of the host, a signal, the number of looks, or a failure ends it. Without a screen, the end of a complete
 * trace ends it, too. Returns the exit status. */
int watching_run(const struct watching_options *o);

#endif
