/* SPDX-License-Identifier: MIT */
/* Answers questions to a model that has been read. They ask what was at an address of a process at a time, and for tags, tasks, source
 * texts and the query of a component. */
#include "analyzer/model/model.h"

#include "analyzer/model/read.h"
#include "analyzer/model/shared_code.h"
#include "jitreg/base/sorted.h"

#include <string.h>

#define ANCESTORS_MAX 64

/* Returns the process that p was forked from, or NULL. A child has what its parent had at the fork. So if *time_ns is later than p's fork,
 * it becomes the time of the fork, and *forked becomes true. When that happens first, *holds is cut to begin at the fork or later. Once
 * *forked is true, the caller does not cut *holds by facts of parents, because what a parent does after the fork changes nothing for the
 * child. */
static const struct process *go_to_parent(const struct process *p, uint64_t *time_ns, bool *forked, struct time_range *holds)
{
	if (p->parent && p->forked_ns < *time_ns) {
		holds->from_ns = !*forked && p->forked_ns > holds->from_ns ? p->forked_ns : holds->from_ns;
		*time_ns = p->forked_ns;
		*forked = true;
	}
	return p->parent;
}

/* Asks a code map of a process, and then those of the processes that it was forked from.  A child's memory is its parent's as of the fork,
 * except where the child's own facts say otherwise.  map: offset of the map in struct process. */
static struct code_answer ask_code_map_with_parents(const struct process *p, size_t map, uint64_t address, uint64_t time_ns)
{
	bool frames = map == offsetof(struct process, frames);
	struct code_answer all = CODE_ANSWER_NONE;
	struct time_range holds = TIME_RANGE_ALL;
	bool forked = false;

	for (int i = 0; p && i < ANCESTORS_MAX; i++) {
		struct code_answer a = code_map_ask((const struct code_map *)(const void *)((const char *)p + map), address, time_ns);

		all.fact = a.fact;
		if (forked) { /* facts of parents hold for good */
			a.from_ns = 0;
			a.until_ns = UINT64_MAX;
		}
		code_answer_narrow(&all, &a);
		/* a fact without an owner ends the search, because the code was unloaded; only frames are still asked of the parent */
		if (a.fact && (a.fact->owner || !frames))
			break;
		p = go_to_parent(p, &time_ns, &forked, &holds);
	}
	all.from_ns = holds.from_ns > all.from_ns ? holds.from_ns : all.from_ns;
	return all;
}

static struct code_answer ask_guest_region(const struct process *p, uint64_t address, uint64_t time_ns)
{
	return ask_code_map_with_parents(p, offsetof(struct process, guest_regions), address, time_ns);
}

struct code_answer model_ask_code(const struct process *p, uint64_t address, uint64_t time_ns)
{
	return ask_code_map_with_parents(p, offsetof(struct process, code), address, time_ns);
}

struct code_answer model_ask_region(const struct process *p, uint64_t address, uint64_t time_ns)
{
	return ask_code_map_with_parents(p, offsetof(struct process, regions), address, time_ns);
}

/* Finds the code that some process registered in the shared memory that p has at an address. */
static struct code_answer ask_shared(const struct process *p, uint64_t address, uint64_t time_ns)
{
	const struct code_answer region = p->shared ? model_ask_region(p, address, time_ns) : CODE_ANSWER_NONE;
	const struct code *c = region.fact ? region.fact->owner : NULL;
	struct code_answer a = CODE_ANSWER_NONE;

	if (c && c->shared)
		a = code_map_ask(&p->shared[c->shared - 1].code, address, time_ns);
	code_answer_narrow(&a, &region);
	return a;
}

struct code_answer model_ask_any_code(const struct process *p, uint64_t address, uint64_t time_ns)
{
	static struct code_answer (*const questions[])(const struct process *, uint64_t, uint64_t) = {
		model_ask_code, ask_shared, ask_guest_region, model_ask_region };
	struct code_answer all = CODE_ANSWER_NONE;

	for (size_t i = 0; i < sizeof(questions) / sizeof(questions[0]); i++) {
		struct code_answer a = questions[i](p, address, time_ns);

		all.fact = a.fact;
		code_answer_narrow(&all, &a);
		if (a.fact && a.fact->owner)
			break;
	}
	return all;
}

struct code *model_find_code(const struct process *p, uint64_t address, uint64_t time_ns)
{
	struct code_answer a = model_ask_any_code(p, address, time_ns);

	return a.fact ? a.fact->owner : NULL;
}

const struct code *model_elf_duplicate_of(const struct model *m, struct code *load)
{
	const struct code *c;
	struct elf_function f;

	if (load->elf_duplicate_asked || load->kind != CODE_LOAD || !load->from_ns || !load->name)
		return load->elf_duplicate_of;
	load->elf_duplicate_asked = true;
	c = code_map_find(&m->numbered.at[load->process]->code, load->address, load->from_ns - 1);
	if (c && c->kind == CODE_ELF && elf_find_function(c->elf, load->address, &f) && f.address == load->address &&
	    strcmp(f.name, load->name) == 0)
		load->elf_duplicate_of = c;
	return load->elf_duplicate_of;
}

