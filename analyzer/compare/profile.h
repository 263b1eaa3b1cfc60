/* SPDX-License-Identifier: MIT */
/*
 * What of a report can be compared with another one: entries (components of a level, or functions) with what they cost, over
 * all and per execution, and enough of their surroundings to find them again in another trace.  Context: thread.
 */
#ifndef TAILOR_PROFILE_H
#define TAILOR_PROFILE_H

#include "analyzer/query/report.h"

struct profile_entry {
	char *name;
	char *path;   /* where it stands: names of its consumers up to the plan's root, or of what it is linked to */
	char *detail; /* the host's own words, or "" */
	double samples, measure;
	double *run; /* measure in each execution */
	bool has_rows;
	double rows; /* of one execution */
};

struct profile {
	char *trace;  /* file name */
	char *event, *unit;
	struct profile_entry *entry;
	uint32_t nr;
	double samples, measure; /* all */
	double effective;	 /* how many samples of one weight tell as much (Kish): at most samples */
	uint32_t nr_runs;	 /* executions with samples; at least 1 */
	double *run;		 /* measure of each */
	double *run_ns;		 /* how long each took; 0 where nobody marked it */
};

struct profile_question {
	struct report_group *by_run; /* (level or function, TABLE_PHASE) */
	uint32_t level;		     /* LEVELS_MAX: functions */
};

/* Ask a report for what a profile needs; level NULL: the plan's, or functions where there is none; "function": functions. */
void profile_ask(struct profile_question *q, struct report *r, const char *level);
/* 0 or -ENOMEM. */
int profile_make(const struct profile_question *q, struct report *r, const char *trace, struct profile *p);
void profile_fini(struct profile *p);

#endif
