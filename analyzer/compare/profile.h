/* SPDX-License-Identifier: MIT */
/*
 * The part of a report that is compared with other reports: entries (components of a level, or functions) with their cost, in total and per
 * execution, and the context by which they are matched with entries of another trace. Context: thread.
 */
#ifndef TAILOR_PROFILE_H
#define TAILOR_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

struct profile_entry {
	uint32_t number; /* number of the component or function in its trace */
	char *name;
	char *label; /* report_component_name(): tells the entry apart from others of its name in this trace */
	char *path;   /* place: names of its consumers up to the root of the plan, or of the components that it is linked to */
	char *detail; /* detail text of the host, or "" */
	char *group;  /* service of the entry if services are told apart, and else NULL; entries of two services never match */
	double samples, measure;
	double *run; /* measure in each execution */
	bool has_rows;
	double rows; /* rows of one execution */
	double executions; /* executions in the whole recording if the host counts them, and else 0 */
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

/* Return the number of samples of equal weight that would be as precise (Kish, Survey Sampling, 1965). squares: the sum of all squared
 * weights. 0: not known. */
static inline double profile_effective_samples(const struct profile *p, double squares)
{
	double effective = squares > 0 ? p->measure * p->measure / squares : p->samples;

	return effective < p->samples ? effective : p->samples;
}

void profile_fini(struct profile *p);

#endif