uint32_t model_find_memory(const struct process *p, uint64_t address, uint64_t time_ns)
{
	static const size_t maps[] = { offsetof(struct process, memory), offsetof(struct process, mapped) };

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		struct code_answer a = ask_code_map_with_parents(p, maps[i], address, time_ns);

		if (a.fact && a.fact->owner)
			return ((const struct memory *)a.fact->owner)->number;
	}
	return 0;
}

struct code_answer model_ask_frames(const struct process *p, uint64_t address, uint64_t time_ns)
{
	return ask_code_map_with_parents(p, offsetof(struct process, frames), address, time_ns);
}

uint64_t model_code_generation(const struct process *p, uint64_t time_ns)
{
	uint64_t sum = 0;

	for (int i = 0; p && i < ANCESTORS_MAX; i++, p = p->parent) {
		sum += code_map_generation(&p->code, time_ns) + code_map_generation(&p->frames, time_ns);
		if (p->parent && p->forked_ns < time_ns)
			time_ns = p->forked_ns;
	}
	return sum;
}

const struct tag *model_ask_tag(const struct process *p, uint64_t time_ns, uint64_t *from_ns, uint64_t *until_ns)
{
	struct time_range holds = TIME_RANGE_ALL;
	const struct tag *found = NULL;
	bool forked = false;

	for (int i = 0; p && !found && i < ANCESTORS_MAX; i++) {
		uint32_t up_to = SORTED_COUNT(p->tags.nr, t, p->tags.at[t].from_ns <= time_ns);

		found = up_to ? &p->tags.at[up_to - 1] : NULL;
		if (!forked && found && found->from_ns > holds.from_ns)
			holds.from_ns = found->from_ns;
		if (!forked && up_to < p->tags.nr && p->tags.at[up_to].from_ns < holds.until_ns)
			holds.until_ns = p->tags.at[up_to].from_ns;
		if (!found)
			p = go_to_parent(p, &time_ns, &forked, &holds);
	}
	*from_ns = holds.from_ns;
	*until_ns = holds.until_ns;
	return found;
}

const struct tag *model_find_tag(const struct process *p, uint64_t time_ns)
{
	uint64_t from_ns, until_ns;

	return model_ask_tag(p, time_ns, &from_ns, &until_ns);
}

static bool source_key_matches(const struct model *m, uint32_t i, const struct process *p, uint64_t name)
{
	return i < m->sources.nr && m->sources.key[i].process == p->number && m->sources.key[i].name == name;
}

/* Returns the text that a key leads to if its file name is base.  Hashes alone may be equal by chance. */
static const struct source *source_of_key(const struct model *m, uint32_t i, const char *base)
{
	const struct source *s = &m->sources.at[m->sources.key[i].source];

	return s->name && strcmp(basename(s->name), base) == 0 ? s : NULL;
}

static bool source_key_begins_up_to(const struct source_key *k, uint32_t process, uint64_t name, uint64_t time_ns)
{
	if (k->process != process)
		return k->process < process;
	return k->name != name ? k->name < name : k->from_ns <= time_ns;
}

/* Finds a source of the process itself, without regard to directories, because a compiler may have put its own in front of the name. */
static const struct source *find_source(const struct model *m, const struct process *p, const char *base, uint64_t name, uint64_t time_ns)
{
	const struct source *s = NULL;
	uint32_t up_to = SORTED_COUNT(m->sources.nr, i, source_key_begins_up_to(&m->sources.key[i], p->number, name, time_ns));

	for (uint32_t i = up_to; !s && i > 0 && source_key_matches(m, i - 1, p, name); i--)
		s = source_of_key(m, i - 1, base);
	for (uint32_t i = up_to; !s && source_key_matches(m, i, p, name); i++)
		s = source_of_key(m, i, base);
	return s;
}

uint32_t model_find_component(const struct model *m, const struct process *p, uint32_t level, uint64_t id, uint64_t time_ns,
			      struct time_range *holds)
{
	struct time_range of_parent = TIME_RANGE_ALL; /* it is asked as of the fork, so its later facts change nothing */
	uint32_t i = COMPONENT_NONE;
	bool forked = false;

	for (int n = 0; p && !i && n < ANCESTORS_MAX; n++) {
		i = dictionary_find_component_at(&m->dictionary, p->number, level, id, time_ns, forked ? &of_parent : holds);
		if (!i)
			p = go_to_parent(p, &time_ns, &forked, holds);
	}
	return i;
}

const struct source *model_find_source(const struct model *m, const struct process *p, const char *file, uint64_t time_ns)
{
	const char *base = basename(file);
	const uint64_t name = hash_text(base);
	const struct source *s = NULL;

	struct time_range holds = TIME_RANGE_ALL;
	bool forked = false;

	for (int i = 0; p && !s && i < ANCESTORS_MAX && m->sources.nr; i++) {
		s = find_source(m, p, base, name, time_ns);
		p = go_to_parent(p, &time_ns, &forked, &holds);
	}
	return s;
}

