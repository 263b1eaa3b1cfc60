/* SPDX-License-Identifier: MIT */
/*
 * Reads what the host declares: levels, their components and how these belong together (LEVEL, COMPONENT, LINK, UNLINK, EDGE, COUNTER),
 * texts that code comes from (SOURCE), the register or word of tags (TAG), the numbers that belong to a query (SCOPE), the objects that
 * functions work on (OBJECT), and flows and counters (FLOW, COUNTER_BLOCK, COUNTER_VALUES).
 */
#include "analyzer/model/read.h"

#include "jitreg/base/grow.h"

#include <stdlib.h>
#include <string.h>

#define ANCESTORS_MAX 64

/* Reports a fault for a level or component 0, because numbers begin at 1. */
static void check_numbers_not_zero(struct model *m, const struct process *p, uint32_t record, uint64_t level, uint64_t id)
{
	if (!level || !id)
		model_fault(m, FAULT_NUMBER_ZERO, p, record, level, 0, NULL);
}

static uint32_t component_of_ids(struct model *m, const struct process *p, uint64_t level_id, uint64_t id)
{
	uint32_t level = id ? dictionary_get_level(&m->dictionary, (uint32_t)level_id) : LEVELS_MAX;

	return level < LEVELS_MAX ? dictionary_get_component(&m->dictionary, p->number, level, id) : COMPONENT_NONE;
}

void model_read_level(struct model *m, struct process *p, const struct trace_record *r)
{
	const struct trace_value none = { .kind = TRACE_OTHER };
	const struct trace_value *upper = F(level, upper) < r->nr_values ? &r->values[F(level, upper)] : &none;
	uint64_t number = trace_u64(r, F(level, level));
	uint32_t i = dictionary_get_level(&m->dictionary, (uint32_t)number);
	struct level *level = &m->dictionary.level[i < LEVELS_MAX ? i : 0];
	size_t bytes;
	const char *name = trace_bytes(r, F(level, name), &bytes);

	check_numbers_not_zero(m, p, r->id, number, 1);
	if (i == LEVELS_MAX) {
		m->bad_records++;
		model_fault(m, FAULT_LEVELS_FULL, p, trace_u64(r, F(level, level)), 0, 0, NULL);
		return;
	}
	if (level->name && level->process == p->number && (strlen(level->name) != bytes || memcmp(level->name, name, bytes) != 0))
		model_fault(m, FAULT_LEVEL_RENAMED, p, number, 0, 0, level->name);
	model_set_text(&level->name, trace_text(r, F(level, name)));
	level->flags = (uint32_t)trace_u64(r, F(level, flags));
	level->process = p->number;
	for (uint64_t n = 0; upper->kind == TRACE_LIST && n < upper->u; n++) {
		uint64_t id = trace_element(upper, n, 0).u;
		uint32_t to = id && id <= UINT32_MAX ? dictionary_get_level(&m->dictionary, (uint32_t)id) : LEVELS_MAX;

		if (to == i)
			model_fault(m, FAULT_LEVEL_SELF, p, id, 0, 0, NULL);
		else if (to < LEVELS_MAX)
			level->above |= 1u << to;
	}
}

/* Reports a fault if a component gets another name before any work (LOAD, MARK) came since the old one, because then two components
 * probably have one id.  After work was done, an id may be reused. */
static void check_component_renamed(struct model *m, const struct process *p, uint32_t level, uint64_t id, const struct trace_record *r)
{
	const struct component *c = &m->dictionary.components.at[dictionary_find_component(&m->dictionary, p->number, level, id)];
	size_t bytes;
	const char *name = trace_bytes(r, F(component, name), &bytes);

	if (c->announced && c->name && c->to_ns == UINT64_MAX && c->announced_at == p->nr_uses &&
	    (strlen(c->name) != bytes || memcmp(c->name, name, bytes) != 0))
		model_fault(m, FAULT_COMPONENT_RENAMED, p, m->dictionary.level_id[level], id, 0, c->name);
}

