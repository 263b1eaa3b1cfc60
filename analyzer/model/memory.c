/* SPDX-License-Identifier: MIT */
#include "analyzer/model/memory.h"

#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FIRST 64u

int memory_init(struct model *m)
{
	struct memory *stacks = calloc(1, sizeof(*stacks));

	m->areas.at = calloc(FIRST, sizeof(*m->areas.at));
	if (stacks)
		stacks->name = strdup("thread stacks");
	if (!m->areas.at || !stacks || !stacks->name) {
		if (stacks)
			free(stacks->name);
		free(stacks);
		return -ENOMEM;
	}
	stacks->kind = MEMORY_STACK;
	stacks->number = MODEL_MEMORY_STACKS;
	m->areas.at[MODEL_MEMORY_STACKS] = stacks;
	m->areas.nr = MODEL_MEMORY_STACKS + 1;
	m->areas.capacity = FIRST;
	return 0;
}

/* Adds an area of memory with the contents of like.  name is the area's, or freed if memory runs out or the range wraps. */
static void add_memory_area(struct model *m, struct process *p, struct code_map *map, const struct memory *like, char *name)
{
	bool fits = name && like->bytes <= UINT64_MAX - like->address && ARRAY_GROW(m->areas);
	struct memory *new = fits ? malloc(sizeof(*new)) : NULL;

	if (!new) {
		free(name);
		return;
	}
	*new = *like;
	new->process = p->number;
	new->number = m->areas.nr;
	new->name = name;
	m->areas.at[m->areas.nr++] = new;
	code_map_add(map, new->address, new->address + new->bytes, new->from_ns, new);
}

void memory_read_named(struct model *m, struct process *p, const struct trace_record *r)
{
	uint64_t id = trace_u64(r, F(memory, component)), address = trace_u64(r, F(memory, address));
	uint32_t level = id ? dictionary_get_level(&m->dictionary, (uint32_t)trace_u64(r, F(memory, level))) : LEVELS_MAX;
	struct memory new = { .kind = MEMORY_NAMED, .address = address, .bytes = trace_u64(r, F(memory, bytes)), .from_ns = r->time_ns };
	const struct code_fact *before;

	if (new.bytes == 0) {
		before = code_map_starting_at(&p->memory, address);
		if (before)
			code_map_add(&p->memory, before->start, before->end, r->time_ns, NULL);
		return;
	}
	new.component = level < LEVELS_MAX ? dictionary_get_component(&m->dictionary, p->number, level, id) : COMPONENT_NONE;
	add_memory_area(m, p, &p->memory, &new, trace_text(r, F(memory, name)));
}

void memory_read_mapping(struct model *m, struct process *p, const struct trace_record *r)
{
	struct memory new = { .kind = MEMORY_FILE, .address = trace_u64(r, F(mmap, address)), .bytes = trace_u64(r, F(mmap, bytes)),
			      .from_ns = r->time_ns };
	char *name = trace_text(r, F(mmap, path));

	if (!name)
		return;
	if (strcmp(name, "[heap]") == 0)
		new.kind = MEMORY_HEAP;
	else if (strcmp(name, "[stack]") == 0)
		new.kind = MEMORY_STACK;
	else if (!*name || name[0] == '[' || strncmp(name, "//anon", 6) == 0)
		new.kind = MEMORY_ANONYMOUS;
	add_memory_area(m, p, &p->mapped, &new, name);
}

void memory_fini(struct model *m)
{
	for (uint32_t i = 1; i < m->areas.nr; i++) {
		free(m->areas.at[i]->name);
		free(m->areas.at[i]);
	}
	free(m->areas.at);
}
