/* SPDX-License-Identifier: MIT */
/* What is known of a backend, as records of jitreg. */
#include "agent/recorder/engines/postgres.h"

#include "agent/recorder/engines/postgres_waits.h"
#include "jitreg/engines/postgres_names.h"

#include <stdio.h>
#include <string.h>

static void begin(struct engines *e, uint32_t id, uint64_t time_ns, const struct postgres_backend *b, int nr_fields)
{
	trace_record_begin(e->writer, TRACE_CHUNK_RECORDS, id, time_ns, (uint32_t)b->pid, (uint32_t)b->pid, nr_fields);
}

static void text(struct engines *e, const char *t)
{
	trace_record_text(e->writer, t, strlen(t));
}

static void say_component(struct engines *e, const struct postgres_backend *b, uint64_t time_ns, uint32_t level, uint32_t flags,
			  uint64_t id, const char *name, const char *detail)
{
	begin(e, JITREG_COMPONENT, time_ns, b, F_COUNT(component));
	trace_record_u64(e->writer, level);
	trace_record_u64(e->writer, flags);
	trace_record_u64(e->writer, id);
	text(e, name);
	text(e, detail);
	trace_record_end(e->writer);
}

/* Is it news?  What all processes have in common is said once. */
static bool is_new(struct engines *e, uint32_t level, uint64_t id)
{
	if (hash_map_find(&e->said, id, level))
		return false;
	return hash_map_set(&e->said, id, level, 1);
}

static void say_level(struct engines *e, const struct postgres_backend *b, uint64_t time_ns, uint32_t level, const char *name,
		      uint32_t upper, uint32_t flags)
{
	begin(e, JITREG_LEVEL, time_ns, b, F_COUNT(level));
	trace_record_u64(e->writer, level);
	trace_record_u64(e->writer, flags);
	text(e, name);
	trace_record_array(e->writer, upper != 0);
	if (upper) {
		trace_record_array(e->writer, 1);
		trace_record_u64(e->writer, upper);
	}
	trace_record_end(e->writer);
}

static void say_object(struct engines *e, const struct postgres_backend *b, uint64_t time_ns, uint64_t address, uint64_t upper,
		       uint32_t flags, const uint64_t *function, uint32_t nr_functions, uint64_t node, uint64_t query)
{
	struct trace_writer *w = e->writer;

	begin(e, JITREG_OBJECT, time_ns, b, F_COUNT(object));
	trace_record_u64(w, address);
	trace_record_u64(w, upper);
	trace_record_u64(w, flags);
	trace_record_u64(w, 0);
	trace_record_array(w, nr_functions);
	for (uint32_t i = 0; i < nr_functions; i++) {
		trace_record_array(w, 1);
		trace_record_u64(w, function[i]);
	}
	trace_record_array(w, 1 + (node != 0) + (query != 0));
	if (node) {
		trace_record_array(w, 2);
		trace_record_u64(w, POSTGRES_LEVEL_NODE);
		trace_record_u64(w, node);
	}
	if (query) {
		trace_record_array(w, 2);
		trace_record_u64(w, POSTGRES_LEVEL_QUERY);
		trace_record_u64(w, query);
	}
	trace_record_array(w, 2);
	trace_record_u64(w, POSTGRES_LEVEL_SESSION);
	trace_record_u64(w, (uint64_t)b->own_pid);
	trace_record_end(w);
}

void postgres_say_session(struct engines *e, struct postgres_backend *b, uint64_t time_ns)
{
	char name[sizeof(b->name) + sizeof(b->application) + 4];

	if (!b->announced) {
		say_level(e, b, time_ns, POSTGRES_LEVEL_SESSION, "session", 0, 0);
		say_level(e, b, time_ns, POSTGRES_LEVEL_QUERY, "query", 0, 0);
		say_level(e, b, time_ns, POSTGRES_LEVEL_NODE, "node", POSTGRES_LEVEL_QUERY, JITREG_LEVEL_PLAN);
	}
	if (!b->announced)
		say_object(e, b, time_ns, POSTGRES_OBJECT_SESSION, 0, JITREG_OBJECT_CLASS | JITREG_OBJECT_EVERYWHERE, NULL, 0, 0, 0);
	b->announced = true;
	snprintf(name, sizeof(name), "%s%s%s", b->name, *b->application ? " " : "", b->application);
	say_component(e, b, time_ns, POSTGRES_LEVEL_SESSION, 0, (uint64_t)b->own_pid, name, "");
}

