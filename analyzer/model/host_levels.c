/* SPDX-License-Identifier: MIT */
#include "analyzer/model/host_levels.h"

#include "analyzer/model/model.h"
#include "jitreg/hosts/jit_hosts.h"

#include <string.h>

#define ANCESTORS_MAX 64

#define HOST_LEVEL_NAME_(NAME, text) text,
const char *const host_level_names[] = { HOST_LEVELS(HOST_LEVEL_NAME_) };
#undef HOST_LEVEL_NAME_

/* Marks the processes that declared components or objects, and those with SOURCE texts whose lines are components. Processes forked from
 * them are marked, too, except for objects. */
static void mark_processes_with_levels(struct model *m)
{
	for (uint32_t i = 1; i < m->dictionary.components.nr; i++)
		m->numbered.at[m->dictionary.components.at[i].process]->has_dictionary = true;
	for (uint32_t i = 0; i < m->sources.nr; i++) {
		struct process *p = m->numbered.at[m->sources.at[i].process];

		if (m->sources.at[i].level < LEVELS_MAX)
			p->has_dictionary = p->has_line_components = true;
	}
	for (uint32_t i = 0; i < m->processes.nr; i++) {
		struct process *p = m->numbered.at[i], *up = p->parent;

		for (int n = 0; up && n < ANCESTORS_MAX; n++, up = up->parent) {
			p->has_dictionary |= up->has_dictionary;
			p->has_line_components |= up->has_line_components;
		}
	}
	for (uint32_t i = 0; i < m->processes.nr; i++) /* a child does not have its parent's objects */
		m->numbered.at[i]->has_dictionary |= m->numbered.at[i]->has_objects;
}

static bool has_own_levels(const struct model *m, const struct code *c)
{
	const struct process *p = m->numbered.at[c->process];
	const struct source *s;

	/* an exact answer would need a look into each line table, which costs more than it is worth */
	if (c->kind == CODE_ELF || c->generated)
		return p->has_line_components;
	if (c->nr_entries)
		return true;
	s = p->has_line_components && c->nr_lines ? model_find_source(m, p, c->lines[0].file, c->from_ns) : NULL;
	return s && s->level < LEVELS_MAX;
}

/* Checks for code of V8's runtime, such as builtins, that V8 announces beside what it compiles.  It gets no components, so that its time
 * belongs to its callers, as that of the host's own code does.  The entry of the interpreter stands for the functions that run there. */
static bool is_v8_runtime_code(const char *name)
{
	static const char *const kinds[] = { "Builtin:", "BytecodeHandler:", "Handler:", "Stub:" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strncmp(name, kinds[i], strlen(kinds[i])) == 0)
			return strcmp(name, JIT_V8_INTERPRETER) != 0;
	return false;
}

static bool code_is_generated(const struct code *c)
{
	return c->kind == CODE_ELF || c->generated || (c->kind == CODE_LOAD && c->name && *c->name && !is_v8_runtime_code(c->name));
}

void host_levels_settle(struct model *m)
{
	bool any = false;

	mark_processes_with_levels(m);
	for (uint32_t i = 0; i < m->codes.nr; i++) {
		struct code *c = m->codes.at[i];

		c->host_levels = code_is_generated(c) && !has_own_levels(m, c);
		any |= c->host_levels;
	}
	for (int i = 0; i < NR_HOST_LEVELS; i++)
		m->host_level[i] = any ? dictionary_add_level(&m->dictionary, host_level_names[i]) : LEVELS_MAX;
	/* Ranks the levels from the top down.  A level of the host with the same name keeps its rank. */
	for (int i = 0; i < NR_HOST_LEVELS; i++)
		for (int n = 0; n < i; n++)
			if (m->host_level[i] < LEVELS_MAX && m->host_level[n] < LEVELS_MAX)
				m->dictionary.level[m->host_level[i]].rank++;
	m->has_host_levels = any;
}

bool host_levels_have(const struct model *m, uint32_t level)
{
	for (int i = 0; m->has_host_levels && i < NR_HOST_LEVELS; i++)
		if (m->host_level[i] == level)
			return true;
	return false;
}
