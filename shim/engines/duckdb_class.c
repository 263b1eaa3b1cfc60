/* SPDX-License-Identifier: MIT */
/*
 * Operators also work in functions of their class that are not virtual, which are tasks of their own
 * (PhysicalBatchCopyToFile::ExecuteTasks) and loops that the table of virtual functions does not have.  The library exports them, and their
 * names begin with the name of the class.
 */
#include "shim/engines/duckdb.h"

#include <string.h>

#define TABLE_NAME "_ZTVN6duckdb"
#define BEFORE_FUNCTIONS 16u /* bytes of a table before its functions, for the offset to top and the type information */

struct search {
	uint64_t table;
	const char *name; /* mangled name of the class, "20PhysicalUpdateE" */
	size_t name_bytes; /* length without the E */
	struct duckdb_class *to;
};

static bool see_table(void *context, const char *name, uint64_t address)
{
	struct search *s = context;

	if (address != s->table - BEFORE_FUNCTIONS || strncmp(name, TABLE_NAME, sizeof(TABLE_NAME) - 1))
		return true;
	s->name = name + sizeof(TABLE_NAME) - 1;
	s->name_bytes = strlen(s->name) - 1;
	return false;
}

static bool is_virtual(uint64_t table, uint64_t function)
{
	const uint64_t *at = (const uint64_t *)table;

	for (uint32_t i = 0; i < duckdb.nr_slots; i++)
		if (at[i] == function)
			return true;
	return false;
}

static bool see_function(void *context, const char *name, uint64_t address)
{
	static const char *const before[] = { "_ZN6duckdb", "_ZNK6duckdb" };
	struct search *s = context;

	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		const char *rest = name + strlen(before[i]);

		if (strncmp(name, before[i], strlen(before[i])) || strncmp(rest, s->name, s->name_bytes))
			continue;
		rest += s->name_bytes;
		/* constructors and destructors are left out, because they are not part of an operator's work */
		if (rest[0] >= '1' && rest[0] <= '9' && address >= duckdb.text_begin && address < duckdb.text_end &&
		    !is_virtual(s->table, address))
			s->to->function[s->to->nr++] = address;
	}
	return s->to->nr < DUCKDB_CLASS_FUNCTIONS;
}

/* Finds the class with this table, or adds it.  Returns NULL if there are too many classes. */
static const struct duckdb_class *find_class(uint64_t table)
{
	for (size_t i = 0; i < DUCKDB_CLASSES_MAX; i++) {
		struct duckdb_class *c = &duckdb.queries->class[i];
		struct search s = { .table = table, .to = c };

		if (c->table == table)
			return c;
		if (c->table)
			continue;
		c->table = table;
		object_each_symbol(&duckdb.library, see_table, &s);
		if (s.name)
			object_each_symbol(&duckdb.library, see_function, &s);
		return c;
	}
	return NULL;
}

uint32_t duckdb_class_functions(uint64_t table, struct jitreg_function *to, uint32_t nr)
{
	const struct duckdb_class *c;

	if (__atomic_exchange_n(&duckdb.queries->class_lock, 1, __ATOMIC_ACQUIRE))
		return nr;
	c = find_class(table);
	for (uint32_t i = 0; c && i < c->nr && nr < DUCKDB_FUNCTIONS; i++)
		to[nr++] = (struct jitreg_function){ c->function[i] };
	__atomic_store_n(&duckdb.queries->class_lock, 0, __ATOMIC_RELEASE);
	return nr;
}
