/* SPDX-License-Identifier: MIT */
/*
 * What a thread of DuckDB works on: a pipeline, in which each operator has one part, or a task of one operator.  In a pipeline's frames a
 * register holds its executor, so that an operator is known by its part also where no register holds it.
 */
#include "shim/engines/duckdb.h"

#include "agent/guest/sys.h"

#include <stdio.h>
#include <string.h>

#define PIPELINE_WORDS 48u /* of a pipeline that are looked at */
#define PARTS_MAX 64u
#define NAME_BYTES 160

/* A class derived from PhysicalOperator leaves most virtual functions to it. */
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

/* An operator of the plan, or one that the plan does not have: 2.0 reads a CTE by a source of its own. */
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

struct part {
	uint32_t operator; /* index */
	enum duckdb_role role;
};

static bool add_pipeline_part(const struct duckdb_connection *c, struct part *part, uint32_t *nr, uint64_t address, enum duckdb_role role)
{
	uint32_t found = duckdb_find_operator(c, address);

	if (found && *nr < PARTS_MAX)
		part[(*nr)++] = (struct part){ found - 1, role };
	return found;
}

/* part[0] is the source, if the plan has it.  Names are known where the plan's were just asked for; else the pipeline's was said before. */
static void register_pipeline_component(const struct duckdb_connection *c, uint64_t id, const struct part *part, uint32_t nr)
{
	char name[NAME_BYTES] = "";

	if (duckdb_is_registered(id) || !*c->operator[0].name)
		return;
	for (int is_last = 0; is_last < 2; is_last++)
		for (uint32_t i = 0; i < nr; i++)
			if ((part[i].role == DUCKDB_SINK) == is_last)
				append_operator_name(name, &c->operator[part[i].operator], !i);
	if (jitreg_component(DUCKDB_LEVEL_PIPELINE, id, name, NULL, JITREG_COMPONENT_COMMON) == 0 &&
	    jitreg_link_to(jitreg_at(DUCKDB_LEVEL_PIPELINE, id), jitreg_at(DUCKDB_LEVEL_QUERY, c->query), 1) == 0)
		duckdb_mark_registered(id);
}

void duckdb_pipeline_register(struct duckdb_connection *c, uint64_t executor, uint64_t pipeline)
{
	struct jitreg_object_component of[3];
	struct jitreg_function functions[DUCKDB_FUNCTIONS];
	uint64_t word[PIPELINE_WORDS], id = c->plan;
	struct part part[PARTS_MAX];
	struct duckdb_pipeline p;
	uint32_t nr = 0;

	if (!c->plan || !sys_readable_range((const void *)pipeline, sizeof(word)))
		return;
	memcpy(word, (const void *)pipeline, sizeof(word));
	if (!duckdb_pipeline_find(word, PIPELINE_WORDS, is_operator, c, &p) ||
	    !sys_readable_range((const void *)p.first, p.end - p.first))
		return;
	add_pipeline_part(c, part, &nr, word[p.source], DUCKDB_SOURCE);
	if (p.sink && !add_pipeline_part(c, part, &nr, p.sink, DUCKDB_SINK))
		return;
	for (uint64_t at = p.first; at < p.end; at += 8)
		if (!add_pipeline_part(c, part, &nr, *(const uint64_t *)at, DUCKDB_MIDDLE))
			return;
	if (!nr)
		return;
	for (uint32_t i = 0; i < nr; i++)
		id = engine_hash(id, &part[i], sizeof(part[i]));
	register_pipeline_component(c, id, part, nr);
	of[1] = (struct jitreg_object_component){ DUCKDB_LEVEL_PIPELINE, id };
	of[2] = (struct jitreg_object_component){ DUCKDB_LEVEL_QUERY, c->query };
	of[0] = (struct jitreg_object_component){ DUCKDB_LEVEL_OPERATOR, DUCKDB_BETWEEN_ID };
	jitreg_object(executor, (uint64_t)(uintptr_t)c, 0, duckdb.pipeline, duckdb.nr_pipeline, of, 3);
	for (uint32_t i = 0; i < nr; i++) {
		const struct duckdb_operator *o = &c->operator[part[i].operator];

		of[0] = (struct jitreg_object_component){ DUCKDB_LEVEL_OPERATOR, duckdb_operator_id(c, part[i].operator) };
		jitreg_object(executor + 1 + i, executor, 0, functions, duckdb_functions_of_role(o, part[i].role, functions), of, 3);
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
