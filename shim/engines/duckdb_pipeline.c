/* SPDX-License-Identifier: MIT */
/*
 * A thread of DuckDB works on a pipeline, in which each operator has one part, or on a task of one operator. In a pipeline's frames a
 * register holds the pipeline's executor, so an operator is known by its part even where no register holds the operator.
 *
 * The executor's own functions work for one of the operators, too. The executor's loop fetches rows from the pipeline's source. So the
 * executor's own work there (chunks are made and cleared, an interruption is looked for) counts to the source, and the executor's object
 * has the source's component. Another function calls the operators that pass rows on, one after another, and a register holds each of them.
 * Other functions give the rows to the sink, the last of them when all rows are flushed.
 */
#include "shim/engines/duckdb.h"

#include "agent/guest/sys.h"

#include <stdio.h>
#include <string.h>

#define PIPELINE_WORDS 48u /* words of a pipeline that are searched */
#define EXECUTOR_IN_WORDS 16u /* first words of a pipeline, one of which points to its query's executor */
#define NAME_BYTES 160

/* Does the object at address belong to a class derived from PhysicalOperator? Such a class leaves more than a quarter of the virtual
 * functions to the base class. */
static bool has_operator_table(uint64_t address)
{
	uint32_t nr_common = 0;
	const uint64_t *table;

	if (address % 8 || !sys_readable_range((const void *)address, 8))
		return false;
	table = *(const uint64_t *const *)address;
	if ((uintptr_t)table % 8 || !object_contains(&duckdb.library, table, (size_t)duckdb.nr_slots * 8))
		return false;
	for (uint32_t i = 0; i < duckdb.nr_slots; i++)
		nr_common += table[i] == duckdb.operator_table[i];
	return nr_common > duckdb.nr_slots / 4;
}

/* Is it an operator of the plan, or one that the plan does not have?  2.0 reads a CTE by such a source. */
static bool is_operator(void *context, uint64_t address)
{
	return duckdb_find_operator(context, address) || has_operator_table(address);
}

static void append_operator_name(char *to, const struct duckdb_operator *o, bool is_first)
{
	size_t n = strlen(to);

	if (n + 5 < NAME_BYTES)
		snprintf(to + n, NAME_BYTES - n, "%s%s", is_first ? "" : " > ", o->name);
}

static bool add_pipeline_part(const struct duckdb_connection *c, struct duckdb_parts *to, uint64_t address, enum duckdb_role role)
{
	uint32_t found = duckdb_find_operator(c, address);

	if (found && to->nr < DUCKDB_PARTS_MAX)
		to->part[to->nr++] = (struct duckdb_part){ found - 1, role };
	return found;
}

/* Operator names are known only if the plan's names were just read. Later runs of the plan use the component that was registered then. */
static void register_pipeline_component(const struct duckdb_connection *c, const struct duckdb_parts *p)
{
	char name[NAME_BYTES] = "";

	if (duckdb_is_registered(p->id) || !*c->operator[0].name)
		return;
	for (int is_last = 0; is_last < 2; is_last++)
		for (uint32_t i = 0; i < p->nr; i++)
			if ((p->part[i].role == DUCKDB_SINK) == is_last)
				append_operator_name(name, &c->operator[p->part[i].operator], !i);
	if (jitreg_component(DUCKDB_LEVEL_PIPELINE, p->id, name, NULL, JITREG_COMPONENT_COMMON) == 0 &&
	    jitreg_link_to(jitreg_at(DUCKDB_LEVEL_PIPELINE, p->id), jitreg_at(DUCKDB_LEVEL_QUERY, c->query), 1) == 0)
		duckdb_mark_registered(p->id);
}

bool duckdb_pipeline_read(const struct duckdb_connection *c, uint64_t pipeline, struct duckdb_parts *to)
{
	uint64_t word[PIPELINE_WORDS];
	struct duckdb_pipeline p;

	to->nr = 0;
	to->id = c->plan;
	if (!c->plan || !sys_readable_range((const void *)pipeline, sizeof(word)))
		return false;
	memcpy(word, (const void *)pipeline, sizeof(word));
	if (!duckdb_pipeline_find(word, PIPELINE_WORDS, is_operator, (void *)(uintptr_t)c, &p) ||
	    !sys_readable_range((const void *)p.first, p.end - p.first))
		return false;
	add_pipeline_part(c, to, word[p.source], DUCKDB_SOURCE);
	if (p.sink && !add_pipeline_part(c, to, p.sink, DUCKDB_SINK))
		return false;
	for (uint64_t at = p.first; at < p.end; at += 8)
		if (!add_pipeline_part(c, to, *(const uint64_t *)at, DUCKDB_MIDDLE))
			return false;
	for (uint32_t i = 0; i < to->nr; i++)
		to->id = engine_hash(to->id, &to->part[i], sizeof(to->part[i]));
	return to->nr != 0;
}

