/* SPDX-License-Identifier: MIT */
/* Writes what is known about a backend as records of jitreg. */
#include "agent/recorder/engines/postgres.h"

#include "agent/recorder/engines/postgres_waits.h"

#include <stdio.h>
#include <string.h>

/* Writes a record of a backend. */
#define SAY(e, b, time_ns, record, ...) TRACE_PUT((e)->writer, record, time_ns, (uint32_t)(b)->pid, (uint32_t)(b)->pid, __VA_ARGS__)

/* Notes that a component of all processes is written to the trace.  Returns false if that was noted already, or if memory runs out, and
 * then it is not to be written. */
static bool is_component_new(struct engines *e, uint32_t level, uint64_t id)
{
	if (hash_map_find(&e->said, id, level))
		return false;
	return hash_map_set(&e->said, id, level, 1);
}

static void write_level_record(struct engines *e, const struct postgres_backend *b, uint64_t time_ns, uint32_t level, const char *name,
			       uint32_t upper, uint32_t flags)
{
	const struct jitreg_level_ref ref = { upper };

	SAY(e, b, time_ns, level, .level = level, .flags = flags, .name = trace_string(name), .upper = { &ref, upper != 0 });
}

static void write_object_record(struct engines *e, const struct postgres_backend *b, uint64_t time_ns, uint64_t address, uint64_t upper,
				uint32_t flags, const uint64_t *function, uint32_t nr_functions, uint64_t node, uint64_t query)
{
	struct jitreg_object_component components[3];
	uint32_t nr = 0;

	if (node)
		components[nr++] = (struct jitreg_object_component){ POSTGRES_LEVEL_NODE, node };
	if (query)
		components[nr++] = (struct jitreg_object_component){ POSTGRES_LEVEL_QUERY, query };
	components[nr++] = (struct jitreg_object_component){ POSTGRES_LEVEL_SESSION, (uint64_t)b->own_pid };
	SAY(e, b, time_ns, object, .address = address, .upper = upper, .flags = flags,
	    .functions = { (const struct jitreg_function *)function, nr_functions }, .components = { components, nr });
}

void postgres_write_session(struct engines *e, struct postgres_backend *b, uint64_t time_ns)
{
	char name[sizeof(b->name) + sizeof(b->application) + 4];

	if (!b->announced) {
		write_level_record(e, b, time_ns, POSTGRES_LEVEL_SESSION, "session", 0, 0);
		write_level_record(e, b, time_ns, POSTGRES_LEVEL_QUERY, "query", 0, 0);
		write_level_record(e, b, time_ns, POSTGRES_LEVEL_NODE, "node", POSTGRES_LEVEL_QUERY, JITREG_LEVEL_PLAN);
	}
	if (!b->announced)
		write_object_record(e, b, time_ns, POSTGRES_OBJECT_SESSION, 0, JITREG_OBJECT_CLASS | JITREG_OBJECT_EVERYWHERE, NULL, 0, 0,
				    0);
	b->announced = true;
	snprintf(name, sizeof(name), "%s%s%s", b->name, *b->application ? " " : "", b->application);
	SAY(e, b, time_ns, component, .level = POSTGRES_LEVEL_SESSION, .component = (uint64_t)b->own_pid, .name = trace_string(name));
}

void postgres_write_wait(struct engines *e, const struct postgres_backend *b, uint32_t info, uint64_t begin_ns, uint64_t end_ns)
{
	const struct jitreg_object_component component = { POSTGRES_LEVEL_WAIT, info };
	char name[64];

	postgres_wait_text(b->server->layout ? b->server->layout->major : 0, info, name, sizeof(name));
	if (is_component_new(e, POSTGRES_LEVEL_WAIT, info)) {
		write_level_record(e, b, begin_ns, POSTGRES_LEVEL_WAIT, "wait", 0, JITREG_LEVEL_WAITS);
		SAY(e, b, begin_ns, component, .level = POSTGRES_LEVEL_WAIT, .flags = JITREG_COMPONENT_COMMON, .component = info,
		    .name = trace_string(name));
	}
	SAY(e, b, begin_ns, object, .address = POSTGRES_OBJECT_WAIT, .flags = JITREG_OBJECT_CLASS | JITREG_OBJECT_EVERYWHERE,
	    .components = { &component, 1 });
	SAY(e, b, end_ns, object_end, .address = POSTGRES_OBJECT_WAIT);
}

static void write_class_records(struct engines *e, struct postgres_backend *b, uint64_t time_ns, int class, const uint64_t *function,
				uint32_t nr)
{
	uint64_t number = (uint64_t)class + 1;

	if (is_component_new(e, POSTGRES_LEVEL_NODE, number))
		SAY(e, b, time_ns, component, .level = POSTGRES_LEVEL_NODE, .flags = POSTGRES_CLASS_FLAGS, .component = number,
		    .name = trace_string(postgres_class_name((enum postgres_class)class)));
	write_object_record(e, b, time_ns, number, 0, JITREG_OBJECT_CLASS, function, nr, number, 0);
	b->class_said[class] = nr;
}

void postgres_write_classes(struct engines *e, struct postgres_backend *b, uint64_t time_ns)
{
	const struct postgres_server *s = b->server;

	for (int i = 0; i < POSTGRES_NR_CLASSES; i++)
		if (i == POSTGRES_CLASS_LLVM) {
			if (b->llvm_nr != b->class_said[i])
				write_class_records(e, b, time_ns, i, b->llvm_function, b->llvm_nr);
		} else if (s->class_nr[i] != b->class_said[i]) {
			write_class_records(e, b, time_ns, i, s->class_function[i], s->class_nr[i]);
		}
}

