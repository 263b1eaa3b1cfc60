/* SPDX-License-Identifier: MIT */
#include "analyzer/spark/event_log.h"

#include "jitreg/base/budget.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/sorted.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SQL_EVENT "org.apache.spark.sql.execution.ui.SparkListenerSQL"

static const char *text_of(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "";
}

/* Returns a number, which Spark sometimes writes as a text, or 0 if it is neither or is negative. */
static uint64_t number_of_value(const json_t *v)
{
	const char *text = json_string_value(v);

	if (json_is_integer(v))
		return json_integer_value(v) > 0 ? (uint64_t)json_integer_value(v) : 0;
	return text && *text >= '0' && *text <= '9' ? strtoull(text, NULL, 10) : 0;
}

static uint64_t number_of(const json_t *o, const char *key)
{
	return number_of_value(json_object_get(o, key));
}

/* ---------------------------------------------------------------------------------------------------------------- plans */

/* Notes in the log if memory ran out for this copy of a text, and returns the copy. */
static char *noted(struct spark_log *l, char *copy)
{
	l->lacks_memory |= !copy;
	return copy;
}

/* Returns a copy without the numbers that differ between executions of a plan, as in id#12L and [plan_id=40], or NULL if memory ran out. */
static char *copy_without_expression_ids(const char *text)
{
	char *copy = strdup(text), *to = copy;

	for (const char *at = text; copy && *at;) {
		if (*at == '#' && at[1] >= '0' && at[1] <= '9') {
			at += 1 + strspn(at + 1, "0123456789");
			at += *at == 'L';
		} else if (strncmp(at, "plan_id=", 8) == 0) {
			at += 8 + strspn(at + 8, "0123456789");
		} else {
			*to++ = *at++;
		}
	}
	if (copy)
		*to = 0;
	return copy;
}

static bool node_is_wrapper(const char *name)
{
	const char *stage = strstr(name, "QueryStage");

	return strcmp(name, "InputAdapter") == 0 || strcmp(name, "AdaptiveSparkPlan") == 0 || (stage && !stage[10]);
}

static void free_nodes(struct spark_query *q)
{
	for (uint32_t i = 0; i < q->nodes.nr; i++) {
		for (uint32_t n = 0; n < q->nodes.at[i].nr_metrics; n++)
			free(q->nodes.at[i].metric[n].name);
		free(q->nodes.at[i].metric);
		free(q->nodes.at[i].name);
		free(q->nodes.at[i].detail);
	}
	q->nodes.nr = 0;
}

static void read_metrics(struct spark_log *l, struct spark_node *n, const json_t *list)
{
	size_t nr = json_array_size(list);

	n->metric = nr ? calloc(nr, sizeof(*n->metric)) : NULL;
	for (size_t i = 0; n->metric && i < nr; i++) {
		const json_t *m = json_array_get(list, i);

		n->metric[n->nr_metrics] = (struct spark_metric){ noted(l, strdup(text_of(m, "name"))),
								  number_of(m, "accumulatorId") };
		n->nr_metrics += n->metric[n->nr_metrics].name != NULL;
	}
}

static char *trimmed(const char *text)
{
	size_t bytes = strlen(text);

	while (bytes && text[bytes - 1] == ' ')
		bytes--;
	return strndup(text, bytes);
}

/* Adds a plan's nodes. parent: 1 + index of the parent; codegen: 1 + index of the WholeStageCodegen around.  Returns false if the plan
 * has more nodes or levels than are read. */
static bool read_plan(struct spark_log *l, struct spark_query *q, const json_t *plan, uint32_t parent, uint32_t codegen, uint32_t order,
		      int depth)
{
	const char *name = text_of(plan, "nodeName"), *detail = text_of(plan, "simpleString");
	const json_t *children = json_object_get(plan, "children");
	bool whole = true;

	if (!json_is_object(plan))
		return true;
	if (depth == SPARK_DEPTH_MAX || q->nodes.nr == SPARK_NODES_MAX)
		return false;
	if (node_is_wrapper(name)) {
		codegen = 0;
	} else if (ARRAY_GROW(q->nodes)) {
		struct spark_node *n = &q->nodes.at[q->nodes.nr++];

		*n = (struct spark_node){ .name = noted(l, trimmed(name)), .parent = parent, .order = order, .stage = codegen };
		if (strncmp(detail, name, strlen(name)) == 0)
			detail += strlen(name);
		n->detail = noted(l, copy_without_expression_ids(detail + strspn(detail, " ")));
		read_metrics(l, n, json_object_get(plan, "metrics"));
		parent = q->nodes.nr;
		if (sscanf(name, "WholeStageCodegen (%u)", &n->codegen) == 1) {
			n->stage = 0;
			codegen = parent;
			free(n->detail);
			n->detail = noted(l, strdup(""));
		}
	}
	for (size_t i = 0; i < json_array_size(children) && whole; i++)
		whole = read_plan(l, q, json_array_get(children, i), parent, codegen, (uint32_t)i, depth + 1);
	return whole;
}

