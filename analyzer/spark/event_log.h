/* SPDX-License-Identifier: MIT */
/*
 * Spark's event log (spark.eventLog.enabled=true): a file of JSON lines, or a folder of them that Spark rolls.  Of it are kept: queries
 * with their last plan, stages, tasks, and the values of accumulators.  Nothing in it is trusted: a line that is too long or no JSON is
 * counted.  Context: thread.
 */
#ifndef TAILOR_SPARK_EVENT_LOG_H
#define TAILOR_SPARK_EVENT_LOG_H

#include "jitreg/base/diag.h"
#include "jitreg/base/hash_map.h"

#include <stdbool.h>
#include <stdint.h>

struct budget;

struct spark_metric {
	char *name;
	uint64_t accumulator;
};

/* A node of a plan; wrappers that only say how a plan is run (InputAdapter, query stages of AQE) are left out. */
struct spark_node {
	char *name, *detail; /* "HashAggregate"; "keys=[k], functions=[avg(v)]", without numbers of expressions */
	uint32_t parent;     /* 1 + index in its query; 0: a root */
	uint32_t order;	     /* among its parent's children */
	uint32_t stage;	     /* 1 + index of the WholeStageCodegen that it is compiled into; 0: of none, or it is one */
	uint32_t codegen;    /* of a WholeStageCodegen: its number */
	struct spark_metric *metric;
	uint32_t nr_metrics;
	uint64_t id; /* of its component, the same in each execution of the same plan */
};

struct spark_query {
	uint64_t execution;
	char *description; /* what the user called it, else its call site */
	uint64_t begin_ms, end_ms; /* of CLOCK_REALTIME; end 0: not seen */
	struct spark_node *node; /* a parent before its children */
	uint32_t nr_nodes, nodes_capacity;
	uint64_t id;
};

struct spark_stage {
	uint64_t number, attempt;
	char *name; /* its call site */
	uint32_t query; /* 1 + index; 0: of none */
	bool has_python; /* Python functions are among what it computes */
	uint64_t *accumulator; /* that its tasks have updated, in their order */
	uint32_t nr_accumulators;
	uint64_t id; /* the same in each execution of the same plan */
};

struct spark_task {
	uint64_t number; /* TID */
	uint64_t begin_ms, end_ms, cpu_ns;
	uint32_t stage; /* 1 + index; 0: not known */
};

struct spark_log {
	struct spark_query *query;
	struct spark_stage *stage;
	struct spark_task *task;
	uint32_t nr_queries, queries_capacity, nr_stages, stages_capacity, nr_tasks, tasks_capacity;
	struct hash_map query_of; /* execution -> 1 + index */
	struct hash_map stage_of; /* (number, attempt) -> 1 + index */
	struct hash_map query_of_stage; /* number -> 1 + index of its query */
	struct hash_map task_of; /* TID -> 1 + index */
	struct hash_map value_of; /* accumulator -> 1 + index in value */
	uint64_t *value;
	uint32_t nr_values, values_capacity;
	uint64_t lines, bad_lines, long_lines;
	uint32_t cut_plans; /* that had more nodes, or were deeper, than are read */
};

#define SPARK_LINE_BYTES_MAX (16u << 20)
#define SPARK_LIST_MAX 4000000u /* of tasks, values and the like, each */
#define SPARK_NODES_MAX 20000u	/* of a plan */
#define SPARK_DEPTH_MAX 1000

/* path: a file, or a folder with files events_N_*, or one with a folder eventlog_v2_* (the latest of several).  0, or -errno with a
 * sentence; spark_log_fini() in any case. */
int spark_log_read(struct spark_log *l, const char *path, struct budget *b, struct diag *d);
void spark_log_fini(struct spark_log *l);
/* One line; false: it is no JSON.  Lines of other kinds are ignored. */
bool spark_log_read_line(struct spark_log *l, const char *line, size_t bytes);
/* Does a node of that name, or an RDD, run functions in Python workers? */
bool spark_name_is_of_python(const char *name);
/* Value of an accumulator; false: none is known. */
bool spark_log_value(const struct spark_log *l, uint64_t accumulator, uint64_t *value);

#endif