void model_read_component(struct model *m, struct process *p, const struct trace_record *r)
{
	uint64_t id = trace_u64(r, F(component, component));
	uint32_t level = id ? dictionary_get_level(&m->dictionary, (uint32_t)trace_u64(r, F(component, level))) : LEVELS_MAX, i;

	check_numbers_not_zero(m, p, r->id, trace_u64(r, F(component, level)), id);
	if (level == LEVELS_MAX)
		return;
	check_component_renamed(m, p, level, id, r);
	i = dictionary_announce_component(&m->dictionary, p->number, level, id, trace_text(r, F(component, name)),
					  trace_text(r, F(component, detail)), (uint32_t)trace_u64(r, F(component, flags)), r->time_ns);
	m->dictionary.components.at[i].announced_at = p->nr_uses;
}

void model_read_link(struct model *m, struct process *p, const struct trace_record *r)
{
	uint32_t lower, upper;

	if (r->id == JITREG_LINK) {
		check_numbers_not_zero(m, p, r->id, trace_u64(r, F(link, lower_level)), trace_u64(r, F(link, lower)));
		check_numbers_not_zero(m, p, r->id, trace_u64(r, F(link, upper_level)), trace_u64(r, F(link, upper)));
		if (trace_u64(r, F(link, lower_level)) == trace_u64(r, F(link, upper_level)))
			model_fault(m, FAULT_LINK_SAME_LEVEL, p, trace_u64(r, F(link, lower_level)), trace_u64(r, F(link, lower)),
				    trace_u64(r, F(link, upper)), NULL);
		lower = component_of_ids(m, p, trace_u64(r, F(link, lower_level)), trace_u64(r, F(link, lower)));
		upper = component_of_ids(m, p, trace_u64(r, F(link, upper_level)), trace_u64(r, F(link, upper)));
		dictionary_link(&m->dictionary, lower, upper, (uint32_t)trace_u64(r, F(link, weight)), r->time_ns);
		return;
	}
	lower = component_of_ids(m, p, trace_u64(r, F(unlink, lower_level)), trace_u64(r, F(unlink, lower)));
	upper = component_of_ids(m, p, trace_u64(r, F(unlink, upper_level)), trace_u64(r, F(unlink, upper)));
	dictionary_unlink(&m->dictionary, lower, dictionary_get_level(&m->dictionary, (uint32_t)trace_u64(r, F(unlink, upper_level))),
			  upper, r->time_ns);
}

void model_read_edge(struct model *m, struct process *p, const struct trace_record *r)
{
	uint32_t from = component_of_ids(m, p, trace_u64(r, F(edge, level)), trace_u64(r, F(edge, from)));
	uint32_t to = component_of_ids(m, p, trace_u64(r, F(edge, level)), trace_u64(r, F(edge, to)));

	check_numbers_not_zero(m, p, r->id, trace_u64(r, F(edge, level)), trace_u64(r, F(edge, from)));
	check_numbers_not_zero(m, p, r->id, trace_u64(r, F(edge, level)), trace_u64(r, F(edge, to)));
	if (from && to)
		dictionary_add_edge(&m->dictionary, from, to, (uint32_t)trace_u64(r, F(edge, order)), trace_text(r, F(edge, label)));
}

/* Reads a COUNTER.  Counters mostly come at the end, so the component may be over, and is found nevertheless. */
void model_read_counter(struct model *m, struct process *p, const struct trace_record *r)
{
	uint64_t id = trace_u64(r, F(counter, component));
	uint32_t level = id ? dictionary_get_level(&m->dictionary, (uint32_t)trace_u64(r, F(counter, level))) : LEVELS_MAX;
	uint32_t component = level < LEVELS_MAX ? dictionary_find_component(&m->dictionary, p->number, level, id) : COMPONENT_NONE;

	if (!component && level < LEVELS_MAX)
		component = dictionary_get_component(&m->dictionary, p->number, level, id);

	if (component)
		dictionary_set_counter(&m->dictionary, component, trace_text(r, F(counter, name)), trace_s64(r, F(counter, value)),
				       r->time_ns);
}

