/* SPDX-License-Identifier: MIT */
/*
 * Sorts plans that are common to all processes (a server's) by their queries, with the samples of all processes, the most expensive query
 * first.  Work that no plan has an edge or link for (sorting, planning: classes of jitreg_object()) is a line of its own in each query that
 * it was done for.  Context: thread.
 */
#ifndef TAILOR_PLAN_QUERIES_H
#define TAILOR_PLAN_QUERIES_H

#include "analyzer/query/plan_tree.h"
#include "analyzer/query/report.h"

struct plan_query {
	uint32_t query; /* component; COMPONENT_NONE: samples of no query */
	struct group_sum sum; /* sum of the query, also of samples of no node */
	uint32_t first, nr; /* groups of the query: order[first] to order[first + nr - 1] */
	uint32_t root, nr_roots; /* plans of the query: roots[root] to roots[root + nr_roots - 1] */
	uint32_t executions; /* marks with the filter's name, else "run"; 0: none */
	double executed_ns; /* duration of all executions together */
	bool is_seen;	    /* seen from outside: executions of equal statements in a row may be one */
};

struct plan_queries {
	struct plan_query *query; /* queries with samples first, the most expensive one first; samples of no query last */
	uint32_t nr, nr_sampled;
	struct group_sum total;
	/* The rest is for plan_queries.c alone. */
	const struct report_group *by;
	struct plan_tree all; /* all plans */
	uint32_t *order; /* groups of by, sorted by query */
	struct plan_root {
		uint32_t query, line, nr_lines;
	} *roots; /* sorted by query */
	struct group_sum *scratch;
};

/* Checks whether a mark was made by the recorder, which sees the process from outside, and not by the host. */
bool mark_is_seen(const struct model *m, const struct mark *k);
/* Asks for the sums by query and node.  level: of the nodes.  NULL: there are no such plans. */
struct report_group *plan_queries_ask(struct report *r, uint32_t level, unsigned flags);
/* Makes the queries.  false: out of memory.  plan_queries_fini() must follow in any case. */
bool plan_queries_make(const struct report *r, const struct report_group *by, uint32_t level, bool utf8, struct plan_queries *q);
void plan_queries_fini(struct plan_queries *q);
/* Makes a tree of one query's plans, with a sum for each line.  false: out of memory.  plan_tree_fini() and free() must follow in any
 * case. */
bool plan_queries_tree(const struct plan_queries *q, uint32_t i, struct plan_tree *t, struct group_sum **sum);

#endif
