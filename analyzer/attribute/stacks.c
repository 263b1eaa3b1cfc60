/* SPDX-License-Identifier: MIT */
/* Keeps the nodes in an array, and finds them again by a hash table over caller and frame. */
#include "analyzer/attribute/stacks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct stacks_slot {
	uint32_t node; /* 0: free */
};

#define UNKNOWN UINT32_MAX /* the parent path was not asked for yet */

#define PATHS 8
#define PATH_NODES 128 /* outer frames of a stack that are kept */

struct stacks_path {
	uint32_t node[PATH_NODES]; /* by depth; 0: none yet */
};

int stacks_init(struct stacks *s)
{
	memset(s, 0, sizeof(*s));
	s->capacity = 1024;
	s->nr_slots = 2 * s->capacity;
	s->node = calloc(s->capacity, sizeof(*s->node));
	s->slot = calloc(s->nr_slots, sizeof(*s->slot));
	s->path = calloc(PATHS, sizeof(*s->path));
	if (!s->node || !s->slot || !s->path) {
		stacks_fini(s);
		return -ENOMEM;
	}
	s->nr = 1;
	return 0;
}

void stacks_fini(struct stacks *s)
{
	free(s->node);
	free(s->slot);
	free(s->path);
	free(s->way);
	memset(s, 0, sizeof(*s));
}

static uint32_t slot_of_stack_node(const struct stacks *s, const struct stack_node *n)
{
	uint64_t h = ((uint64_t)n->caller << 32 | n->function) * 0x9e3779b97f4a7c15ull;

	h ^= h >> 29;
	h = (h + ((uint64_t)n->line << 32 | (n->component ^ n->flags))) * 0xbf58476d1ce4e5b9ull;
	return (uint32_t)(h >> 32) & (s->nr_slots - 1);
}

static bool same_stack_node(const struct stack_node *a, const struct stack_node *b)
{
	return a->caller == b->caller && a->function == b->function && a->line == b->line && a->component == b->component &&
	       a->flags == b->flags;
}

static bool grow_stack_nodes(struct stacks *s)
{
	struct stack_node *nodes;
	struct stacks_slot *slots;

	if (s->capacity > UINT32_MAX / 4)
		return false;
	nodes = realloc(s->node, 2 * (size_t)s->capacity * sizeof(*nodes));
	if (!nodes)
		return false;
	s->node = nodes;
	slots = calloc(2 * (size_t)s->nr_slots, sizeof(*slots));
	if (!slots)
		return false;
	free(s->slot);
	s->slot = slots;
	s->nr_slots *= 2;
	s->capacity *= 2;
	for (uint32_t n = 1; n < s->nr; n++) {
		uint32_t at = slot_of_stack_node(s, &s->node[n]);

		while (s->slot[at].node)
			at = (at + 1) & (s->nr_slots - 1);
		s->slot[at].node = n;
	}
	return true;
}

static struct stack_node node_of_frame(const struct stacks *s, uint32_t caller, const struct stack_node *frame)
{
	struct stack_node n = *frame;

	n.caller = caller;
	n.depth = caller ? (uint16_t)(s->node[caller].depth + 1) : 0;
	if (!n.component)
		n.component = s->node[caller].component;
	return n;
}

static uint32_t add_node(struct stacks *s, const struct stack_node *n)
{
	uint32_t at;

	for (at = slot_of_stack_node(s, n); s->slot[at].node; at = (at + 1) & (s->nr_slots - 1))
		if (same_stack_node(&s->node[s->slot[at].node], n))
			return s->slot[at].node;
	if (s->nr == s->capacity) {
		if (!grow_stack_nodes(s))
			return 0;
		for (at = slot_of_stack_node(s, n); s->slot[at].node; at = (at + 1) & (s->nr_slots - 1))
			;
	}
	s->node[s->nr] = *n;
	s->slot[at].node = s->nr;
	return s->nr++;
}

uint32_t stacks_add(struct stacks *s, uint32_t caller, const struct stack_node *frame)
{
	const struct stack_node n = node_of_frame(s, caller, frame);

	return add_node(s, &n);
}

uint32_t stacks_add_frames(struct stacks *s, uint32_t tid, const struct stack_node *frame, uint32_t nr)
{
	struct stacks_path *path = &s->path[tid % PATHS];
	uint32_t node = 0;

	for (uint32_t depth = 0; depth < nr; depth++) {
		const struct stack_node n = node_of_frame(s, node, &frame[nr - 1 - depth]);
		uint32_t *last = depth < PATH_NODES ? &path->node[depth] : NULL;

		if (last && *last && same_stack_node(&s->node[*last], &n)) {
			node = *last;
			continue;
		}
		node = add_node(s, &n);
		if (last)
			*last = node;
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
