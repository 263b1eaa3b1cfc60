/* SPDX-License-Identifier: MIT */
/*
 * Python workers are processes below an executor that run Python functions for its tasks.  Spark's log does not say which worker runs which
 * task.  But while only one stage with Python functions has running tasks, all workers work for that stage.  Context: thread.
 */
#ifndef TAILOR_SPARK_WORKERS_H
#define TAILOR_SPARK_WORKERS_H

#include "analyzer/spark/app.h"
#include "jitreg/base/grow.h"

/* This struct is a time in which a thread of a worker works for one stage. */
struct spark_work {
	uint32_t thread, stage; /* indices in the model and in the log */
	uint64_t from_ns, to_ns;
};

struct spark_works {
	ARRAY_OF(struct spark_work);
	uint64_t shared_ns; /* time from when several stages with Python functions ran until one ran alone; workers have no stage in it */
};

/* Adds the times in which workers work for one stage to *out. The executors are the processes of the runs. Some times are missing if memory
 * runs out or the budget is exceeded. */
void spark_find_works(const struct spark_log *l, const struct model *m, struct budget *b, const struct spark_run *run, uint32_t nr_runs,
		      struct spark_works *out);

#endif
