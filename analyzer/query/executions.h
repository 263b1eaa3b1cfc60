/* SPDX-License-Identifier: MIT */
/*
 * Counts how often each plan of a process was executed. Counters of a plan have the rows of one execution, but its samples are of all
 * executions, so views need the number.
 *
 * Each mark of the process that --mark names, else "run", is an execution if it was open between the first and the last sample that pass
 * the filter. It is one of the plan that its component is in. Without such a component, it is one of the plan of the component that most of
 * its samples are of. Without samples of a plan, it is counted for the plans of marks with the same text, in proportion to these. If there
 * is only one plan, all marks are its executions.
 *
 * Context: thread.
 */
#ifndef TAILOR_EXECUTIONS_H
#define TAILOR_EXECUTIONS_H

#include "analyzer/query/plan_tree.h"
#include "analyzer/query/report.h"

/* Checks whether any process has several plans at the level. Only then does executions_count() need sums by phase and by the level. */
bool executions_need_sums(const struct report *r, uint32_t level);
/* Stores in runs[i] how often the plan of t->line[i] was executed, at least 1. by_phase: sums by TABLE_PHASE and by the level, or NULL.
 * Returns false if memory ran out, and then all are 1. */
bool executions_count(const struct report *r, const struct plan_tree *t, uint32_t process, const struct report_group *by_phase,
		      uint32_t *runs);

#endif
