/* SPDX-License-Identifier: MIT */
/*
 * Reads Spark's event log (spark.eventLog.enabled=true), which is a file of JSON lines, or a folder of such files that Spark rolls.
 * Queries with their last plan, stages, tasks, and values of accumulators are kept.  The log is not trusted.  Lines that are too long or
 * are not of the log's form are counted and skipped.  Context: thread.
 */
#ifndef TAILOR_SPARK_EVENT_LOG_H
#define TAILOR_SPARK_EVENT_LOG_H

#include "jitreg/base/diag.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"

#include <stdbool.h>
#include <stdint.h>

struct budget;

struct spark_metric {
	char *name;
	uint64_t accumulator;
};

/* This struct is a node of a plan.  Wrappers that only say how a plan is run (InputAdapter, query stages of AQE) have no node, and their
 * children belong to the node above. */
struct spark_node {
	char *name, *detail; /* "HashAggregate"; "keys=[k], functions=[avg(v)]", without numbers of expressions */
	uint32_t parent;     /* 1 + index in its query; 0: a root */
	uint32_t order;	     /* index among the children of its parent, or of the wrapper around it */
	uint32_t stage;	     /* 1 + index of the WholeStageCodegen that the node is compiled into; 0: none, or it is one */
	uint32_t codegen;    /* number of a WholeStageCodegen; 0: another node */
	struct spark_metric *metric;
	uint32_t nr_metrics;
	uint64_t id; /* id of the component, equal in all executions of a plan */
};

struct spark_query {
	uint64_t execution;
	char *description; /* the user's description, or the call site */
	uint64_t begin_ms, end_ms; /* CLOCK_REALTIME; 0: the beginning, or the end, is not in the log */
	ARRAY(struct spark_node) nodes; /* parents stand before their children */
	uint64_t id;
};

struct spark_stage {
	uint64_t number, attempt;
	char *name; /* call site */
	uint32_t query; /* 1 + index of its query; 0: none */
	bool has_python; /* an RDD of it runs Python functions */
	uint64_t *accumulator; /* accumulators that its tasks have updated, sorted */
	uint32_t nr_accumulators;
	uint64_t id; /* equal in all executions of a plan */
};

struct spark_task {
	uint64_t number; /* TID */
	uint64_t begin_ms, end_ms, cpu_ns;
	uint32_t stage; /* 1 + index of its stage; 0: unknown */
};

struct spark_log {
	ARRAY(struct spark_query) queries;
	ARRAY(struct spark_stage) stages;
	ARRAY(struct spark_task) tasks;
	struct hash_map query_of; /* number of an execution -> 1 + index in `queries` */
	struct hash_map stage_of; /* (number, attempt) -> 1 + index in `stages` */
	struct hash_map query_of_stage; /* number of a stage -> 1 + index of its query */
	struct hash_map task_of; /* TID -> 1 + index in `tasks` */
	struct hash_map value_of; /* accumulator -> 1 + index in `values` */
	ARRAY(uint64_t) values;
	uint64_t lines, bad_lines, long_lines;
	bool lacks_memory; /* memory ran out for a text, which is NULL then */
	uint32_t cut_plans; /* number of plans, with those that a later plan replaced, that have more nodes or levels than are read */
};

#define SPARK_LINE_BYTES_MAX (16u << 20)
#define SPARK_LIST_MAX 4000000u /* limit for each of queries, stages, tasks and values */
#define SPARK_NODES_MAX 20000u	/* maximum number of nodes of a plan */
#define SPARK_DEPTH_MAX 1000

/* Reads a log. path: a file, a folder with files events_N_*, or a folder with several logs (folders eventlog_v2_*, else files), of which
 * the last one by name is read. Returns 0, or -errno with the reason in d: -EBADMSG if it is compressed or has no event of a query, stage
 * or task, -E2BIG if the budget is exceeded. Call spark_log_fini() in any case. */
int spark_log_read(struct spark_log *l, const char *path, struct budget *b, struct diag *d);
void spark_log_fini(struct spark_log *l);
/* Reads one line.  Returns false if it does not begin like an event and is not empty, or if it is an event that is kept but no JSON.
 * Events of other kinds are ignored without parsing them. */
bool spark_log_read_line(struct spark_log *l, const char *line, size_t bytes);
/* Returns whether a node or an RDD of that name runs functions in Python workers. */
bool spark_name_is_of_python(const char *name);
/* Sets *value to the last value of an accumulator.  Returns false if it is unknown. */
bool spark_log_value(const struct spark_log *l, uint64_t accumulator, uint64_t *value);

#endif