/* Appends the executor's functions that work for operators of the role to nr other functions.  Returns the new number. */
static uint32_t add_pipeline_functions(enum duckdb_role role, struct jitreg_function *to, uint32_t nr)
{
	for (uint32_t i = 0; i < duckdb.nr_pipeline && nr < DUCKDB_FUNCTIONS; i++)
		if (duckdb.pipeline[i].role == role)
			to[nr++] = (struct jitreg_function){ duckdb.pipeline[i].address };
	return nr;
}

void duckdb_pipeline_register(struct duckdb_connection *c, uint64_t executor, const struct duckdb_parts *p)
{
	struct jitreg_object_component of[3] = { { DUCKDB_LEVEL_OPERATOR, DUCKDB_BETWEEN_ID },
						 { DUCKDB_LEVEL_PIPELINE, p->id },
						 { DUCKDB_LEVEL_QUERY, c->query } };
	struct jitreg_function functions[DUCKDB_FUNCTIONS];

	register_pipeline_component(c, p);
	if (p->part[0].role == DUCKDB_SOURCE)
		of[0].component = duckdb_operator_id(c, p->part[0].operator);
	jitreg_object(executor, (uint64_t)(uintptr_t)c, 0, functions, add_pipeline_functions(DUCKDB_SOURCE, functions, 0), of, 3);
	for (uint32_t i = 0; i < p->nr; i++) {
		const struct duckdb_operator *o = &c->operator[p->part[i].operator];
		const enum duckdb_role role = p->part[i].role;
		uint32_t nr = duckdb_functions_of_role(o, role, functions);

		if (role != DUCKDB_SOURCE)
			nr = add_pipeline_functions(role, functions, nr);
		of[0].component = duckdb_operator_id(c, p->part[i].operator);
		jitreg_object(executor + 1 + i, executor, 0, functions, nr, of, 3);
	}
}

void duckdb_task_register(struct duckdb_connection *c, uint64_t task, uint64_t operator)
{
	struct jitreg_object_component of[2] = { { DUCKDB_LEVEL_OPERATOR, DUCKDB_BETWEEN_ID }, { DUCKDB_LEVEL_QUERY, c->query } };
	struct jitreg_function execute = { duckdb.task_execute };
	uint32_t i = c->plan && operator ? duckdb_find_operator(c, operator) : 0;

	if (i)
		of[0] = (struct jitreg_object_component){ DUCKDB_LEVEL_OPERATOR, duckdb_operator_id(c, i - 1) };
	if (c->plan)
		jitreg_object(task, i ? operator : (uint64_t)(uintptr_t)c, 0, &execute, 1, of, 2);
}

/* Finds the connection whose query a pipeline belongs to, by the pipeline's pointer to the query's executor. Returns NULL if there is
 * none. */
static struct duckdb_connection *find_pipeline_connection(uint64_t pipeline)
{
	const uint64_t *word = (const uint64_t *)pipeline;
	struct duckdb_connection *c = NULL;

	if (!sys_readable_range(word, EXECUTOR_IN_WORDS * sizeof(*word)))
		return NULL;
	for (uint32_t i = 0; i < EXECUTOR_IN_WORDS && !c; i++)
		c = duckdb_find_executor_connection(word[i]);
	return c;
}

void duckdb_pipeline_task_register(uint64_t task, uint64_t pipeline)
{
	const struct jitreg_function functions[] = { { duckdb.task_execute }, { duckdb.pipeline_task_execute } };
	struct duckdb_connection *c = find_pipeline_connection(pipeline);
	struct jitreg_object_component of[] = { { DUCKDB_LEVEL_OPERATOR, DUCKDB_BETWEEN_ID }, { DUCKDB_LEVEL_QUERY, c ? c->query : 0 } };

	if (c && c->plan)
		jitreg_object(task, (uint64_t)(uintptr_t)c, 0, functions, 1 + (functions[1].address != 0), of, 2);
}