void postgres_say_wait(struct engines *e, const struct postgres_backend *b, uint32_t info, uint64_t begin_ns, uint64_t end_ns)
{
	struct trace_writer *w = e->writer;
	char name[64];

	postgres_wait_text(b->server->layout ? b->server->layout->major : 0, info, name, sizeof(name));
	if (is_new(e, POSTGRES_LEVEL_WAIT, info)) {
		say_level(e, b, begin_ns, POSTGRES_LEVEL_WAIT, "wait", 0, JITREG_LEVEL_WAITS);
		say_component(e, b, begin_ns, POSTGRES_LEVEL_WAIT, JITREG_COMPONENT_COMMON, info, name, "");
	}
	begin(e, JITREG_OBJECT, begin_ns, b, F_COUNT(object));
	trace_record_u64(w, POSTGRES_OBJECT_WAIT);
	trace_record_u64(w, 0);
	trace_record_u64(w, JITREG_OBJECT_CLASS | JITREG_OBJECT_EVERYWHERE);
	trace_record_u64(w, 0);
	trace_record_array(w, 0);
	trace_record_array(w, 1);
	trace_record_array(w, 2);
	trace_record_u64(w, POSTGRES_LEVEL_WAIT);
	trace_record_u64(w, info);
	trace_record_end(w);
	begin(e, JITREG_OBJECT_END, end_ns, b, F_COUNT(object_end));
	trace_record_u64(w, POSTGRES_OBJECT_WAIT);
	trace_record_u64(w, 0);
	trace_record_u64(w, 0);
	trace_record_end(w);
}

static void say_class(struct engines *e, struct postgres_backend *b, uint64_t time_ns, int class, const uint64_t *function, uint32_t nr)
{
	uint64_t number = (uint64_t)class + 1;

	if (is_new(e, POSTGRES_LEVEL_NODE, number))
		say_component(e, b, time_ns, POSTGRES_LEVEL_NODE, POSTGRES_CLASS_FLAGS, number,
			      postgres_class_name((enum postgres_class)class), "");
	say_object(e, b, time_ns, number, 0, JITREG_OBJECT_CLASS, function, nr, number, 0);
	b->class_said[class] = nr;
}

void postgres_say_classes(struct engines *e, struct postgres_backend *b, uint64_t time_ns)
{
	const struct postgres_server *s = b->server;

	for (int i = 0; i < POSTGRES_NR_CLASSES; i++)
		if (i == POSTGRES_CLASS_LLVM) {
			if (b->llvm_nr != b->class_said[i])
				say_class(e, b, time_ns, i, b->llvm_function, b->llvm_nr);
		} else if (s->class_nr[i] != b->class_said[i]) {
			say_class(e, b, time_ns, i, s->class_function[i], s->class_nr[i]);
		}
}

void postgres_say_query(struct engines *e, const struct postgres_backend *b, const struct postgres_plan *p)
{
	if (is_new(e, POSTGRES_LEVEL_QUERY, p->id))
		say_component(e, b, p->begin_ns, POSTGRES_LEVEL_QUERY, JITREG_COMPONENT_COMMON, p->id, p->name, e->memory->text);
}

