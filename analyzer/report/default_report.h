/* SPDX-License-Identifier: MIT */
/*
 * The report that `tailor report` shows without --view. As text: the verdict, the plan and the five most useful tables of this trace, on a
 * screen and a half. As JSON: all sums. Context: thread.
 */
#ifndef TAILOR_DEFAULT_REPORT_H
#define TAILOR_DEFAULT_REPORT_H

#include "analyzer/query/plan_queries.h"
#include "analyzer/query/report.h"
#include "analyzer/view/view.h"

/* One set of sums, either of all samples that pass the filter, or of the run phase. */
struct report_sums {
	bool whole; /* all samples are also summed by level, method and reason if there is a run phase; for people only the run phase is */
	struct report_group *level[LEVELS_MAX], *process, *method, *reason;
};

struct default_report {
	struct report_group *event, *function, *line, *image;
	struct report_group *function_total, *line_total; /* totals_ask(); for people only where no level is a plan */
	struct report_group *own_total, *module_total; /* totals by a host's functions and modules, in the run phase; for people */
	struct report_group *mode, *run_function; /* only for people, in the run phase */
	struct report_group *by_query; /* only for people, in the run phase; plan_queries_ask() */
	struct report_group *phase, *thread; /* only for programs */
	/* in_run equals all where there are no run marks. For programs that is so also where the run phase has no samples. */
	struct report_sums all, in_run;
	uint32_t plan_level; /* LEVELS_MAX: no level is a plan */
	uint32_t nr_runs; /* for programs: marks with samples in them */
	bool has_run;
};

/* default_report_ask() registers the sums before the samples are read. default_report_settle() completes them afterwards. Return 0, or
 * -ENOMEM. */
void default_report_ask(struct default_report *d, struct report *r, bool for_programs);
int default_report_settle(struct default_report *d);
/* Do all samples of the trace pass the filter? */
bool default_report_has_all(const struct default_report *d, const struct attribution *a);

/* page.top < 0 shows as many rows of a table as there is room for. */
void default_report_text(const struct default_report *d, struct report *r, struct page *p);
/* Return 0, or -errno of the output. */
int default_report_json(const struct default_report *d, const struct report *r, FILE *to);

#endif
