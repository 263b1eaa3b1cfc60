/* SPDX-License-Identifier: MIT */
/* The command `tailor plan` adds the plans in a system's own log, such as Spark's, to a trace. */
#include "analyzer/spark/plan_records.h"
#include "jitreg/base/budget.h"
#include "jitreg/base/command.h"
#include "jitreg/base/message.h"
#include "jitreg/confine/confine.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY_SPARK = 0x100 };
static const struct argp_option options[] = {
	{ "spark", KEY_SPARK, "EVENTLOG", 0, "event log of the Spark application: a file, or the folder that it is in", 0 },
	{ 0 },
};

struct arguments {
	const char *log, *path;
};

static error_t parse_option(int key, char *arg, struct argp_state *state)
{
	struct arguments *a = state->input;

	switch (key) {
	case KEY_SPARK:
		a->log = arg;
		break;
	case ARGP_KEY_ARG:
		if (a->path)
			usage_fail(state, "one trace only, and not also '%s'", arg);
		a->path = arg;
		break;
	case ARGP_KEY_END:
		if (!a->path || !a->log)
			usage_fail(state, "give an event log and a trace: tailor plan --spark EVENTLOG TRACE");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static void print_counts(const struct arguments *a, const struct spark_log *l, const struct spark_counts *c,
			 const struct spark_works *works, bool by_time)
{
	printf("%s: %u plans with %u operators, %u stages, %u of %u tasks on their threads\n", a->path, c->queries, c->operators, c->stages,
	       c->tasks, l->tasks.nr);
	if (by_time)
		printf("Spark: tasks are matched with threads by time, because the trace has no whole thread names; of tasks that began in "
		       "the same milliseconds, two may be exchanged\n");
	if (works->shared_ns)
		printf("Spark: for %.1f s tasks of several stages used Python at a time; what Python workers did then is of no stage\n",
		       (double)works->shared_ns / 1e9);
	if (c->tasks_without_component)
		printf("Spark: %u tasks beyond the first %u are not told apart; their samples are their stages'\n",
		       c->tasks_without_component, SPARK_TASKS_MAX);
	if (l->cut_plans)
		printf("Spark: %u plans of the event log are cut (they have more than %u nodes, or are deeper than %d); the time of nodes "
		       "that are missing is their WholeStageCodegen's, or unattributed\n",
		       l->cut_plans, SPARK_NODES_MAX, SPARK_DEPTH_MAX);
	if (l->long_lines || l->bad_lines)
		printf("Spark: %llu lines of the event log were not read (longer than %u MiB: %llu; no JSON: %llu)\n",
		       (unsigned long long)(l->long_lines + l->bad_lines), SPARK_LINE_BYTES_MAX >> 20, (unsigned long long)l->long_lines,
		       (unsigned long long)l->bad_lines);
}

/* Adds the plans to the trace. If writing fails, the trace is cut to the size that it had. Returns 0, or -errno with the reason in d. */
static int write_plan(const struct arguments *a, struct trace_reader *t, const struct model *m, const struct spark_log *l,
		      const struct spark_run *run, uint32_t nr, const struct spark_works *works, struct spark_counts *counts,
		      struct diag *d)
{
	struct trace_writer *w;
	struct stat before;
	int ret = stat(a->path, &before) ? diag_fail(d, errno, "%s: %s", a->path, strerror(errno)) :
					   trace_writer_continue(a->path, TRACE_SMALL, &w, d);
	int closed;

	if (ret)
		return ret;
	ret = spark_write_plan(w, m, l, trace_budget(t), run, nr, works, counts);
	closed = trace_writer_close(w);
	ret = ret ? ret : closed;
	if (ret && truncate(a->path, before.st_size))
		ret = -errno;
	if (ret == -E2BIG && trace_check_budget(t, d))
		return ret;
	return ret ? diag_fail(d, -ret, "%s: %s", a->path, strerror(-ret)) : 0;
}

static int add_plan(const struct arguments *a, struct trace_reader *t, const struct model *m, struct spark_log *l, struct diag *d)
{
	struct spark_counts counts = { 0 };
	struct spark_works works = { 0 };
	struct spark_run *run;
	uint32_t nr;
	bool by_time;
	int ret;

	if (m->plan_codes.codes.nr)
		return diag_fail(d, EEXIST, "%s: has a plan already", a->path);
	spark_identify(l, trace_budget(t));
	run = spark_find_runs(l, m, trace_budget(t), &nr, &by_time);
	if (run)
		spark_find_works(l, m, trace_budget(t), run, nr, &works);
	ret = run ? trace_check_budget(t, d) : diag_fail(d, ENOMEM, "out of memory");
	if (ret == 0 && !nr)
		ret = diag_fail(d, ESRCH, "%s: no task of the event log was found on a thread of this trace: is it the same run? The trace "
				"is as it was", a->path);
	ret = ret ? ret : write_plan(a, t, m, l, run, nr, &works, &counts, d);
	if (ret == 0)
		print_counts(a, l, &counts, &works, by_time);
	free(works.at);
	free(run);
	return ret;
}

static int run_plan(int argc, char **argv)
{
	static const struct argp_child children[] = { { &confine_argp, 0, NULL, 0 }, { 0 } };
	static const struct argp argp = {
		options,
		parse_option,
		"TRACE",
		"Add the plans of a system that writes them into a log of its own to a trace: queries, stages, tasks and operators with "
		"rows, which all reports then show.\v"
		"Spark: spark.eventLog.enabled=true writes the log; tailor run --spark does all of this by itself.\n"
		"Example: tailor plan --spark /tmp/spark-events t.tlr && tailor report --view plan t.tlr",
		children,
		NULL,
		NULL
	};
	struct trace_reader *t = NULL;
	struct spark_log log = { 0 };
	struct model *m = NULL;
	struct arguments a = { 0 };
	struct diag d = { "" };
	int ret;

	argp_parse(&argp, argc, argv, 0, NULL, &a);
	confine_allow_usual();
	confine_allow_read(a.log);
	confine_allow_write(a.path);
	confine_begin(CONFINE_READER);
	ret = trace_open(a.path, &t, &d);
	if (ret == 0)
		ret = model_create(t, &m, &d);
	if (ret == 0)
		ret = spark_log_read(&log, a.log, trace_budget(t), &d);
	if (ret == 0)
		ret = add_plan(&a, t, m, &log, &d);
	if (ret) {
		fflush(stdout);
		message_put(stderr, "%s: %s", argv[0], d.text);
	}
	spark_log_fini(&log);
	if (m)
		model_destroy(m);
	if (t)
		trace_close(t);
	return ret ? CMD_FAILED : CMD_DONE;
}

const struct cmd cmd_plan = { "plan", "add the plans of a system's own log to a trace", run_plan };