void model_read_source(struct model *m, struct process *p, const struct trace_record *r)
{
	uint64_t level = trace_u64(r, F(source, level));
	struct source *s = ARRAY_ADD(m->sources);
	const char *text;
	size_t line = 0;

	if (!s)
		return;
	text = trace_bytes(r, F(source, text), &s->text_bytes);
	s->name = trace_text(r, F(source, name));
	s->text = strndup("", 0);
	s->process = p->number;
	s->from_ns = r->time_ns;
	s->level = level ? dictionary_get_level(&m->dictionary, (uint32_t)level) : LEVELS_MAX;
	s->first_component = trace_u64(r, F(source, first_component));
	s->flags = (uint32_t)trace_u64(r, F(source, flags));
	s->nr_components = m->dictionary.components.nr;
	free(s->text);
	s->nr_lines = 1; /* lines are counted before memory is taken, because an empty line is one byte in the trace, but nine in memory */
	for (size_t i = 0; i < s->text_bytes; i++)
		s->nr_lines += text[i] == '\n';
	if (!trace_budget_has_room(m->reader, s->text_bytes + s->nr_lines * sizeof(*s->line_start)))
		s->nr_lines = s->text_bytes = 0;
	s->text = malloc(s->text_bytes + 1);
	if (!s->text) {
		s->text_bytes = 0;
		return;
	}
	memcpy(s->text, text, s->text_bytes);
	s->text[s->text_bytes] = 0;
	s->line_start = calloc(s->nr_lines + 1, sizeof(*s->line_start));
	for (size_t i = 0; s->line_start && i < s->text_bytes; i++)
		if (s->text[i] == '\n')
			s->line_start[++line] = i + 1;
	if (s->line_start)
		s->line_start[s->nr_lines] = s->text_bytes + 1;
}

static int compare_source_names(const void *a, const void *b)
{
	const struct source_key *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return x->source < y->source ? -1 : x->source > y->source;
}

int model_settle_sources(struct model *m)
{
	m->sources.key = malloc(((size_t)m->sources.nr + 1) * sizeof(*m->sources.key));
	if (!m->sources.key)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->sources.nr; i++) {
		const struct source *s = &m->sources.at[i];

		m->sources.key[i] = (struct source_key){ hash_text(s->name ? basename(s->name) : ""), s->from_ns, s->process, i };
	}
	if (m->sources.nr)
		qsort(m->sources.key, m->sources.nr, sizeof(*m->sources.key), compare_source_names);
	return 0;
}

void model_read_tag(struct model *m, struct process *p, const struct trace_record *r)
{
	const struct trace_value none = { .kind = TRACE_OTHER };
	const struct trace_value *fields = F(tag, fields) < r->nr_values ? &r->values[F(tag, fields)] : &none;
	const struct trace_value *ranges = F(tag, keepers) < r->nr_values ? &r->values[F(tag, keepers)] : &none;
	struct tag *t = ARRAY_ADD(p->tags);

	if (!t)
		return;
	t->number = p->tags.nr;
	t->where = (uint32_t)trace_u64(r, F(tag, where));
	t->check_mask = trace_u64(r, F(tag, check_mask));
	t->check_value = trace_u64(r, F(tag, check_value));
	t->from_ns = r->time_ns;
	t->field = calloc(fields->u + 1, sizeof(*t->field));
	t->preserving_range = calloc(ranges->u + 1, sizeof(*t->preserving_range));
	for (uint64_t i = 0; fields->kind == TRACE_LIST && t->field && i < fields->u; i++) {
		uint32_t level = dictionary_get_level(&m->dictionary, (uint32_t)trace_element(fields, i, 0).u);
		uint64_t shift = trace_element(fields, i, 1).u, bits = trace_element(fields, i, 2).u;

		if (level == LEVELS_MAX || shift > 63 || bits == 0 || bits > 64 - shift) {
			model_fault(m, FAULT_TAG_FIELD, p, trace_element(fields, i, 0).u, shift, bits, NULL);
			continue;
		}
		t->field[t->nr_fields].level = level;
		t->field[t->nr_fields].shift = (uint32_t)shift;
		t->field[t->nr_fields++].bits = (uint32_t)bits;
	}
	for (uint64_t i = 0; ranges->kind == TRACE_LIST && t->preserving_range && i < ranges->u; i++)
		t->preserving_range[t->nr_preserving_ranges++] =
			(struct jitreg_range){ trace_element(ranges, i, 0).u, trace_element(ranges, i, 1).u };
}