static struct spark_query *query_of_event(struct spark_log *l, const json_t *o)
{
	uint64_t execution = number_of(o, "executionId");
	uint32_t i = hash_map_find(&l->query_of, execution, 0);

	if (!i && l->queries.nr < SPARK_LIST_MAX && ARRAY_GROW(l->queries)) {
		l->queries.at[l->queries.nr++] = (struct spark_query){ .execution = execution, .description = noted(l, strdup("")) };
		i = l->queries.nr;
		hash_map_set(&l->query_of, execution, 0, i);
	}
	return i ? &l->queries.at[i - 1] : NULL;
}

static void set_plan(struct spark_log *l, struct spark_query *q, const json_t *o)
{
	const json_t *plan = json_object_get(o, "sparkPlanInfo");

	if (!json_is_object(plan))
		return;
	free_nodes(q);
	l->cut_plans += !read_plan(l, q, plan, 0, 0, 0, 0);
}

static void read_execution_start(struct spark_log *l, const json_t *o)
{
	struct spark_query *q = query_of_event(l, o);

	if (!q)
		return;
	q->begin_ms = number_of(o, "time");
	free(q->description);
	q->description = noted(l, strdup(text_of(o, "description")));
	set_plan(l, q, o);
}

static void read_adaptive_update(struct spark_log *l, const json_t *o)
{
	struct spark_query *q = query_of_event(l, o);

	if (q)
		set_plan(l, q, o);
}

static void read_execution_end(struct spark_log *l, const json_t *o)
{
	struct spark_query *q = query_of_event(l, o);

	if (q)
		q->end_ms = number_of(o, "time");
}

/* -------------------------------------------------------------------------------------------------- stages, tasks, values */

static void set_value(struct spark_log *l, uint64_t accumulator, uint64_t value)
{
	uint32_t i = hash_map_find(&l->value_of, accumulator, 0);

	if (!i && l->values.nr < SPARK_LIST_MAX && ARRAY_GROW(l->values)) {
		i = ++l->values.nr;
		hash_map_set(&l->value_of, accumulator, 0, i);
	}
	if (i)
		l->values.at[i - 1] = value;
}

bool spark_log_value(const struct spark_log *l, uint64_t accumulator, uint64_t *value)
{
	uint32_t i = hash_map_find(&l->value_of, accumulator, 0);

	if (i)
		*value = l->values.at[i - 1];
	return i;
}

static void read_driver_values(struct spark_log *l, const json_t *o)
{
	const json_t *list = json_object_get(o, "accumUpdates");

	for (size_t i = 0; i < json_array_size(list); i++) {
		const json_t *pair = json_array_get(list, i);

		set_value(l, number_of_value(json_array_get(pair, 0)), number_of_value(json_array_get(pair, 1)));
	}
}

static uint32_t get_stage(struct spark_log *l, uint64_t number, uint64_t attempt)
{
	uint32_t i = hash_map_find(&l->stage_of, number, attempt);

	if (!i && l->stages.nr < SPARK_LIST_MAX && ARRAY_GROW(l->stages)) {
		l->stages.at[l->stages.nr++] = (struct spark_stage){ .number = number, .attempt = attempt, .name = noted(l, strdup("")),
								 .query = hash_map_find(&l->query_of_stage, number, 0) };
		i = l->stages.nr;
		hash_map_set(&l->stage_of, number, attempt, i);
	}
	return i;
}

bool spark_name_is_of_python(const char *name)
{
	return strstr(name, "Python") || strstr(name, "Pandas") || strstr(name, "InArrow");
}

/* Returns whether one of the RDDs runs Python functions, by its name (PythonRDD), or by its scope, which is the node that it was made for
 * (BatchEvalPython). */
static bool computes_python(const json_t *rdds)
{
	for (size_t i = 0; i < json_array_size(rdds); i++)
		if (spark_name_is_of_python(text_of(json_array_get(rdds, i), "Name")) ||
		    spark_name_is_of_python(text_of(json_array_get(rdds, i), "Scope")))
			return true;
	return false;
}

static void read_stage(struct spark_log *l, const json_t *o)
{
	const json_t *info = json_object_get(o, "Stage Info"), *list = json_object_get(info, "Accumulables");
	uint32_t i = get_stage(l, number_of(info, "Stage ID"), number_of(info, "Stage Attempt ID"));
	struct spark_stage *s = &l->stages.at[i ? i - 1 : 0];
	size_t nr = json_array_size(list);

	if (!i)
		return;
	free(s->name);
	s->name = noted(l, strdup(text_of(info, "Stage Name")));
	s->has_python |= computes_python(json_object_get(info, "RDD Info"));
	free(s->accumulator);
	s->nr_accumulators = 0;
	s->accumulator = calloc(nr + 1, sizeof(*s->accumulator));
	for (size_t n = 0; s->accumulator && n < nr; n++) {
		const json_t *a = json_array_get(list, n);

		s->accumulator[s->nr_accumulators++] = number_of(a, "ID");
		set_value(l, number_of(a, "ID"), number_of(a, "Value"));
	}
	if (s->nr_accumulators)
		qsort(s->accumulator, s->nr_accumulators, sizeof(*s->accumulator), sorted_by_number);
}

