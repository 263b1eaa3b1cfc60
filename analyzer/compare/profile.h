/* SPDX-License-Identifier: MIT */
/*
 * The part of a report that is compared with other reports: entries (components of a level, or functions) with their cost, in total and
 * per execution, and the context by which they are matched with entries of another trace.  Context: thread.
 */
#ifndef TAILOR_PROFILE_H
#define TAILOR_PROFILE_H

#include "analyzer/query/report.h"

struct profile_entry {
	char *name;
	char *label; /* what tells it from others of its name in this trace: report_component_name() */
	char *path;   /* place: names of its consumers up to the root of the plan, or of the components it is linked to */
	char *detail; /* detail text of the host, or "" */
	double samples, measure;
	double *run; /* measure in each execution */
	bool has_rows;
	double rows; /* of one execution */
	double executions; /* in the whole recording, where the host counts; else 0 */
};

struct profile {
	char *trace;  /* file name */
	char *event, *unit;
	struct profile_entry *entry;
	uint32_t nr;
	double samples, measure; /* all */
	double effective;	 /* effective sample size (Kish): at most samples */
	uint32_t nr_runs;	 /* executions with samples; at least 1 */
	double *run;		 /* measure of each */
	double *run_ns;		 /* duration of each; 0 without a mark */
};

struct profile_question {
	struct report_group *by_run; /* (level or function, TABLE_PHASE) */
	uint32_t level;		     /* LEVELS_MAX: functions */
};

/* Request the sums for a profile; level NULL: the plan's, or functions where there is none; "function": functions. */
void profile_ask(struct profile_question *q, struct report *r, const char *level);
/* 0 or -ENOMEM. */
int profile_make(const struct profile_question *q, struct report *r, const char *trace, struct profile *p);
void profile_fini(struct profile *p);

#endif
