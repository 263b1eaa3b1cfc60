/* SPDX-License-Identifier: MIT */
/*
 * Joins a Spark application's event log with its trace, by finding the nodes of a plan that a stage works on, and the thread that ran a
 * task. Context: thread.
 */
#ifndef TAILOR_SPARK_APP_H
#define TAILOR_SPARK_APP_H

#include "analyzer/model/model.h"
#include "analyzer/spark/event_log.h"
#include "analyzer/spark/work.h"

struct budget; /* a budget limits the comparisons, which find nothing more once it is exceeded */

/*
 * Sets the ids of queries, nodes and stages, which are hashes of names and texts, and so are equal in all executions of a plan as long as
 * the budget is not exceeded.
 */
void spark_identify(struct spark_log *l, struct budget *b);
/*
 * Returns the prefix of the names that a node's variables and methods have in generated code, or NULL if it has none. The prefix is in out,
 * or is a constant.
 */
const char *spark_prefix_of_node(const struct spark_node *n, char out[64]);
/*
 * Returns whether the stage's tasks have updated the node's metric of this name. metric "": any metric. Returns false also if the budget is
 * exceeded.
 */
bool spark_node_is_in_stage(const struct spark_stage *s, const struct spark_node *n, const char *metric, struct budget *b);
/* Returns 1 + index of the only node of a kind that the stage works on, or 0 if there is none, there are several, or the budget is
 * exceeded. */
uint32_t spark_node_of_kind(const struct spark_query *q, const struct spark_stage *s, enum spark_kind kind, struct budget *b);
/* Sets *value to the value of a node's metric.  Returns false if there is no such metric, or if it has no value. */
bool spark_metric_value(const struct spark_log *l, const struct spark_node *n, const char *name, uint64_t *value);

/* This struct is a task with the thread and the time in which it ran. */
struct spark_run {
	uint32_t thread; /* index in the threads of the model */
	uint64_t from_ns, to_ns; /* to_ns UINT64_MAX: the thread was not renamed again */
	uint32_t task; /* index in the tasks of the log */
};

/*
 * Finds the threads of tasks by the tasks' numbers, which are in the names of threads. If no thread is found in this way, *by_time is set,
 * and the times at which threads were renamed are compared with those at which tasks began and ended. *nr: number of runs. The caller frees
 * the result, which is NULL if memory ran out.
 */
struct spark_run *spark_find_runs(const struct spark_log *l, const struct model *m, struct budget *b, uint32_t *nr, bool *by_time);
/* Converts a time of the log to the trace's clock. */
uint64_t spark_time_ns(const struct model *m, uint64_t real_ms);

#endif
