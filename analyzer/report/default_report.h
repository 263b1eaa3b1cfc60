/* SPDX-License-Identifier: MIT */
/*
 * Makes the report that `tailor report` shows without --view. As text, it has the verdict, the plan and the most useful tables of this
 * trace, on about a screen and a half. As JSON, it has the sums of all values. Context: thread.
 */
#ifndef TAILOR_DEFAULT_REPORT_H
#define TAILOR_DEFAULT_REPORT_H

#include "analyzer/leading/leading.h"
#include "analyzer/query/plan_queries.h"
#include "analyzer/query/report.h"
#include "analyzer/view/view.h"

/* The sums are either of all samples that pass the filter, or of those in the run phase (the executions of the host's query). */
struct report_sums {
	/* For all samples, level, method and reason are set even if there is a run phase. That is so for programs, and not for people. */
	bool whole;
	struct report_group *level[LEVELS_MAX], *process, *method, *reason;
};

struct default_report {
	struct report_group *event, *function, *line, *image;
	struct report_group *function_total, *line_total; /* sums of totals_ask(), or NULL; NULL for people if a plan leads */
	struct report_group *work; /* sums of composition_ask(), or NULL; NULL for programs, and if a plan leads */
	/* sums of totals_ask() by a host's functions and modules, in the run phase; NULL for programs, and if there are none */
	struct report_group *own_total, *module_total;
	struct report_group *mode, *run_function; /* in the run phase, or of all samples if there is none; NULL for programs */
	struct report_group *by_query; /* sums of plan_queries_ask() in the run phase; NULL for programs, and without a plan */
	struct report_group *phase, *thread; /* NULL for people */
	/* in_run is the same as all if there are no marks of a run, and, for programs, also if no sample is in one */
	struct report_sums all, in_run;
	uint32_t plan_level; /* the level of the plan, or the topmost one with edges; LEVELS_MAX: there is none */
	uint32_t nr_runs; /* for programs: number of marks of the run phase that have samples */
	bool has_run;
	enum leading leads; /* set by default_report_settle(); the report begins with it */
};

/* default_report_ask() asks for the sums before the samples are read. default_report_settle() completes them afterwards. It returns 0 or
 * -ENOMEM. */
void default_report_ask(struct default_report *d, struct report *r, bool for_programs);
int default_report_settle(struct default_report *d, const struct report *r);
/* Do all samples of the trace pass the filter? */
bool default_report_has_all(const struct default_report *d, const struct attribution *a);

/* Write the report for people. If p->top is below 0, and there are samples, it is set to the number of rows for which there is room. */
void default_report_text(const struct default_report *d, struct report *r, struct page *p);
/* Write the report for programs. Return 0, or -EIO if it could not be written. */
int default_report_json(const struct default_report *d, const struct report *r, FILE *to);

#endif