static int compare_tag_times(const void *a, const void *b)
{
	const struct tag *x = a, *y = b;

	if (x->from_ns != y->from_ns)
		return x->from_ns < y->from_ns ? -1 : 1;
	return x->number < y->number ? -1 : x->number > y->number;
}

void model_settle_tags(struct process *p)
{
	if (p->tags.nr)
		qsort(p->tags.at, p->tags.nr, sizeof(*p->tags.at), compare_tag_times);
}

void model_read_scope(struct model *m, struct process *p, const struct trace_record *r)
{
	uint64_t first = trace_u64(r, F(scope, first_id)), nr = trace_u64(r, F(scope, nr_ids));
	struct scope *s;

	if (trace_u64(r, F(scope, action)) == JITREG_SCOPE_END) {
		dictionary_end_components(&m->dictionary, p->number, first, nr, r->time_ns);
		return;
	}
	if (!ARRAY_GROW(m->scopes))
		return;
	s = &m->scopes.at[m->scopes.nr++];
	*s = (struct scope){ p->number, first, nr, r->time_ns, trace_text(r, F(scope, name)), trace_text(r, F(scope, text)) };
}

static int compare_scope_numbers(const void *a, const void *b)
{
	const struct scope *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	return x->from_ns < y->from_ns ? -1 : x->from_ns > y->from_ns;
}

void model_settle_scopes(struct model *m)
{
	if (m->scopes.nr)
		qsort(m->scopes.at, m->scopes.nr, sizeof(*m->scopes.at), compare_scope_numbers);
}

/* ------------------------------------------------------------------------------------------------------------ objects */

static const struct trace_value *list_field_of_record(const struct trace_record *r, int field)
{
	static const struct trace_value none = { .kind = TRACE_LIST };

	return field < r->nr_values && r->values[field].kind == TRACE_LIST ? &r->values[field] : &none;
}

void model_read_object(struct model *m, struct process *p, const struct trace_record *r)
{
	const struct trace_value *functions = list_field_of_record(r, F(object, functions)),
				 *components = list_field_of_record(r, F(object, components));
	uint64_t *function = calloc(functions->u + 1, sizeof(*function));
	struct object_component *component = calloc(components->u + 1, sizeof(*component));
	size_t nr = 0;

	p->has_objects = true;
	p->has_everywhere |= trace_u64(r, F(object, flags)) & JITREG_OBJECT_EVERYWHERE;
	for (uint64_t i = 0; function && i < functions->u; i++)
		function[i] = trace_element(functions, i, 0).u;
	for (uint64_t i = 0; component && i < components->u; i++) {
		uint64_t id = trace_element(components, i, 1).u;
		uint32_t level = id ? dictionary_get_level(&m->dictionary, (uint32_t)trace_element(components, i, 0).u) : LEVELS_MAX;

		if (level < LEVELS_MAX)
			component[nr++] = (struct object_component){ level, id };
	}
	if (function && component)
		objects_add(&m->objects, p->number, r->time_ns, trace_u64(r, F(object, address)), trace_u64(r, F(object, upper)),
			    (uint32_t)trace_u64(r, F(object, flags)), function, functions->u, component, nr);
	free(function);
	free(component);
}

void model_read_object_end(struct model *m, struct process *p, const struct trace_record *r)
{
	objects_end(&m->objects, p->number, r->time_ns, trace_u64(r, F(object_end, address)));
}

