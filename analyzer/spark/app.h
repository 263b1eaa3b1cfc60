/* SPDX-License-Identifier: MIT */
/*
 * A Spark application, from its event log and the trace: which nodes of which plan a stage works on, and which thread ran which task.
 * Context: thread.
 */
#ifndef TAILOR_SPARK_APP_H
#define TAILOR_SPARK_APP_H

#include "analyzer/model/model.h"
#include "analyzer/spark/event_log.h"
#include "analyzer/spark/work.h"

struct budget; /* what is compared is paid from it; where it is exceeded, nothing more is found */

/* Numbers of queries, nodes and stages, which are the same where these are. */
void spark_identify(struct spark_log *l, struct budget *b);
/* How the names of variables and methods of a node begin in generated code; NULL: it has none. */
const char *spark_prefix_of_node(const struct spark_node *n, char out[64]);
/* Have the stage's tasks updated that metric of the node?  "": any. */
bool spark_node_is_in_stage(const struct spark_stage *s, const struct spark_node *n, const char *metric, struct budget *b);
/* The stage's node of a kind: 1 + index; 0: there is none, or several. */
uint32_t spark_node_of_kind(const struct spark_query *q, const struct spark_stage *s, enum spark_kind kind, struct budget *b);
/* Its metric; false: it has none of that name, or without a value. */
bool spark_metric_value(const struct spark_log *l, const struct spark_node *n, const char *name, uint64_t *value);

/* A task on its thread. */
struct spark_run {
	uint32_t thread; /* index in the model */
	uint64_t from_ns, to_ns;
	uint32_t task; /* index in the log */
};

/* By the names of threads, which have the tasks' numbers; else by when threads were renamed and tasks began and ended.  *nr: how many;
 * *by_time: the latter.  NULL without memory. */
struct spark_run *spark_find_runs(const struct spark_log *l, const struct model *m, struct budget *b, uint32_t *nr, bool *by_time);
/* A time of the log by the trace's clock. */
uint64_t spark_time_ns(const struct model *m, uint64_t real_ms);

#endif