void postgres_write_query(struct engines *e, const struct postgres_backend *b, const struct postgres_plan *p)
{
	if (is_component_new(e, POSTGRES_LEVEL_QUERY, p->id))
		SAY(e, b, p->begin_ns, component, .level = POSTGRES_LEVEL_QUERY, .flags = JITREG_COMPONENT_COMMON, .component = p->id,
		    .name = trace_string(p->name), .detail = trace_string(e->memory->text));
}

/* This stands in place of a level, for the edge of a node to its consumer. A worker's plan begins further in, and lacks its root's. */
#define EDGE 0u

bool postgres_node_is_said(const struct engines *e, uint64_t id, uint64_t consumer)
{
	return hash_map_find(&e->said, id, POSTGRES_LEVEL_NODE) && (!consumer || hash_map_find(&e->said, id, EDGE));
}

void postgres_write_node(struct engines *e, const struct postgres_backend *b, const struct postgres_plan *p, const struct postgres_node *n,
			 uint64_t id, uint64_t consumer, const char *detail)
{
	if (is_component_new(e, POSTGRES_LEVEL_NODE, id)) {
		SAY(e, b, p->begin_ns, component, .level = POSTGRES_LEVEL_NODE, .flags = JITREG_COMPONENT_COMMON, .component = id,
		    .name = trace_string(n->name), .detail = trace_string(detail));
		SAY(e, b, p->begin_ns, link, .lower_level = POSTGRES_LEVEL_NODE, .lower = id, .upper_level = POSTGRES_LEVEL_QUERY,
		    .upper = p->id, .weight = 1);
		if (postgres_node_rows(n) >= 0)
			SAY(e, b, p->begin_ns, counter, .level = POSTGRES_LEVEL_NODE, .component = id, .value = postgres_node_rows(n),
			    .name = trace_string("estimated rows"));
	}
	if (consumer && is_component_new(e, EDGE, id))
		SAY(e, b, p->begin_ns, edge, .level = POSTGRES_LEVEL_NODE, .from = id, .to = consumer, .order = n->order,
		    .label = trace_string(postgres_role_label(n->role)));
}

void postgres_write_stored(struct engines *e, const struct postgres_backend *b, const char *name, uint64_t address, uint64_t handler,
			   uint64_t time_ns)
{
	const struct jitreg_object_component component = { POSTGRES_LEVEL_NODE, postgres_stored_id(b->server->salt, name) };

	if (is_component_new(e, POSTGRES_LEVEL_NODE, component.component))
		SAY(e, b, time_ns, component, .level = POSTGRES_LEVEL_NODE, .flags = JITREG_COMPONENT_COMMON,
		    .component = component.component, .name = trace_string(name));
	SAY(e, b, time_ns, object, .address = address, .flags = JITREG_OBJECT_CLASS | JITREG_OBJECT_CALLED,
	    .functions = { (const struct jitreg_function *)&handler, 1 }, .components = { &component, 1 });
}

/* Does a utility statement run this query in its own text, as COPY does, or the other way round?  Both are one execution. */
static bool is_marked_already(const struct postgres_backend *b, const struct postgres_plan *p)
{
	for (uint32_t i = 0; i < b->nr_plans; i++)
		if (b->plan[i].utility != p->utility && b->plan[i].mark && b->plan[i].id == p->id)
			return true;
	return false;
}

void postgres_write_plan(struct engines *e, struct postgres_backend *b, struct postgres_plan *p, uint64_t time_ns)
{
	const uint64_t *symbol = b->server->code.symbol;
	const uint64_t run[] = { symbol[POSTGRES_EXECUTOR_RUN], symbol[POSTGRES_EXECUTOR_FINISH] };

	if (p->query.address == POSTGRES_OBJECT_ACTIVITY)
		write_object_record(e, b, time_ns, p->query.address, 0, JITREG_OBJECT_CLASS | JITREG_OBJECT_EVERYWHERE, NULL, 0, 0, p->id);
	else if (p->utility)
		write_object_record(e, b, time_ns, p->query.address, 0, JITREG_OBJECT_ALONE, &symbol[POSTGRES_PROCESS_UTILITY], 1, 0,
				    p->id);
	else
		write_object_record(e, b, time_ns, p->query.address, 0, 0, run, run[1] ? 2 : 1, 0, p->id);
	for (uint32_t i = 0; i < p->nodes.nr; i++) {
		const struct postgres_plan_node *n = &p->nodes.at[i];

		write_object_record(e, b, time_ns, n->address, n->upper, 0, p->functions.at + n->first_function, n->nr_functions, n->id,
				    p->id);
	}
	postgres_write_mark(e, b, p);
	p->live = true;
}

void postgres_write_mark(struct engines *e, struct postgres_backend *b, struct postgres_plan *p)
{
	if (p->top && !p->unsure && !b->leader && !p->mark && !is_marked_already(b, p)) {
		p->mark = (uint64_t)b->pid << 32 | ++b->nr_marks;
		SAY(e, b, p->begin_ns, mark, .action = JITREG_MARK_BEGIN, .level = POSTGRES_LEVEL_QUERY, .component = p->id,
		    .instance = b->nr_marks, .name = trace_string("run"), .text = trace_string(p->name), .mark = p->mark,
		    .covers = JITREG_COVERS_THREAD);
	}
}

void postgres_write_plan_end(struct engines *e, struct postgres_backend *b, struct postgres_plan *p, uint64_t time_ns)
{
	if (p->live)
		SAY(e, b, time_ns, object_end, .address = p->query.address);
	if (p->mark)
		SAY(e, b, time_ns, mark, .action = JITREG_MARK_END, .mark = p->mark);
	p->mark = 0;
	p->live = false;
}
