/* SPDX-License-Identifier: MIT */
#include "analyzer/model/callers.h"

#include "jitreg/base/grow.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 32u		    /* functions that call one another in a plan; a plan has 64 levels */
#define ORDER_BEHIND_NODES 0x10000u /* order of an edge, behind those of a node's own children */

void callers_fini(struct callers *c)
{
	free(c->at);
	free(c->called.at);
	hash_map_fini(&c->caller_of);
	hash_map_fini(&c->made);
	hash_map_fini(&c->called_of);
	memset(c, 0, sizeof(*c));
}

uint32_t callers_enter(struct callers *c, uint32_t outer, uint32_t component, uint32_t query)
{
	const uint64_t place = (uint64_t)query << 32 | component;
	uint32_t i;

	for (i = outer; i; i = c->at[i].outer)
		if (c->at[i].component == component && c->at[i].query == query)
			return i;
	i = hash_map_find(&c->caller_of, outer, place);
	if (i)
		return i;
	if (!c->nr && !ARRAY_GROW(*c))
		return outer;
	if (!c->nr)
		c->at[c->nr++] = (struct caller){ 0 };
	if (c->nr >= CALLERS_MAX || !ARRAY_GROW(*c) || !hash_map_set(&c->caller_of, outer, place, c->nr))
		return outer;
	c->at[c->nr] = (struct caller){ outer, component, query };
	return c->nr++;
}

static const struct called *find_called(const struct callers *c, uint32_t component)
{
	uint32_t i = hash_map_find(&c->called_of, component, 0);

	return i ? &c->called.at[i - 1] : NULL;
}

bool callers_made(const struct callers *c, uint32_t component)
{
	return find_called(c, component);
}

/* Returns the number of a function's component, which is the same in all processes and traces that have the same number for what calls
 * it. */
static uint64_t id_of_called(const struct dictionary *d, uint32_t above, uint32_t query, uint32_t function)
{
	uint64_t id = d->components.at[above ? above : query].id * 0x9e3779b97f4a7c15ull + d->components.at[function].id;

	id ^= id >> 32;
	id *= 0xd6e8feb86659fd93ull;
	id ^= id >> 32;
	return id ? id : 1;
}

static char *copy_text(const char *text)
{
	return text ? strdup(text) : NULL;
}

static uint32_t make_component(struct dictionary *d, uint32_t above, uint32_t query, uint32_t function)
{
	const struct component *of = &d->components.at[function];
	uint32_t i = dictionary_announce_component(d, of->process, of->level, id_of_called(d, above, query, function), copy_text(of->name),
						   copy_text(of->detail), of->flags, 0);

	if (!i)
		return function;
	d->components.at[i].of_objects = true;
	if (query)
		dictionary_link(d, i, query, 1, 0);
	if (above)
		dictionary_add_edge(d, i, above, ORDER_BEHIND_NODES + i, strdup(""));
	return i;
}

uint32_t callers_function(struct callers *c, struct dictionary *d, uint32_t above, uint32_t query, uint32_t function)
{
	const struct called *at = find_called(c, above);
	const uint32_t depth = at ? at->depth + 1 : 1;
	uint32_t i, component;

	if ((!above && !query) || !function)
		return function;
	for (; at; at = find_called(c, at->above))
		if (at->function == function)
			return at->component;
	i = hash_map_find(&c->made, above ? above : (uint64_t)query << 32, function);
	if (i)
		return c->called.at[i - 1].component;
	if (depth > DEPTH_MAX || c->called.nr >= CALLERS_MAX || !ARRAY_GROW(c->called))
		return function;
	component = make_component(d, above, query, function);
	c->called.at[c->called.nr++] = (struct called){ component, above, function, depth };
	hash_map_set(&c->made, above ? above : (uint64_t)query << 32, function, c->called.nr);
	hash_map_set(&c->called_of, component, 0, c->called.nr);
	return component;
}
