/* SPDX-License-Identifier: MIT */
/*
 * Sorts the plans that are common to all processes of a server (JITREG_COMPONENT_COMMON) by their queries, with the samples of all
 * processes, the most expensive query first. Work that is in no plan (classes of jitreg_object(), such as sorting and planning) has a line
 * of its own in each query that it was done for. Functions that plans call are lines below what calls them, and so are queries that these
 * run (analyzer/model/callers.h), whose samples count for the total of what calls them. Context: thread.
 */
#ifndef TAILOR_PLAN_QUERIES_H
#define TAILOR_PLAN_QUERIES_H

#include "analyzer/query/plan_tree.h"
#include "analyzer/query/report.h"

struct plan_query {
	uint32_t query; /* component; COMPONENT_NONE: samples of no query */
	struct group_sum sum; /* sum of the query's samples, with those of no node of its plans */
	struct group_sum called; /* sum of the queries that it calls */
	uint32_t first, nr; /* groups of the query: order[first] to order[first + nr - 1] */
	uint32_t root, nr_roots; /* plans of the query: roots[root] to roots[root + nr_roots - 1] */
	uint32_t executions; /* marks of the query that have ended and have the filter's name, else "run"; 0: none */
	double executed_ns; /* duration of all executions together */
	bool is_seen;	    /* some execution has mark_is_seen(), so equal statements in a row may be counted as one execution */
};

struct plan_queries {
	/* queries with samples of their own or of queries that they call first, the most expensive one first; samples of no query last */
	struct plan_query *query;
	/* nr_sampled: number of queries with such samples, without the samples of no query */
	uint32_t nr, nr_sampled;
	struct group_sum total;
	/* The rest is for plan_queries.c alone. */
	const struct report_group *by;
	struct plan_tree all; /* lines of all plans that are common to all processes */
	uint32_t *order; /* groups of by, sorted by query */
	struct plan_root {
		uint32_t query, line, nr_lines;
	} *roots; /* sorted by query */
	struct group_sum *scratch;
	uint32_t *with_caller, nr_with_caller; /* groups of by with a caller */
	const struct callers *callers;
	bool utf8;
};

/* Checks whether the mark's process has no agent.  Then the recorder made the mark from what it saw of the process from outside. */
bool mark_is_seen(const struct model *m, const struct mark *k);
/* Returns the level whose component of a sample is the sample's query, or LEVELS_MAX if the host declared no queries above the plans that
 * are common to its processes. */
uint32_t plan_queries_level(const struct report *r);
/* Asks for the sums by query and node, before samples are read. level: of the nodes. Returns NULL if the level has no component that is
 * common to all processes. */
struct report_group *plan_queries_ask(struct report *r, uint32_t level, unsigned flags);
/* Makes the queries from these sums, which must outlive them. Returns false if memory ran out. plan_queries_fini() must follow in any
 * case. */
bool plan_queries_make(const struct report *r, const struct report_group *by, uint32_t level, bool utf8, struct plan_queries *q);
void plan_queries_fini(struct plan_queries *q);
/* Adds up the samples of the queries that each query calls.  by: sums by query and TABLE_CALLER.  called: a sum for each component. */
void plan_queries_add_called(const struct report *r, const struct report_group *by, struct group_sum *called);
/* Returns the measure of a query, with the queries that it calls. */
double plan_query_measure(const struct report *r, const struct plan_query *q);
/* Makes a tree of the plans of query[i], with a sum for each line. That of a line with is_query is the sum of the called query. Returns
 * false if memory ran out. plan_tree_fini(t) and free(*sum) must follow in any case. */
bool plan_queries_tree(const struct plan_queries *q, uint32_t i, struct plan_tree *t, struct group_sum **sum);

#endif
