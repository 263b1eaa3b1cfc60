/* SPDX-License-Identifier: MIT */
/*
 * Python workers: processes below an executor that run Python functions for its tasks.  Spark's log does not say which worker runs which
 * task, but while tasks of one stage with Python functions run, and of no other, all of them work for that stage.  Context: thread.
 */
#ifndef TAILOR_SPARK_WORKERS_H
#define TAILOR_SPARK_WORKERS_H

#include "analyzer/spark/app.h"

/* A time in which a thread of a worker is of one stage. */
struct spark_work {
	uint32_t thread, stage; /* indices in the model and in the log */
	uint64_t from_ns, to_ns;
};

struct spark_works {
	struct spark_work *work;
	uint32_t nr, capacity;
	uint64_t shared_ns; /* in which tasks of several such stages ran */
};

/* Executors are the processes of the runs. */
void spark_find_works(const struct spark_log *l, const struct model *m, struct budget *b, const struct spark_run *run, uint32_t nr_runs,
		      struct spark_works *out);

#endif
