/* SPDX-License-Identifier: MIT */
/*
 * Writes what is known of a Spark application behind the end of its trace, as a host that declares a dictionary would: levels query, stage,
 * task and operator, components and links, edges, rows, a mark for each execution and each task, and which functions are an operator's
 * (PLAN_CODE).  Views need not know of Spark.  Context: thread.
 */
#ifndef TAILOR_SPARK_PLAN_RECORDS_H
#define TAILOR_SPARK_PLAN_RECORDS_H

#include "analyzer/spark/workers.h"
#include "jitreg/trace/writer.h"

struct spark_counts {
	uint32_t queries, stages, tasks, operators; /* tasks: with a thread */
	uint32_t tasks_without_component;
	uint32_t texts; /* of generated code, found for a stage */
};

#define SPARK_TASKS_MAX 50000u /* that are components of their own */

/* 0; -E2BIG: the budget is exceeded, or -errno of the writer: a part is written. */
int spark_write_plan(struct trace_writer *w, const struct model *m, const struct spark_log *l, struct budget *b,
		     const struct spark_run *run, uint32_t nr_runs, const struct spark_works *works, struct spark_counts *counts);

#endif
