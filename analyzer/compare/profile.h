/* SPDX-License-Identifier: MIT */
/*
 * A profile is what `tailor diff` compares of a trace or of a store's window. It has entries (components of a level, functions, or lines
 * of a store's sums) with their cost, in total and by execution, and with the texts by which entries of profiles are matched. Context:
 * thread.
 */
#ifndef TAILOR_PROFILE_H
#define TAILOR_PROFILE_H

#include "jitreg/base/grow.h"

#include <stdbool.h>
#include <stdint.h>

struct profile_entry {
	uint32_t number; /* number of the component or function in its trace, or index of the line in a store's sums */
	char *name;
	/* name as reports show it (report_component_name()), which tells the entry apart from others of its name in this trace */
	char *label;
	/* place in the plan: names of its consumers up to the root, or of the components that it is linked to; of a function, the path of
	 * its image */
	char *path;
	char *detail; /* detail text of the host, or "" */
	char *group;  /* service of the entry if services are told apart, and else NULL */
	double samples, measure;
	double *run; /* by execution: measure of the entry, nr_runs numbers */
	/* It is a function that a compiler inlined, and above - 1 is the index of the entry of its caller, which comes before it. 0: it is
	 * none. inlined_settle() leaves no such entries. */
	uint32_t above;
	bool is_function; /* a function of machine code, as opposed to a component or a line of a store */
	bool has_lines; /* debug information has lines of the function */
	bool is_placed; /* detail is the place where a function begins, which changes whenever lines are inserted above it */
	bool is_none; /* it stands for what belongs to no component, function or whatever entries are */
	bool has_rows;
	double rows; /* rows of one execution */
	double executions; /* executions in the whole recording if the host counts them, and else 0 */
};

struct profile {
	char *trace;  /* name of the trace, or of the store and its window */
	char *event, *unit;
	char *program; /* file name of the trace's program with most samples, or NULL */
	ARRAY(struct profile_entry) entries;
	double samples, measure; /* samples: number of samples; measure: their cost in unit; of all entries together */
	double effective;	 /* effective sample size (Kish): at most samples */
	uint32_t nr_runs;	 /* executions with samples, or epochs of a store; at least 1 */
	double *run;		 /* measure of each execution */
	double *run_ns;		 /* duration (ns) of each execution; 0: no mark, or the mark has no end */
};

/* Return the number of samples of equal weight that would be as precise as these (L. Kish, Survey Sampling, 1965), which is at most their
 * number. squares: the sum of all squared weights, or 0 if it is not known; the weights are taken to be equal then. */
static inline double profile_effective_samples(const struct profile *p, double squares)
{
	double effective = squares > 0 ? p->measure * p->measure / squares : p->samples;

	return effective < p->samples ? effective : p->samples;
}

/* Add the sums of an entry to those of another one, free what it holds, and set it to 0. */
void profile_entry_move(struct profile *p, uint32_t from, uint32_t to);
void profile_fini(struct profile *p);

#endif
