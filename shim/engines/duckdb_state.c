/* SPDX-License-Identifier: MIT */
/*
 * The executor of a pipeline keeps a state for the source, the sink and each operator between.  At the end of a task the states are
 * destroyed, with the hash tables and scans in them, by functions of classes that no operator has.  This work counts to the state's
 * operator.  States are recognised by the class that they are derived from (type information in front of the table of virtual functions).
 * The first executor with a state shows in which of its words such states are kept.
 */
#include "shim/engines/duckdb.h"

#include "agent/guest/sys.h"

#include <string.h>

#define BASES_MAX 8 /* steps from a state's class to a base class that are followed */
#define DESTRUCTORS 2u /* the first virtual functions are the destructor, and the one that also frees the memory */

/* Is the class `type` derived from base?  The type information of a class with one base has a table, a name, and the base's type
 * information. */
static bool is_derived_from(uint64_t type, uint64_t base)
{
	for (int i = 0; base && i < BASES_MAX && type != base; i++) {
		if (type % 8 || !object_contains(&duckdb.library, (const void *)type, 24))
			return false;
		type = ((const uint64_t *)type)[2];
	}
	return base && type == base;
}

/* Returns the table of virtual functions of the state at that address, or NULL if there is no state of that role. */
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

/* Reads a state by word i of the executor.  The word points to the state.  For operators between source and sink it points to an array of
 * nr states, of which the nth is read.  Returns 0 if there is no such array. */
static uint64_t read_state(const uint64_t *word, uint32_t i, enum duckdb_role role, uint32_t n, uint32_t nr)
{
	if (role != DUCKDB_MIDDLE)
		return word[i];
	if (i + 1 == DUCKDB_EXECUTOR_WORDS || word[i] % 8 || word[i + 1] - word[i] != nr * 8ull ||
	    !sys_readable_range((const void *)word[i], nr * 8ull))
		return 0;
	return ((const uint64_t *)word[i])[n];
}

/* Finds the word of the executor that leads to states of the role.  Returns DUCKDB_EXECUTOR_WORDS if none does. */
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
