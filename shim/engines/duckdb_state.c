/* SPDX-License-Identifier: MIT */
/*
 * What a pipeline's executor keeps for its operators: a state for the source, the sink and each one between.  At the end of a task they are
 * destroyed, by functions of classes that no operator has, with hash tables and scans in them: that is work for their operator.  States are
 * recognised by the class that they are derived from (type information in front of the table of virtual functions), and where an executor
 * keeps them is learnt from the first that has some.
 */
#include "shim/engines/duckdb.h"

#include "agent/guest/sys.h"

#include <string.h>

#define BASES_MAX 8 /* classes between a state's and the one that it is derived from */
#define DESTRUCTORS 2u /* the first virtual functions: of it alone, and of it with its memory */

/* Type information of a class with one base: its table, its name, the base's type information. */
static bool is_derived_from(uint64_t type, uint64_t base)
{
	for (int i = 0; base && i < BASES_MAX && type != base; i++) {
		if (type % 8 || !object_contains(&duckdb.library, (const void *)type, 24))
			return false;
		type = ((const uint64_t *)type)[2];
	}
	return base && type == base;
}

/* Its table of virtual functions, if there is a state of that role; else NULL. */
static const uint64_t *find_state_table(uint64_t state, enum duckdb_role role)
{
	const uint64_t *table;

	if (!state || state % 8 || !sys_readable_range((const void *)state, 8))
		return NULL;
	table = *(const uint64_t *const *)state;
	if ((uintptr_t)table % 8 || !object_contains(&duckdb.library, table - 1, 8 + DESTRUCTORS * 8))
		return NULL;
	return is_derived_from(table[-1], duckdb.state_type[role]) ? table : NULL;
}

/* The state that the executor has by its word i: there, or, of those between, the nth of nr in an array.  0: there is no such array. */
static uint64_t read_state(const uint64_t *word, uint32_t i, enum duckdb_role role, uint32_t n, uint32_t nr)
{
	if (role != DUCKDB_MIDDLE)
		return word[i];
	if (i + 1 == DUCKDB_EXECUTOR_WORDS || word[i] % 8 || word[i + 1] - word[i] != nr * 8ull ||
	    !sys_readable_range((const void *)word[i], nr * 8ull))
		return 0;
	return ((const uint64_t *)word[i])[n];
}

/* Which of the executor's words leads to states of the role; DUCKDB_EXECUTOR_WORDS: none does. */
static uint32_t find_state_word(const uint64_t *word, enum duckdb_role role, uint32_t nr)
{
	uint32_t known = __atomic_load_n(&duckdb.state_word[role], __ATOMIC_RELAXED);

	for (uint32_t i = 0; i < DUCKDB_EXECUTOR_WORDS && !known; i++)
		if (find_state_table(read_state(word, i, role, 0, nr), role)) {
			known = i + 1;
			__atomic_store_n(&duckdb.state_word[role], known, __ATOMIC_RELAXED);
		}
	return known ? known - 1 : DUCKDB_EXECUTOR_WORDS;
}

static void register_state(const struct duckdb_connection *c, uint64_t executor, uint64_t state, const struct duckdb_parts *p,
			   const struct duckdb_part *part)
{
	const struct jitreg_object_component of[] = { { DUCKDB_LEVEL_OPERATOR, duckdb_operator_id(c, part->operator) },
						      { DUCKDB_LEVEL_PIPELINE, p->id },
						      { DUCKDB_LEVEL_QUERY, c->query } };
	const uint64_t *table = find_state_table(state, part->role);

	if (table) {
		const struct jitreg_function functions[DESTRUCTORS] = { { table[0] }, { table[1] } };

		jitreg_object(state, executor, 0, functions, DESTRUCTORS, of, 3);
	}
}

void duckdb_states_register(struct duckdb_connection *c, uint64_t executor, const struct duckdb_parts *p)
{
	uint32_t nr[DUCKDB_NO_ROLE] = { 0 }, seen[DUCKDB_NO_ROLE] = { 0 };
	uint64_t word[DUCKDB_EXECUTOR_WORDS];

	if (!sys_readable_range((const void *)executor, sizeof(word)))
		return;
	memcpy(word, (const void *)executor, sizeof(word));
	for (uint32_t i = 0; i < p->nr; i++)
		nr[p->part[i].role]++;
	for (uint32_t i = 0; i < p->nr; i++) {
		const enum duckdb_role role = p->part[i].role;
		const uint32_t w = find_state_word(word, role, nr[role]);

		if (w < DUCKDB_EXECUTOR_WORDS)
			register_state(c, executor, read_state(word, w, role, seen[role]++, nr[role]), p, &p->part[i]);
	}
}
