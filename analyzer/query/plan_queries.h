/* SPDX-License-Identifier: MIT */
/*
 * Plans that are common to all processes (a server's), by the query that they are of, with the samples of all processes: the most expensive
 * query first.  Work that no plan has an edge or link for (sorting, planning: classes of jitreg_object()) is a line of its own in each
 * query that it was done for.  Context: thread.
 */
#ifndef TAILOR_PLAN_QUERIES_H
#define TAILOR_PLAN_QUERIES_H

#include "analyzer/query/plan_tree.h"
#include "analyzer/query/report.h"

struct plan_query {
	uint32_t query; /* component; COMPONENT_NONE: what is of no query */
	struct group_sum sum; /* all of it, also what is of no node */
	uint32_t first, nr; /* its groups: order[first] to order[first + nr - 1] */
	uint32_t root, nr_roots; /* its plans: roots[root] to roots[root + nr_roots - 1] */
	uint32_t executions; /* marks named as the filter says, else run; 0: none */
	double executed_ns; /* duration of all executions together */
	bool is_seen;	    /* from outside: executions in a row of equal statements may be one */
};

struct plan_queries {
	struct plan_query *query; /* those with samples first, the most expensive one first; the one of none comes last */
	uint32_t nr, nr_sampled;
	struct group_sum total;
	/* own */
	const struct report_group *by;
	struct plan_tree all; /* all plans */
	uint32_t *order; /* groups of by, by query */
	struct plan_root {
		uint32_t query, line, nr_lines;
	} *roots; /* by query */
	struct group_sum *scratch;
};

/* Was a mark made by the recorder, which looks at the process from outside, rather than by the host? */
bool mark_is_seen(const struct model *m, const struct mark *k);
/* Ask for the sums by query and node; NULL where there are no such plans.  level: of the nodes. */
struct report_group *plan_queries_ask(struct report *r, uint32_t level, unsigned flags);
/* false without memory; plan_queries_fini() in any case. */
bool plan_queries_make(const struct report *r, const struct report_group *by, uint32_t level, bool utf8, struct plan_queries *q);
void plan_queries_fini(struct plan_queries *q);
/* One query's plan as a tree of its own, with a sum for each line: plan_tree_fini() and free() in any case.  false without memory. */
bool plan_queries_tree(const struct plan_queries *q, uint32_t i, struct plan_tree *t, struct group_sum **sum);

#endif