#define SCOPES_LOOKED 64u /* limit of scopes that are compared, backwards from the last that begins at the component's number or before */

const struct scope *model_find_scope(const struct model *m, uint32_t component)
{
	const struct component *c = &m->dictionary.components.at[component];
	const struct scope *best = NULL;
	uint32_t up_to = SORTED_COUNT(component ? m->scopes.nr : 0, i,
				    m->scopes.at[i].process != c->process ?
					    m->scopes.at[i].process < c->process :
					    m->scopes.at[i].first <= c->id);

	for (uint32_t n = 0; up_to > 0 && n < SCOPES_LOOKED; up_to--, n++) {
		const struct scope *s = &m->scopes.at[up_to - 1];

		if (s->process == c->process && c->id - s->first < s->nr && s->from_ns < c->to_ns && (!best || s->from_ns > best->from_ns))
			best = s;
	}
	return best;
}

const char *model_find_query(const struct model *m, uint32_t component, const char **name)
{
	const struct scope *scope = model_find_scope(m, component);
	const struct component *c = &m->dictionary.components.at[component];
	const struct source *first = NULL, *latest = NULL, *own = NULL;
	const char *wanted = scope && scope->name && *scope->name ? scope->name : NULL;

	*name = wanted ? wanted : "";
	if (!component || (scope && scope->text && *scope->text))
		return component ? scope->text : NULL;
	for (uint32_t i = 0; i < m->sources.nr; i++) {
		const struct source *s = &m->sources.at[i];

		if (s->process != c->process || !(s->flags & JITREG_SOURCE_QUERY) || !s->text || !*s->text)
			continue;
		first = first ? first : s;
		latest = s->nr_components <= component ? s : latest;
		own = wanted && s->name && strcmp(s->name, wanted) == 0 ? s : own;
	}
	/* A query with a name does not get the text of another query. */
	first = own ? own : wanted ? NULL : latest ? latest : first;
	if (first && !wanted && first->name)
		*name = first->name;
	return first ? first->text : NULL;
}

const char *source_line(const struct source *s, uint32_t line, size_t *bytes)
{
	*bytes = 0;
	if (line == 0 || line > s->nr_lines || !s->line_start)
		return "";
	*bytes = s->line_start[line] - 1 - s->line_start[line - 1];
	return s->text + s->line_start[line - 1];
}

uint32_t model_line_component(struct model *m, const struct source *s, uint32_t line, uint64_t time_ns)
{
	struct time_range holds = TIME_RANGE_ALL;
	struct component *c;
	const char *text;
	size_t bytes;
	uint32_t i;

	if (s->level == LEVELS_MAX || line == 0)
		return COMPONENT_NONE;
	i = dictionary_find_component_at(&m->dictionary, s->process, s->level, s->first_component + line, time_ns, &holds);
	if (!i)
		i = dictionary_get_component(&m->dictionary, s->process, s->level, s->first_component + line);
	c = &m->dictionary.components.at[i];
	if (i && !c->name) {
		text = source_line(s, line, &bytes);
		while (bytes && (*text == ' ' || *text == '\t')) {
			text++;
			bytes--;
		}
		c->name = strndup(text, bytes);
		c->source = 1 + (uint32_t)(s - m->sources.at);
	}
	return i;
}

bool code_file_address(const struct code *c, uint64_t address, uint64_t *out)
{
	if (c->kind == CODE_ELF) {
		*out = address;
		return true;
	}
	if (c->kind != CODE_IMAGE || !c->file || !c->file->elf)
		return false;
	if (c->bias_known) {
		*out = address - c->bias;
		return true;
	}
	return elf_offset_to_address(c->file->elf, address - c->map_start + c->map_offset, out);
}

#define LINKS_A_STEP 8

static uint64_t context_of_component(struct model *m, uint32_t component)
{
	const struct dictionary *d = &m->dictionary;
	const struct component *c = &d->components.at[component];

	m->plan_codes.steps += c->links.nr / LINKS_A_STEP;
	if (d->level_id[c->level] == m->plan_codes.context_level)
		return c->id;
	for (uint32_t i = 0; i < c->links.nr; i++) {
		const struct component *upper = &d->components.at[c->links.at[i].upper];

		if (d->level_id[upper->level] == m->plan_codes.context_level)
			return upper->id;
	}
	return 0;
}

uint32_t model_find_task(struct model *m, const struct process *p, uint32_t tid, uint64_t time_ns, uint64_t *context)
{
	uint64_t until_ns = UINT64_MAX;
	const struct mark_piece *x = m->plan_codes.codes.nr ? model_find_mark_piece(m, p, tid, time_ns, &until_ns) : NULL;

	for (; x && !(x->to_ns > time_ns && m->marks.at[x->mark].component); m->plan_codes.steps++)
		x = x->outer ? &m->marks.pieces.at[x->outer - 1] : NULL;
	*context = x ? context_of_component(m, m->marks.at[x->mark].component) : 0;
	return *context ? m->marks.at[x->mark].component : COMPONENT_NONE;
}
