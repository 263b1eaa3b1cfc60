/* SPDX-License-Identifier: MIT */
/*
 * What `tailor report` shows without --view: as text, the verdict, the plan and the five most useful tables of this trace, on a screen
 * and a half; as JSON all sums.  Context: thread.
 */
#ifndef TAILOR_DEFAULT_REPORT_H
#define TAILOR_DEFAULT_REPORT_H

#include "analyzer/query/plan_queries.h"
#include "analyzer/query/report.h"
#include "analyzer/view/view.h"

/* By what it sums up, of all that passes the filter, or of the run phase. */
struct report_sums {
	bool whole; /* of all: not only by process, also where there is a run phase (people are shown that alone) */
	struct report_group *level[LEVELS_MAX], *process, *method, *reason;
};

struct default_report {
	struct report_group *event, *function, *line, *image;
	struct report_group *function_total, *line_total; /* totals_ask(): for people where no level is a plan */
	struct report_group *own_total, *module_total; /* likewise of functions and modules of a host's language; of the run phase */
	struct report_group *mode, *run_function; /* only for people; of the run phase */
	struct report_group *by_query; /* likewise: plan_queries_ask() */
	struct report_group *phase, *thread; /* only for programs */
	/* in_run: equal to all where there are no run marks; for programs also where these have no samples */
	struct report_sums all, in_run;
	uint32_t plan_level; /* LEVELS_MAX: no level is a plan */
	uint32_t nr_runs; /* for programs: marks with samples in them */
	bool has_run;
};

/* What it needs, before the samples are read; and, once they are, the sums that are shown: 0 or -ENOMEM. */
void default_report_ask(struct default_report *d, struct report *r, bool for_programs);
int default_report_settle(struct default_report *d);
/* Whether all samples of the trace pass the filter. */
bool default_report_has_all(const struct default_report *d, const struct attribution *a);

/* page.top < 0: as many rows of a table as there is room for. */
void default_report_text(const struct default_report *d, struct report *r, struct page *p);
/* 0, or -errno of the output. */
int default_report_json(const struct default_report *d, const struct report *r, FILE *to);

#endif
