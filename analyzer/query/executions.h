/* SPDX-License-Identifier: MIT */
/*
 * How often each plan of a process was executed: counters tell the rows of one execution, samples are of all of them.  A mark (of the
 * filter's name, else "run") is an execution of the plan that its component is in; else of the one that its samples are of; else, where it
 * has none, of those that marks with the same text are of, in proportion.  Context: thread.
 */
#ifndef TAILOR_EXECUTIONS_H
#define TAILOR_EXECUTIONS_H

#include "analyzer/query/plan_tree.h"
#include "analyzer/query/report.h"

/* Is there a process with several plans?  Only then are sums by phase and by the level needed. */
bool executions_need_sums(const struct report *r, uint32_t level);
/* Of each line of a process's plans, how often the plan that it is in was executed; at least 1.  by_phase: sums by TABLE_PHASE and
 * by the level, or NULL.  false without memory. */
bool executions_count(const struct report *r, const struct plan_tree *t, uint32_t process, const struct report_group *by_phase,
		      uint32_t *runs);

#endif
