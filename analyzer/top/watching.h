/* SPDX-License-Identifier: MIT */
/* One look after the other, on a screen or as lines.  Context: thread. */
#ifndef TAILOR_TOP_WATCHING_H
#define TAILOR_TOP_WATCHING_H

#include "analyzer/top/follow.h"
#include "analyzer/top/rows.h"

struct watching_options {
	struct trace_arguments trace; /* filters */
	struct follow *follow;
	const char *path; /* a trace that is gone through; NULL: what follow has */
	const char *what; /* what is looked at, for people */
	enum top_level by;
	enum top_sort sort;
	const char *pattern; /* or NULL */
	double interval_s, window_s;
	double speed; /* 0: not given */
	uint32_t looks, rows; /* 0: no end; all */
	bool whole, json, on_screen;
	bool may_wait; /* longer than interval_s, where looks take more than a hundredth of a processor */
};

/* Until the user, the host, the trace or a signal ends it.  The exit status. */
int watching_run(const struct watching_options *o);

#endif
