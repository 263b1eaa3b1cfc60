/* SPDX-License-Identifier: MIT */
/*
 * Decides what an answer begins with, which is the host's plan, functions of the host's language, programs, or functions. The report, the
 * page, `top`, `db report`, `db timeline` and `diff` all ask leading_choose(), so that they begin with the same. Context: thread.
 */
#ifndef TAILOR_LEADING_H
#define TAILOR_LEADING_H

#include "analyzer/query/report.h"

/* Names are those of the page's facts (html_facts.c). */
#define LEADINGS(X) \
	X(PLAN, "plan") \
	X(LANGUAGE, "language") \
	X(PROGRAMS, "programs") \
	X(FUNCTIONS, "functions")

#define LEADING_INDEX_(NAME, text) LEADING_##NAME,
enum leading { LEADINGS(LEADING_INDEX_) NR_LEADINGS };
#undef LEADING_INDEX_
extern const char *const leading_names[];

struct leading_facts {
	bool of_machine; /* the recording is of no single command, so it may be of a whole machine */
	bool has_plan; /* a host declared a level of a plan, or any other level of its own */
	/* Shares (0..1) of the samples in the run phase, or of all samples if there is none: those on a component of that level or in a
	 * query, and those in a function of a host's language. */
	double on_plan, in_language;
	double in_phase; /* share (0..1) of all samples that are in the run phase; 1: there is none */
	uint32_t nr_processes, nr_programs; /* number of those with samples */
};

/* A level leads if it has at least this share of the samples. The plan of a single program leads with any share, unless functions of a
 * language do. */
#define LEADING_FROM 0.2
#define LEADING_PROCESSES 4 /* number of processes with samples from which on several programs are a build or the like */

enum leading leading_choose(const struct leading_facts *f);

/* This struct has the sums of a report from which the facts are found. The caller sets them, or leading_ask() asks for them. */
struct leading_sums {
	struct report_group *process; /* by TABLE_PROCESS, of all samples that pass the filter */
	/* by leading_plan_level(), by the level of queries above it, and by HOST_LEVEL_FUNCTION; NULL: there is no such level */
	struct report_group *plan, *query, *language;
};

/* Return the level of the plan, or else the topmost one that a host declared, or LEVELS_MAX if there is none. */
uint32_t leading_plan_level(const struct report *r);
/* Fill in the sums by levels from level[], which has a group for each level. */
void leading_set_levels(struct leading_sums *s, const struct report *r, struct report_group *const *level);
/* Ask for the sums before the samples are read, and choose afterwards. */
void leading_ask(struct leading_sums *s, struct report *r);
struct leading_facts leading_find_facts(const struct leading_sums *s, const struct report *r);
enum leading leading_of_report(const struct leading_sums *s, const struct report *r);
/* Return the facts of nr recordings together, so that all of them begin with the same. */
struct leading_facts leading_join_facts(const struct leading_facts *f, uint32_t nr);

/* Return the share (0..1) of a group's samples that are on a component. by: a group by one level, or NULL, which has none. */
double leading_share_with_component(const struct report *r, const struct report_group *by);
/* Return how many values of a group by one key have samples. */
uint32_t leading_count_sampled(const struct report_group *g);

#endif