void model_read_object_steps(struct model *m, struct process *p, const struct trace_record *r)
{
	uint32_t level = dictionary_get_level(&m->dictionary, (uint32_t)trace_u64(r, F(object_steps, level)));

	if (level < LEVELS_MAX)
		objects_add_steps(&m->objects, p->number, trace_u64(r, F(object_steps, address)),
				  &(struct object_steps){ .first = trace_u64(r, F(object_steps, first)),
							  .component = trace_u64(r, F(object_steps, component)),
							  .stride = (uint32_t)trace_u64(r, F(object_steps, stride)),
							  .nr = (uint32_t)trace_u64(r, F(object_steps, nr_steps)),
							  .level = level });
}

void model_read_step_word(struct model *m, struct process *p, const struct trace_record *r)
{
	p->has_objects = true;
	objects_add_step_word(&m->objects, trace_u64(r, F(step_word, function)), (uint32_t)trace_u64(r, F(step_word, offset)));
}

/* Sets of_objects of the components of an object.  A component that was never announced is added with its number only. */
static void mark_components_of_object(struct model *m, const struct object *x)
{
	uint32_t nr;
	const struct object_component *c = object_components(&m->objects, (uint32_t)(x - m->objects.at), &nr);

	for (uint32_t i = 0; i < nr; i++) {
		const struct process *p = m->numbered.at[x->process];
		uint32_t found = COMPONENT_NONE;

		for (int n = 0; p && !found && n < ANCESTORS_MAX; n++, p = p->parent)
			found = dictionary_find_component(&m->dictionary, p->number, (uint32_t)c[i].level, c[i].id);
		if (!found)
			found = dictionary_get_component(&m->dictionary, x->process, (uint32_t)c[i].level, c[i].id);
		m->dictionary.components.at[found].of_objects = true;
	}
}

int model_settle_objects(struct model *m)
{
	struct objects *o = &m->objects;
	int ret = objects_settle(o);

	for (uint32_t i = 1; ret == 0 && i < o->nr; i++)
		mark_components_of_object(m, &o->at[i]);
	return ret;
}

/* -------------------------------------------------------------------------------------------------- flows and counters */

/* Copies a list whose elements consist of numbers into an array, element by element. members: numbers in an element. Returns NULL if the
 * budget or memory does not suffice. */
static uint64_t *copy_list_numbers(struct model *m, const struct trace_value *list, uint64_t members)
{
	uint64_t *all, n = list->u;

	if (n > UINT32_MAX || !trace_budget_has_room(m->reader, (n + 1) * members * sizeof(*all)))
		return NULL;
	all = calloc((size_t)(n * members) + 1, sizeof(*all));
	for (uint64_t i = 0; all && i < n; i++)
		for (uint64_t k = 0; k < members; k++)
			all[i * members + k] = trace_element(list, i, k).u;
	return all;
}

#define NUMBERS(m, r, field, element) copy_list_numbers(m, list_field_of_record(r, field), sizeof(struct element) / sizeof(uint64_t))

/* Turns level numbers of a host into indexes, in nr elements of stride numbers each, and adds levels that are new. 0, a number above
 * UINT32_MAX, and a new level beyond LEVELS_MAX become LEVELS_MAX. */
static void index_levels(struct model *m, uint64_t *level, size_t stride, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++, level += stride)
		*level = *level && *level <= UINT32_MAX ? dictionary_get_level(&m->dictionary, (uint32_t)*level) : LEVELS_MAX;
}

