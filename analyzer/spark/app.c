/* SPDX-License-Identifier: MIT */
#include "analyzer/spark/app.h"

#include "jitreg/base/budget.h"
#include "jitreg/base/sorted.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ identities */

static uint64_t hash_with(uint64_t h, const void *bytes, size_t nr)
{
	const uint64_t both[2] = { h, hash_bytes(bytes, nr) };

	h = hash_bytes(both, sizeof(both));
	return h ? h : 1;
}

static void identify_query(struct spark_query *q)
{
	q->id = hash_with(1, q->description, strlen(q->description));
	for (uint32_t i = 0; i < q->nodes.nr; i++) {
		q->id = hash_with(q->id, q->nodes.at[i].name, strlen(q->nodes.at[i].name));
		q->id = hash_with(q->id, q->nodes.at[i].detail, strlen(q->nodes.at[i].detail));
	}
	for (uint32_t i = 0; i < q->nodes.nr; i++)
		q->nodes.at[i].id = hash_with(q->id, &i, sizeof(i));
}

static void identify_stage(const struct spark_log *l, struct spark_stage *s, struct budget *b)
{
	const struct spark_query *q = s->query ? &l->queries.at[s->query - 1] : NULL;

	s->id = hash_with(q ? q->id : 2, s->name, q ? 0 : strlen(s->name));
	for (uint32_t i = 0; q && i < q->nodes.nr; i++)
		if (spark_node_is_in_stage(s, &q->nodes.at[i], "", b))
			s->id = hash_with(s->id, &i, sizeof(i));
}

void spark_identify(struct spark_log *l, struct budget *b)
{
	for (uint32_t i = 0; i < l->queries.nr; i++)
		identify_query(&l->queries.at[i]);
	for (uint32_t i = 0; i < l->stages.nr; i++)
		identify_stage(l, &l->stages.at[i], b);
}

/* ----------------------------------------------------------------------------------------------------------------- nodes */

const char *spark_prefix_of_node(const struct spark_node *n, char out[64])
{
	static const struct {
		const char *node, *prefix;
	} special[] = {
		{ "HashAggregate", "hashAgg" }, { "SortAggregate", "sortAgg" }, { "BroadcastHashJoin", "bhj" },
		{ "ShuffledHashJoin", "shj" }, { "SortMergeJoin", "smj" }, { "BroadcastNestedLoopJoin", "bnlj" },
		{ "Scan ExistingRDD", "rdd" }, { "InMemoryTableScan", "memoryScan" }, { "Scan", "scan" }, { "BatchScan", "scan" },
	};
	size_t nr;

	for (size_t i = 0; i < sizeof(special) / sizeof(special[0]); i++)
		if (strncmp(n->name, special[i].node, strlen(special[i].node)) == 0)
			return special[i].prefix;
	for (nr = 0; nr < 63 && isalnum((unsigned char)n->name[nr]); nr++)
		out[nr] = (char)tolower((unsigned char)n->name[nr]);
	out[nr] = 0;
	return nr ? out : NULL;
}

static bool is_updated(const struct spark_stage *s, uint64_t accumulator)
{
	uint32_t i = SORTED_COUNT(s->nr_accumulators, k, s->accumulator[k] < accumulator);

	return i < s->nr_accumulators && s->accumulator[i] == accumulator;
}

bool spark_node_is_in_stage(const struct spark_stage *s, const struct spark_node *n, const char *metric, struct budget *b)
{
	if (!budget_spend(b, 1 + n->nr_metrics))
		return false;
	for (uint32_t i = 0; i < n->nr_metrics; i++)
		if ((!*metric || strcmp(n->metric[i].name, metric) == 0) && is_updated(s, n->metric[i].accumulator))
			return true;
	return false;
}

static bool name_is_of_kind(const char *name, enum spark_kind kind, const char *kinds_name)
{
	if (kind == SPARK_SCAN)
		return strncmp(name, kinds_name, strlen(kinds_name)) == 0;
	return kind == SPARK_ANY_PYTHON ? spark_name_is_of_python(name) : strcmp(name, kinds_name) == 0;
}

uint32_t spark_node_of_kind(const struct spark_query *q, const struct spark_stage *s, enum spark_kind kind, struct budget *b)
{
#define SPARK_KIND_(NAME, node, metric) { node, metric },
	static const struct {
		const char *node, *metric;
	} kinds[] = { SPARK_KINDS(SPARK_KIND_) };
#undef SPARK_KIND_
	const char *name = kinds[kind].node, *metric = kinds[kind].metric;
	uint32_t found = 0;

	for (uint32_t i = 0; *name && i < q->nodes.nr; i++) {
		const struct spark_node *n = &q->nodes.at[i];

		if (!name_is_of_kind(n->name, kind, name))
			continue;
		if (!spark_node_is_in_stage(s, n, metric, b) &&
		    (*metric || !n->stage || !spark_node_is_in_stage(s, &q->nodes.at[n->stage - 1], "", b)))
			continue;
		if (found)
			return 0;
		found = i + 1;
	}
	return found;
}