static void read_job(struct spark_log *l, const json_t *o)
{
	const json_t *execution = json_object_get(json_object_get(o, "Properties"), "spark.sql.execution.id");
	const json_t *stages = json_object_get(o, "Stage IDs");
	uint32_t query = execution ? hash_map_find(&l->query_of, number_of_value(execution), 0) : 0;

	for (size_t i = 0; query && i < json_array_size(stages); i++)
		if (!hash_map_find(&l->query_of_stage, number_of_value(json_array_get(stages, i)), 0))
			hash_map_set(&l->query_of_stage, number_of_value(json_array_get(stages, i)), 0, query);
}

static void read_task(struct spark_log *l, const json_t *o)
{
	const json_t *info = json_object_get(o, "Task Info"), *metrics = json_object_get(o, "Task Metrics");
	uint64_t number = number_of(info, "Task ID");
	uint32_t i = hash_map_find(&l->task_of, number, 0), stage;

	if (!i && l->tasks.nr < SPARK_LIST_MAX && ARRAY_GROW(l->tasks)) {
		i = ++l->tasks.nr;
		l->tasks.at[i - 1] = (struct spark_task){ .number = number };
		hash_map_set(&l->task_of, number, 0, i);
	}
	stage = i ? get_stage(l, number_of(o, "Stage ID"), number_of(o, "Stage Attempt ID")) : 0;
	if (!i)
		return;
	l->tasks.at[i - 1].stage = stage;
	l->tasks.at[i - 1].begin_ms = number_of(info, "Launch Time");
	l->tasks.at[i - 1].end_ms = number_of(info, "Finish Time");
	l->tasks.at[i - 1].cpu_ns = number_of(metrics, "Executor CPU Time") + number_of(metrics, "Executor Deserialize CPU Time");
}

/* ---------------------------------------------------------------------------------------------------------------- lines */

static const struct {
	const char *name;
	void (*read)(struct spark_log *l, const json_t *o);
} events[] = {
	{ SQL_EVENT "ExecutionStart", read_execution_start },
	{ SQL_EVENT "AdaptiveExecutionUpdate", read_adaptive_update },
	{ SQL_EVENT "ExecutionEnd", read_execution_end },
	{ "org.apache.spark.sql.execution.ui.SparkListenerDriverAccumUpdates", read_driver_values },
	{ "SparkListenerJobStart", read_job },
	{ "SparkListenerStageSubmitted", read_stage },
	{ "SparkListenerStageCompleted", read_stage },
	{ "SparkListenerTaskStart", read_task },
	{ "SparkListenerTaskEnd", read_task },
};
#define NR_EVENTS (sizeof(events) / sizeof(events[0]))
#define EVENT_BEGIN "{\"Event\":\""

/* Returns the index of a line's event in events[], or NR_EVENTS.  Spark writes the event's name first, so lines of other events need not
 * be parsed. */
static size_t find_event(const char *line, size_t bytes)
{
	const size_t begin = strlen(EVENT_BEGIN);

	for (size_t i = 0; bytes > begin && i < NR_EVENTS; i++) {
		size_t nr = strlen(events[i].name);

		if (bytes > begin + nr && strncmp(line + begin, events[i].name, nr) == 0 && line[begin + nr] == '"')
			return i;
	}
	return NR_EVENTS;
}

bool spark_log_read_line(struct spark_log *l, const char *line, size_t bytes)
{
	size_t event = find_event(line, bytes);
	json_t *o;

	if (bytes < strlen(EVENT_BEGIN) || strncmp(line, EVENT_BEGIN, strlen(EVENT_BEGIN)) != 0)
		return bytes == 0;
	if (event == NR_EVENTS)
		return true;
	o = json_loadb(line, bytes, 0, NULL);
	if (o)
		events[event].read(l, o);
	json_decref(o);
	return o;
}

void spark_log_fini(struct spark_log *l)
{
	for (uint32_t i = 0; i < l->queries.nr; i++) {
		free_nodes(&l->queries.at[i]);
		free(l->queries.at[i].nodes.at);
		free(l->queries.at[i].description);
	}
	for (uint32_t i = 0; i < l->stages.nr; i++) {
		free(l->stages.at[i].name);
		free(l->stages.at[i].accumulator);
	}
	free(l->queries.at);
	free(l->stages.at);
	free(l->tasks.at);
	free(l->values.at);
	hash_map_fini(&l->query_of);
	hash_map_fini(&l->stage_of);
	hash_map_fini(&l->query_of_stage);
	hash_map_fini(&l->task_of);
	hash_map_fini(&l->value_of);
}