void postgres_say_node(struct engines *e, const struct postgres_backend *b, const struct postgres_plan *p, const struct postgres_node *n,
		       uint64_t id, uint64_t consumer)
{
	struct postgres_reader r = postgres_server_reader(e, b);
	struct trace_writer *w = e->writer;
	char detail[POSTGRES_DETAIL_BYTES];

	if (!is_new(e, POSTGRES_LEVEL_NODE, id))
		return;
	postgres_node_detail(&r, n, detail);
	say_component(e, b, p->begin_ns, POSTGRES_LEVEL_NODE, JITREG_COMPONENT_COMMON, id, n->name, detail);
	begin(e, JITREG_LINK, p->begin_ns, b, F_COUNT(link));
	trace_record_u64(w, POSTGRES_LEVEL_NODE);
	trace_record_u64(w, POSTGRES_LEVEL_QUERY);
	trace_record_u64(w, id);
	trace_record_u64(w, p->id);
	trace_record_u64(w, 1);
	trace_record_u64(w, 0);
	trace_record_end(w);
	if (consumer) {
		begin(e, JITREG_EDGE, p->begin_ns, b, F_COUNT(edge));
		trace_record_u64(w, POSTGRES_LEVEL_NODE);
		trace_record_u64(w, id);
		trace_record_u64(w, consumer);
		trace_record_u64(w, n->order);
		trace_record_u64(w, 0);
		text(e, postgres_role_label(n->role));
		trace_record_end(w);
	}
	if (postgres_node_rows(n) >= 0) {
		begin(e, JITREG_COUNTER, p->begin_ns, b, F_COUNT(counter));
		trace_record_u64(w, POSTGRES_LEVEL_NODE);
		trace_record_u64(w, id);
		trace_record_s64(w, postgres_node_rows(n));
		text(e, "estimated rows");
		trace_record_end(w);
	}
}

static void say_mark(struct engines *e, const struct postgres_backend *b, uint32_t action, const struct postgres_plan *p, uint64_t time_ns)
{
	struct trace_writer *w = e->writer;
	bool begins = action == JITREG_MARK_BEGIN;

	begin(e, JITREG_MARK, time_ns, b, F_COUNT(mark));
	trace_record_u64(w, action);
	trace_record_u64(w, begins ? POSTGRES_LEVEL_QUERY : 0);
	trace_record_u64(w, begins ? p->id : 0);
	trace_record_u64(w, begins ? b->nr_marks : 0);
	trace_record_u64(w, 0);
	trace_record_u64(w, 0);
	text(e, begins ? "run" : "");
	text(e, begins ? p->name : "");
	trace_record_u64(w, p->mark);
	trace_record_u64(w, 0);
	trace_record_u64(w, begins ? JITREG_COVERS_THREAD : 0);
	trace_record_u64(w, 0);
	trace_record_end(w);
}

void postgres_say_plan(struct engines *e, struct postgres_backend *b, struct postgres_plan *p, uint64_t time_ns)
{
	const uint64_t *symbol = b->server->code.symbol;

	say_object(e, b, time_ns, p->query.address, 0, 0, &symbol[POSTGRES_EXECUTOR_RUN], 1, 0, p->id);
	for (uint32_t i = 0; i < p->nr; i++) {
		const struct postgres_plan_node *n = &p->node[i];

		say_object(e, b, time_ns, n->address, n->upper, 0, p->function + n->first_function, n->nr_functions, n->id, p->id);
	}
	if (p->top && !b->leader && !p->mark) {
		p->mark = (uint64_t)b->pid << 32 | ++b->nr_marks;
		say_mark(e, b, JITREG_MARK_BEGIN, p, time_ns);
	}
	p->live = true;
}

void postgres_say_end(struct engines *e, struct postgres_backend *b, struct postgres_plan *p, uint64_t time_ns)
{
	if (p->live) {
		begin(e, JITREG_OBJECT_END, time_ns, b, F_COUNT(object_end));
		trace_record_u64(e->writer, p->query.address);
		trace_record_u64(e->writer, 0);
		trace_record_u64(e->writer, 0);
		trace_record_end(e->writer);
	}
	if (p->mark)
		say_mark(e, b, JITREG_MARK_END, p, time_ns);
	p->mark = 0;
	p->live = false;
}