bool spark_metric_value(const struct spark_log *l, const struct spark_node *n, const char *name, uint64_t *value)
{
	for (uint32_t i = 0; i < n->nr_metrics; i++)
		if (strcmp(n->metric[i].name, name) == 0)
			return spark_log_value(l, n->metric[i].accumulator, value);
	return false;
}

/* ----------------------------------------------------------------------------------------------------------------- tasks */

#define TASK_NAME "Executor task launch worker for "
#define TASK_COMM "Executor task l" /* the 15 characters that the kernel keeps of TASK_NAME */

/* Reads a task's number.  TASK_NAME is followed by "task 3.0 in stage 1.0 (TID 4)", before Spark 3.1 by "task 4". */
static bool task_number_of_name(const char *name, uint64_t *number)
{
	const char *at = strncmp(name, TASK_NAME, strlen(TASK_NAME)) == 0 ? name + strlen(TASK_NAME) : NULL, *tid;

	if (!at)
		return false;
	tid = strstr(at, "(TID ");
	at = tid ? tid + 5 : strncmp(at, "task ", 5) == 0 ? at + 5 : at;
	if (*at < '0' || *at > '9')
		return false;
	*number = strtoull(at, NULL, 10);
	return true;
}

/* Returns the time until which a thread had the name of row i of model.threads.renamed, which is sorted by thread and time. */
static uint64_t end_of_name(const struct model *m, uint32_t i)
{
	const struct renamed *r = &m->threads.renamed.at[i];

	return i + 1 < m->threads.renamed.nr && r[1].thread == r->thread ? r[1].from_ns : UINT64_MAX;
}

static uint32_t find_runs_by_name(const struct spark_log *l, const struct model *m, struct spark_run *run)
{
	uint32_t nr = 0, task;
	uint64_t number;

	for (uint32_t i = 0; i < m->threads.renamed.nr; i++) {
		if (!task_number_of_name(m->threads.at[m->threads.renamed.at[i].named].comm, &number))
			continue;
		task = hash_map_find(&l->task_of, number, 0);
		if (task)
			run[nr++] = (struct spark_run){ m->threads.renamed.at[i].thread, m->threads.renamed.at[i].from_ns,
							end_of_name(m, i), task - 1 };
	}
	return nr;
}

uint64_t spark_time_ns(const struct model *m, uint64_t real_ms)
{
	return real_ms * 1000000 - m->real_ns + m->begin_ns;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

/* This is the longest time between a task's beginning in the log and the renaming of its thread. The distances of both ends together are
 * less than twice as long. */
#define NEAR_NS 250000000ull
#define TASKS_A_STEP 16

/* Gives each renaming to a task's name the task whose beginning and end are nearest to it (NEAR_NS), among the tasks that no earlier
 * renaming has. Ends when the budget is exceeded. */
static uint32_t find_runs_by_time(const struct spark_log *l, const struct model *m, struct budget *b, struct spark_run *run)
{
	bool *taken = calloc((size_t)l->tasks.nr + 1, 1);
	uint32_t nr = 0;

	for (uint32_t i = 0; taken && i < m->threads.renamed.nr; i++) {
		const uint64_t from = m->threads.renamed.at[i].from_ns, to = end_of_name(m, i);
		uint64_t best = 2 * NEAR_NS;
		uint32_t task = l->tasks.nr;

		if (strcmp(m->threads.at[m->threads.renamed.at[i].named].comm, TASK_COMM) != 0)
			continue;
		if (!budget_spend(b, 1 + l->tasks.nr / TASKS_A_STEP))
			break;
		for (uint32_t k = 0; k < l->tasks.nr; k++) {
			uint64_t d = distance(from, spark_time_ns(m, l->tasks.at[k].begin_ms));

			if (d > NEAR_NS || taken[k])
				continue;
			d += to == UINT64_MAX ? 0 : distance(to, spark_time_ns(m, l->tasks.at[k].end_ms));
			if (d < best) {
				best = d;
				task = k;
			}
		}
		if (task < l->tasks.nr) {
			taken[task] = true;
			run[nr++] = (struct spark_run){ m->threads.renamed.at[i].thread, from, to, task };
		}
	}
	free(taken);
	return nr;
}

struct spark_run *spark_find_runs(const struct spark_log *l, const struct model *m, struct budget *b, uint32_t *nr, bool *by_time)
{
	struct spark_run *run = calloc((size_t)m->threads.renamed.nr + 1, sizeof(*run));

	*nr = run ? find_runs_by_name(l, m, run) : 0;
	*by_time = run && !*nr;
	if (*by_time)
		*nr = find_runs_by_time(l, m, b, run);
	return run;
}
