/* SPDX-License-Identifier: MIT */
/* What functions work on (OBJECT, OBJECT_END). */
#include "analyzer/model/read.h"

#include <errno.h>
#include <stdlib.h>

#define ANCESTORS_MAX 64

static const struct trace_value *list_of(const struct trace_record *r, int field)
{
	static const struct trace_value none = { .kind = TRACE_LIST };

	return field < r->nr_values && r->values[field].kind == TRACE_LIST ? &r->values[field] : &none;
}

void model_read_object(struct model *m, struct process *p, const struct trace_record *r)
{
	const struct trace_value *functions = list_of(r, F(object, functions)), *components = list_of(r, F(object, components));
	uint64_t *function = calloc(functions->u + 1, sizeof(*function));
	struct object_component *component = calloc(components->u + 1, sizeof(*component));
	size_t nr = 0;

	p->has_objects = true;
	for (uint64_t i = 0; function && i < functions->u; i++)
		function[i] = trace_element(functions, i, 0).u;
	for (uint64_t i = 0; component && i < components->u; i++) {
		uint64_t id = trace_element(components, i, 1).u;
		uint32_t level = id ? dictionary_level(&m->dictionary, (uint32_t)trace_element(components, i, 0).u) : LEVELS_MAX;

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

/* Components that were never announced have a number only, as everywhere. */
static void name_components(struct model *m, const struct object *x)
{
	uint32_t nr;
	const struct object_component *c = object_components(&m->objects, (uint32_t)(x - m->objects.object), &nr);

	for (uint32_t i = 0; i < nr; i++) {
		const struct process *p = m->numbered[x->process];
		uint32_t found = COMPONENT_NONE;

		for (int n = 0; p && !found && n < ANCESTORS_MAX; n++, p = p->parent)
			found = dictionary_find(&m->dictionary, p->number, (uint32_t)c[i].level, c[i].id);
		if (!found)
			found = dictionary_get(&m->dictionary, x->process, (uint32_t)c[i].level, c[i].id);
		m->dictionary.component[found].of_objects = true;
	}
}

int model_settle_objects(struct model *m)
{
	struct objects *o = &m->objects;
	int ret = objects_settle(o);

	for (uint32_t i = 1; ret == 0 && i < o->nr; i++)
		name_components(m, &o->object[i]);
	return ret;
}
