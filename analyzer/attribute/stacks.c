/* SPDX-License-Identifier: MIT */
/*
 * Keeps the nodes in an array, and finds them again by a hash over all frames up to the root. So the hashes of a stack's nodes are known
 * before any of these is looked up, and the processor fetches them from memory at once: each is far from the others.
 */
#include "analyzer/attribute/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNKNOWN UINT32_MAX /* the parent path was not asked for yet */

int stacks_init(struct stacks *s)
{
	memset(s, 0, sizeof(*s));
	s->capacity = 1024;
	s->nr_slots = 2 * s->capacity;
	s->node = calloc(s->capacity, sizeof(*s->node));
	s->hash = calloc(s->capacity, sizeof(*s->hash));
	s->slot = calloc(s->nr_slots, sizeof(*s->slot));
	if (!s->node || !s->hash || !s->slot) {
		stacks_fini(s);
		return -ENOMEM;
	}
	s->nr = 1;
	return 0;
}

void stacks_fini(struct stacks *s)
{
	free(s->node);
	free(s->hash);
	free(s->slot);
	free(s->way);
	memset(s, 0, sizeof(*s));
}

/* Returns the hash of a node, whose component may be its caller's. of_caller: the hash of the caller; 0: the node is the outermost one. */
static uint32_t hash_of_stack_node(uint32_t of_caller, const struct stack_node *n, uint32_t component)
{
	uint64_t h = ((uint64_t)of_caller << 32 | n->function) * 0x9e3779b97f4a7c15ull;

	h ^= h >> 29;
	h = (h + ((uint64_t)n->line << 32 | (component ^ n->flags))) * 0xbf58476d1ce4e5b9ull;
	return (uint32_t)(h >> 32);
}

static bool same_stack_node(const struct stack_node *a, const struct stack_node *b)
{
	return a->caller == b->caller && a->function == b->function && a->line == b->line && a->component == b->component &&
	       a->flags == b->flags;
}

static void enter_stack_node(struct stacks *s, uint32_t node)
{
	uint32_t at = s->hash[node] & (s->nr_slots - 1);

	while (s->slot[at])
		at = (at + 1) & (s->nr_slots - 1);
	s->slot[at] = node;
}

static bool grow_stack_nodes(struct stacks *s)
{
	struct stack_node *nodes;
	uint32_t *slots, *hashes;

	if (s->capacity > UINT32_MAX / 4)
		return false;
	nodes = realloc(s->node, 2 * (size_t)s->capacity * sizeof(*nodes));
	s->node = nodes ? nodes : s->node;
	hashes = nodes ? realloc(s->hash, 2 * (size_t)s->capacity * sizeof(*hashes)) : NULL;
	s->hash = hashes ? hashes : s->hash;
	slots = hashes ? calloc(2 * (size_t)s->nr_slots, sizeof(*slots)) : NULL;
	if (!slots)
		return false;
	free(s->slot);
	s->slot = slots;
	s->nr_slots *= 2;
	s->capacity *= 2;
	for (uint32_t n = 1; n < s->nr; n++)
		enter_stack_node(s, n);
	return true;
}

/* Returns the node of a frame with this hash, and adds it if it is new. Returns 0 if memory ran out. */
static uint32_t find_or_add_node(struct stacks *s, uint32_t caller, const struct stack_node *frame, uint32_t hash)
{
	struct stack_node n = *frame;

	n.caller = caller;
	n.depth = caller ? (uint16_t)(s->node[caller].depth + 1) : 0;
	if (!n.component)
		n.component = s->node[caller].component;
	for (uint32_t at = hash & (s->nr_slots - 1); s->slot[at]; at = (at + 1) & (s->nr_slots - 1))
		if (same_stack_node(&s->node[s->slot[at]], &n))
			return s->slot[at];
	if (s->nr == s->capacity && !grow_stack_nodes(s))
		return 0;
	s->node[s->nr] = n;
	s->hash[s->nr] = hash;
	enter_stack_node(s, s->nr);
	return s->nr++;
}

uint32_t stacks_add(struct stacks *s, uint32_t caller, const struct stack_node *frame)
{
	const uint32_t component = frame->component ? frame->component : s->node[caller].component;

	return find_or_add_node(s, caller, frame, hash_of_stack_node(s->hash[caller], frame, component));
}

#define FRAMES_AT_ONCE 64u

uint32_t stacks_add_frames(struct stacks *s, const struct stack_node *frame, uint32_t nr)
{
	uint32_t hash[FRAMES_AT_ONCE], above = 0, component = COMPONENT_NONE, node = 0;

	while (nr) {
		const uint32_t some = nr < FRAMES_AT_ONCE ? nr : FRAMES_AT_ONCE, mask = s->nr_slots - 1;

		for (uint32_t i = 0; i < some; i++) {
			const struct stack_node *f = &frame[nr - 1 - i];

			component = f->component ? f->component : component;
			hash[i] = above = hash_of_stack_node(above, f, component);
			__builtin_prefetch(&s->slot[above & mask]);
		}
		for (uint32_t i = 0; i < some; i++)
			__builtin_prefetch(&s->node[s->slot[hash[i] & mask]]);
		for (uint32_t i = 0; i < some; i++) {
			node = find_or_add_node(s, node, &frame[nr - 1 - i], hash[i]);
			if (!node)
				return 0;
		}
		nr -= some;
	}
	return node;
}

uint32_t stacks_component(struct stacks *s, const struct dictionary *d, uint32_t node, uint32_t level)
{
	uint32_t component = s->node[node].component, *way;

	if (!component || level >= LEVELS_MAX)
		return COMPONENT_NONE;
	if (component >= s->nr_ways) {
		uint32_t nr = d->components.nr;
		uint32_t *ways = component < nr ? realloc(s->way, (size_t)nr * LEVELS_MAX * sizeof(*ways)) : NULL;

		if (!ways)
			return COMPONENT_NONE;
		s->way = ways;
		for (size_t i = (size_t)s->nr_ways * LEVELS_MAX; i < (size_t)nr * LEVELS_MAX; i++)
			ways[i] = UNKNOWN;
		s->nr_ways = nr;
	}
	way = &s->way[(size_t)component * LEVELS_MAX];
	if (*way == UNKNOWN) {
		struct expansion e;
		uint32_t most = 0;

		dictionary_expand_components(d, &component, 1, DICTIONARY_ANY_TIME, &e);
		for (uint32_t i = 1; i < e.nr; i++)
			if (e.row[i].share > e.row[most].share)
				most = i;
		for (uint32_t i = 0; i < LEVELS_MAX; i++)
			way[i] = e.nr ? e.row[most].component[i] : COMPONENT_NONE;
	}
	return way[level];
}
