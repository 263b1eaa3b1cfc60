/* SPDX-License-Identifier: MIT */
/*
 * Counts how often each plan of a process was executed, because counters have the rows of one execution, and samples are of all of them.
 * A mark (with the filter's name, else "run") is an execution of the plan that its component is in.  Without a component, it is one of the
 * plan that its samples are of.  Without samples, it is counted for the plans of marks with the same text, in proportion.
 * Context: thread.
 */
#ifndef TAILOR_EXECUTIONS_H
#define TAILOR_EXECUTIONS_H

#include "analyzer/query/plan_tree.h"
#include "analyzer/query/report.h"

/* Checks for a process with several plans.  Only then are sums by phase and by the level needed. */
bool executions_need_sums(const struct report *r, uint32_t level);
/* Counts for each line of a process's plans how often its plan was executed, at least 1.  by_phase: sums by TABLE_PHASE and by the level,
 * or NULL.  false: out of memory. */
bool executions_count(const struct report *r, const struct plan_tree *t, uint32_t process, const struct report_group *by_phase,
		      uint32_t *runs);

#endif
