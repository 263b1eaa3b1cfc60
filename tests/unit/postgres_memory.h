/* SPDX-License-Identifier: MIT */
/* Imitates the memory of a PostgreSQL server, with nodes of plans, in an array of the test. Addresses of data are those of this process,
 * and addresses of functions are made up (TEXT). */
#ifndef TAILOR_TESTS_POSTGRES_MEMORY_H
#define TAILOR_TESTS_POSTGRES_MEMORY_H

#include "jitreg/engines/postgres_plan.h"
#include "tests/unit/unit.h"

#include <string.h>

#define MEMORY_BYTES (8u << 20)
#define TEXT 0x500000000000ull

static _Alignas(16) unsigned char memory[MEMORY_BYTES];
static size_t used;
static uint64_t nr_reads;
static struct postgres_code code;
static struct postgres_reader reader;
static const struct postgres_layout *l;
static uint64_t query_address, state;

static uint64_t address_of(const void *at)
{
	return (uint64_t)(uintptr_t)at;
}

static int read_memory(void *context, uint64_t address, void *to, size_t bytes)
{
	uint64_t begin = address_of(memory);

	(void)context;
	nr_reads++;
	if (address < begin || address - begin > sizeof(memory) || bytes > sizeof(memory) - (address - begin))
		return -1;
	memcpy(to, memory + (address - begin), bytes);
	return 0;
}

static uint64_t take(size_t bytes)
{
	uint64_t at = address_of(memory) + used;

	assert_true(used + bytes + 16 < sizeof(memory));
	used += (bytes + 15) & ~(size_t)15;
	return at;
}

static void put(uint64_t address, uint16_t offset, const void *from, size_t bytes)
{
	memcpy(memory + (address - address_of(memory)) + offset, from, bytes);
}

static void put8(uint64_t address, uint16_t offset, uint64_t value)
{
	put(address, offset, &value, 8);
}

static void put4(uint64_t address, uint16_t offset, uint32_t value)
{
	put(address, offset, &value, 4);
}

static uint64_t new_text(const char *text)
{
	uint64_t at = take(strlen(text) + 1);

	put(at, 0, text, strlen(text) + 1);
	return at;
}

static uint64_t new_list(const uint64_t *element, uint32_t nr)
{
	uint64_t list = take(64), elements = take(8 * (size_t)nr + 8);

	put4(list, 0, l->tag_list);
	put4(list, l->list_nr, nr);
	put8(list, l->list_elements, elements);
	if (nr)
		put(elements, 0, element, 8 * (size_t)nr);
	return list;
}

static uint64_t new_node(enum postgres_node_type type, int id)
{
	uint64_t node = take(512), plan = take(384);
	double rows = 42;

	put4(node, 0, l->tag_of_state[type]);
	put8(node, l->node_plan, plan);
	put8(node, l->node_state, state);
	put8(node, l->node_function, TEXT + 0x100 * (unsigned)type);
	put4(plan, 0, l->tag_of_plan[type]);
	put4(plan, l->plan_id, (uint32_t)id);
	put(plan, l->plan_rows, &rows, 8);
	return node;
}

static uint64_t plan_of(uint64_t node)
{
	uint64_t plan;

	memcpy(&plan, memory + (node - address_of(memory)) + l->node_plan, 8);
	return plan;
}

static uint64_t new_subplan(uint64_t node, const char *name)
{
	uint64_t subplan = take(64), expression = take(128);

	put4(subplan, 0, l->tag_subplan_state);
	put8(subplan, l->subplan_node, node);
	put8(subplan, l->subplan_expression, expression);
	put4(expression, 0, l->tag_subplan);
	put8(expression, l->subplan_name, new_text(name));
	return subplan;
}

static void set_members(uint64_t append, const uint64_t *member, uint32_t nr)
{
	uint64_t array = take(8 * (size_t)nr + 8);

	put(array, 0, member, 8 * (size_t)nr);
	put8(append, l->append_members, array);
	put4(append, l->append_nr, nr);
}

#endif