void model_read_flow(struct model *m, struct process *p, const struct trace_record *r)
{
	uint32_t level = dictionary_get_level(&m->dictionary, (uint32_t)trace_u64(r, F(flow, level)));
	struct flow_record f = { p->number, level, trace_u64(r, F(flow, component)), r->time_ns,
				 trace_u64(r, F(flow, flags)) & JITREG_FLOW_ESCAPES, { 0 } };

	check_numbers_not_zero(m, p, r->id, trace_u64(r, F(flow, level)), f.component);
	if (level == LEVELS_MAX)
		return;
	f.parts.blocks = (void *)NUMBERS(m, r, F(flow, blocks), jitreg_flow_block);
	f.parts.arcs = (void *)NUMBERS(m, r, F(flow, arcs), jitreg_flow_arc);
	f.parts.calls = (void *)NUMBERS(m, r, F(flow, calls), jitreg_flow_call);
	f.parts.executions = (void *)NUMBERS(m, r, F(flow, executions), jitreg_flow_execution);
	f.parts.nr_blocks = f.parts.blocks ? (uint32_t)list_field_of_record(r, F(flow, blocks))->u : 0;
	f.parts.nr_arcs = f.parts.arcs ? (uint32_t)list_field_of_record(r, F(flow, arcs))->u : 0;
	f.parts.nr_calls = f.parts.calls ? (uint32_t)list_field_of_record(r, F(flow, calls))->u : 0;
	f.parts.nr_executions = f.parts.executions ? (uint32_t)list_field_of_record(r, F(flow, executions))->u : 0;
	if (f.parts.nr_blocks)
		index_levels(m, (uint64_t *)(uintptr_t)&f.parts.blocks->level, sizeof(*f.parts.blocks) / 8, f.parts.nr_blocks);
	if (f.parts.nr_calls)
		index_levels(m, (uint64_t *)(uintptr_t)&f.parts.calls->level, sizeof(*f.parts.calls) / 8, f.parts.nr_calls);
	if (f.parts.nr_executions)
		index_levels(m, (uint64_t *)(uintptr_t)&f.parts.executions->level, sizeof(*f.parts.executions) / 8, f.parts.nr_executions);
	flow_records_add(&m->flows, &f);
}

/* Reads a COUNTER_BLOCK.  A component's number can get another flow later, so the flow of each entry is looked up now. */
void model_read_counter_block(struct model *m, struct process *p, const struct trace_record *r)
{
	struct counters_record c = { .process = p->number, .block = trace_u64(r, F(counter_block, block)), .time_ns = r->time_ns };
	struct counters_record *added;

	c.entry = (void *)NUMBERS(m, r, F(counter_block, entries), jitreg_counter_entry);
	c.nr = c.entry ? (uint32_t)list_field_of_record(r, F(counter_block, entries))->u : 0;
	if (!c.nr || !flow_records_add_counters(&m->flows, &c)) {
		if (!c.nr)
			free(c.entry);
		return;
	}
	added = &m->flows.counters.at[m->flows.counters.nr - 1];
	index_levels(m, &added->entry->level, sizeof(*added->entry) / 8, c.nr);
	for (uint32_t i = 0; i < c.nr; i++) {
		const struct jitreg_counter_entry *e = &added->entry[i];

		if (e->level < LEVELS_MAX)
			added->flow[i] = flow_records_find(&m->flows, p->number, (uint32_t)e->level, e->component);
	}
}

static uint64_t counter_value_at(const void *list, uint64_t i)
{
	return trace_element(list, i, 0).u;
}

void model_read_counter_values(struct model *m, struct process *p, const struct trace_record *r)
{
	const struct trace_value *values = list_field_of_record(r, F(counter_values, values));

	flow_records_set_values(&m->flows, p->number, trace_u64(r, F(counter_values, block)), r->time_ns,
				(uint32_t)trace_u64(r, F(counter_values, flags)), values->u, counter_value_at, values);
}

void sources_fini(struct sources *s)
{
	for (uint32_t i = 0; i < s->nr; i++) {
		free(s->at[i].name);
		free(s->at[i].text);
		free(s->at[i].line_start);
	}
	free(s->at);
	free(s->key);
}

void scopes_fini(struct model *m)
{
	for (uint32_t i = 0; i < m->scopes.nr; i++) {
		free(m->scopes.at[i].name);
		free(m->scopes.at[i].text);
	}
	free(m->scopes.at);
}

void tags_fini(struct process *p)
{
	for (uint32_t i = 0; i < p->tags.nr; i++) {
		free(p->tags.at[i].field);
		free(p->tags.at[i].preserving_range);
	}
	free(p->tags.at);
}
