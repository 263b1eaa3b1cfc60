/* SPDX-License-Identifier: MIT */
/*
 * Appends the plans of a Spark application to its trace, with the same records that a host with a dictionary of its own writes. These are
 * the levels query, stage, task, operator and generated line, components and links, edges, rows, generated texts, marks for executions,
 * tasks and Python workers, and the functions of operators (PLAN_CODE). So views need not know of Spark. Context: thread.
 */
#ifndef TAILOR_SPARK_PLAN_RECORDS_H
#define TAILOR_SPARK_PLAN_RECORDS_H

#include "analyzer/spark/workers.h"
#include "jitreg/trace/writer.h"

struct spark_counts {
	uint32_t queries, stages, tasks, operators; /* tasks: those whose thread and stage were found */
	uint32_t tasks_without_component;
	uint32_t texts; /* number of times that the generated text of a WholeStageCodegen was found */
};

#define SPARK_TASKS_MAX 50000u /* maximum number of tasks that get a component of their own */

/* Returns 0, or -E2BIG if the budget is exceeded, -ENOMEM, or -errno of the writer.  After a failure some records may have been written. */
int spark_write_plan(struct trace_writer *w, const struct model *m, const struct spark_log *l, struct budget *b,
		     const struct spark_run *run, uint32_t nr_runs, const struct spark_works *works, struct spark_counts *counts);

#endif
