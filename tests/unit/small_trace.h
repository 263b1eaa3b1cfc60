/* SPDX-License-Identifier: MIT */
/* Traces that tests of the analyzer write record by record, and the model that is made of them. */
#ifndef TAILOR_SMALL_TRACE_H
#define TAILOR_SMALL_TRACE_H

#include "tests/unit/unit.h"

#include "analyzer/attribute/attribute_sample.h"
#include "jitreg/jitreg.h"
#include "jitreg/trace/reader.h"
#include "jitreg/trace/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char small_path[64];
static struct trace_writer *small;

static inline void put_numbers(size_t nr, const uint64_t *v)
{
	for (size_t i = 0; i < nr; i++)
		trace_record_u64(small, v[i]);
}
#define PUT(...) put_numbers(sizeof((uint64_t[]){ __VA_ARGS__ }) / 8, (uint64_t[]){ __VA_ARGS__ })

static inline void put_text(const char *t)
{
	trace_record_text(small, t, strlen(t));
}

static inline void put_record(uint32_t pid, uint64_t time_ns, uint32_t id, int nr)
{
	trace_record_begin(small, TRACE_CHUNK_RECORDS, id, time_ns, pid, pid, nr);
}

static inline void put_end(void)
{
	assert_int_equal(trace_record_end(small), 0);
}

static inline void small_begin(void)
{
	struct diag d;

	snprintf(small_path, sizeof(small_path), "/tmp/test_small_trace.XXXXXX");
	close(mkstemp(small_path));
	assert_int_equal(trace_writer_open(small_path, true, &small, &d), 0);
	put_record(0, 1, TRACE_HEADER, 1);
	PUT(TRACE_FORMAT_VERSION);
	put_end();
}

/* The file is gone as soon as it is open. */
static inline struct trace_reader *small_end(void)
{
	struct trace_reader *t;
	struct diag d;

	trace_record_begin(small, TRACE_CHUNK_END, TRACE_END, 1, 0, 0, F_COUNT(end));
	PUT(0, 0, 0, 0);
	put_end();
	assert_int_equal(trace_writer_close(small), 0);
	assert_int_equal(trace_open(small_path, &t, &d), 0);
	unlink(small_path);
	return t;
}

static inline struct model *small_model(struct trace_reader *t)
{
	struct model *m;
	struct diag d;

	trace_rewind(t);
	trace_select(t, ~0u);
	assert_int_equal(model_create(t, &m, &d), 0);
	return m;
}

/* ----------------------------------------------------------------------------------------------------------- records */

static inline void put_event(uint64_t number, const char *name)
{
	put_record(0, 1, TRACE_EVENT, F(event, unit) + 1);
	PUT(number);
	put_text(name);
	put_text("events");
	put_end();
}

static inline void put_process(uint32_t pid, uint64_t time_ns, const char *comm)
{
	put_record(pid, time_ns, TRACE_PROCESS, F_COUNT(process));
	PUT(1);
	put_text("/program");
	put_text(comm);
	put_end();
}

static inline void put_fork(uint32_t pid, uint64_t time_ns, uint32_t parent)
{
	put_record(pid, time_ns, TRACE_FORK, F_COUNT(fork));
	PUT(parent, parent);
	put_end();
}

static inline void put_exec(uint32_t pid, uint64_t time_ns, const char *comm)
{
	put_record(pid, time_ns, TRACE_COMM, F_COUNT(comm));
	PUT(1);
	put_text(comm);
	put_end();
}

static inline void put_mmap(uint32_t pid, uint64_t time_ns, uint64_t address, uint64_t bytes, const char *path)
{
	put_record(pid, time_ns, TRACE_MMAP, F_COUNT(mmap));
	PUT(address, bytes, 0, 5);
	put_text(path);
	trace_record_bytes(small, "", 0);
	PUT(0, 0, 0); /* its identity */
	put_end();
}

static inline void put_level(uint32_t pid, uint32_t id, const char *name)
{
	put_record(pid, 2, JITREG_LEVEL, F_COUNT(level));
	PUT(id, 0);
	put_text(name);
	trace_record_array(small, 0);
	put_end();
}

static inline void put_component_at(uint32_t pid, uint64_t time_ns, uint32_t level, uint64_t id, uint32_t flags, const char *name)
{
	put_record(pid, time_ns, JITREG_COMPONENT, F_COUNT(component));
	PUT(level, flags, id);
	put_text(name);
	put_text("");
	put_end();
}

static inline void put_component(uint32_t pid, uint32_t level, uint64_t id, uint32_t flags, const char *name)
{
	put_component_at(pid, 2, level, id, flags, name);
}

static inline void put_link_at(uint32_t pid, uint64_t time_ns, uint32_t lower_level, uint64_t lower, uint32_t upper_level, uint64_t upper,
			       uint32_t weight)
{
	put_record(pid, time_ns, JITREG_LINK, F_COUNT(link));
	PUT(lower_level, upper_level, lower, upper, weight, 0);
	put_end();
}

static inline void put_link(uint32_t pid, uint32_t lower_level, uint64_t lower, uint32_t upper_level, uint64_t upper, uint32_t weight)
{
	put_link_at(pid, 2, lower_level, lower, upper_level, upper, weight);
}

static inline void put_unlink(uint32_t pid, uint64_t time_ns, uint32_t lower_level, uint64_t lower, uint32_t upper_level, uint64_t upper)
{
	put_record(pid, time_ns, JITREG_UNLINK, F_COUNT(unlink));
	PUT(lower_level, upper_level, lower, upper);
	put_end();
}

static inline void put_object(uint32_t pid, uint64_t time_ns, uint64_t address, uint64_t upper, uint32_t flags, size_t nr_functions,
			      const uint64_t *function, size_t nr_components, const uint64_t (*component)[2])
{
	put_record(pid, time_ns, JITREG_OBJECT, F_COUNT(object));
	PUT(address, upper, flags, 0);
	trace_record_array(small, nr_functions);
	for (size_t i = 0; i < nr_functions; i++) {
		trace_record_array(small, 1);
		PUT(function[i]);
	}
	trace_record_array(small, nr_components);
	for (size_t i = 0; i < nr_components; i++) {
		trace_record_array(small, 2);
		PUT(component[i][0], component[i][1]);
	}
	put_end();
}

static inline void put_object_end(uint32_t pid, uint64_t time_ns, uint64_t address)
{
	put_record(pid, time_ns, JITREG_OBJECT_END, F_COUNT(object_end));
	PUT(address, 0, 0);
	put_end();
}

static inline void put_steps(uint32_t pid, uint64_t time_ns, uint64_t address, uint64_t first, uint32_t stride, uint32_t nr, uint32_t level,
			     uint64_t component)
{
	put_record(pid, time_ns, JITREG_OBJECT_STEPS, F_COUNT(object_steps));
	PUT(address, first, component, level, stride, nr, 0);
	put_end();
}

static inline void put_step_word(uint32_t pid, uint64_t time_ns, uint64_t function, uint32_t offset)
{
	put_record(pid, time_ns, JITREG_STEP_WORD, F_COUNT(step_word));
	PUT(function, offset, 0);
	put_end();
}

struct small_entry {
	uint64_t offset, level, component;
};

static inline void put_code_map(uint32_t pid, uint64_t time_ns, uint64_t address, size_t nr, const struct small_entry *entry)
{
	put_record(pid, time_ns, JITREG_CODE_MAP, F_COUNT(code_map));
	PUT(address, 0);
	trace_record_array(small, nr);
	for (size_t i = 0; i < nr; i++) {
		trace_record_array(small, 3);
		PUT(entry[i].offset, entry[i].level, entry[i].component);
	}
	put_end();
}

static inline void put_load(uint32_t pid, uint64_t time_ns, uint64_t address, uint64_t bytes, const char *name)
{
	put_record(pid, time_ns, JITREG_LOAD, F_COUNT(load));
	PUT(pid, pid, address, address, bytes, 0);
	put_text(name);
	trace_record_bytes(small, "", 0);
	put_end();
}

static inline void put_unload(uint32_t pid, uint64_t time_ns, uint64_t address, uint64_t bytes)
{
	put_record(pid, time_ns, JITREG_CODE_UNLOAD, F_COUNT(code_unload));
	PUT(address, bytes);
	put_end();
}

struct small_tag {
	uint32_t where;
	uint64_t mask, value;
	size_t nr_fields, nr_ranges;
	struct {
		uint64_t level, shift, bits;
	} field[3];
	struct jitreg_range range[8];
};

static inline void put_tag(uint32_t pid, uint64_t time_ns, const struct small_tag *t)
{
	put_record(pid, time_ns, JITREG_TAG, F_COUNT(tag));
	PUT(t->where, 0, 0, t->mask, t->value);
	trace_record_array(small, t->nr_fields);
	for (size_t i = 0; i < t->nr_fields; i++) {
		trace_record_array(small, 3);
		PUT(t->field[i].level, t->field[i].shift, t->field[i].bits);
	}
	trace_record_array(small, t->nr_ranges);
	for (size_t i = 0; i < t->nr_ranges; i++) {
		trace_record_array(small, 2);
		PUT(t->range[i].start, t->range[i].end);
	}
	put_end();
}

static inline void put_mark(uint32_t pid, uint64_t time_ns, uint32_t action, const char *name, uint64_t instance)
{
	put_record(pid, time_ns, JITREG_MARK, F_COUNT(mark));
	PUT(action, 0, 0, instance, 0, 0);
	put_text(name);
	put_text("");
	PUT(0, 0, 0, 0);
	put_end();
}

/* With a handle, on a thread. */
static inline void put_mark_of(uint32_t pid, uint32_t tid, uint64_t time_ns, uint32_t action, const char *name, uint64_t mark,
			       uint64_t parent, uint32_t covers)
{
	trace_record_begin(small, TRACE_CHUNK_RECORDS, JITREG_MARK, time_ns, pid, tid, F_COUNT(mark));
	PUT(action, 0, 0, mark, 0, 0);
	put_text(name);
	put_text("");
	PUT(mark, parent, covers, 0);
	put_end();
}

/* One CIE and one FDE for [start, start + bytes): CFA = cfa (a register) + 8, rip at CFA - 8, all other registers as they were. */
static inline void put_eh_frame(uint32_t pid, uint64_t time_ns, uint64_t at, uint64_t start, uint64_t bytes, unsigned char cfa)
{
	static const unsigned char cie[] = { 16, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x80 | 16, 1, 0, 0 };
	unsigned char frames[sizeof(cie) + 24 + 4] = { 0 };
	const uint32_t fde[2] = { 20, sizeof(cie) + 4 };

	memcpy(frames, cie, sizeof(cie));
	frames[14] = cfa;
	memcpy(frames + sizeof(cie), fde, 8);
	memcpy(frames + sizeof(cie) + 8, &start, 8);
	memcpy(frames + sizeof(cie) + 16, &bytes, 8);
	put_record(pid, time_ns, JITREG_EH_FRAME, F_COUNT(eh_frame));
	PUT(at, 0);
	trace_record_bytes(small, frames, sizeof(frames));
	put_end();
}

static inline void put_kernel_functions(uint64_t start, uint64_t each, uint64_t nr)
{
	char name[32];

	put_record(0, 2, TRACE_KERNEL_FUNCTIONS, F_COUNT(kernel_functions));
	trace_record_array(small, nr);
	for (uint64_t i = 0; i < nr; i++) {
		snprintf(name, sizeof(name), "kernel_%d", (int)i);
		trace_record_array(small, 4);
		PUT(start + i * each, each);
		put_text(name);
		put_text(i % 3 ? "" : "module");
	}
	put_end();
}

/* ------------------------------------------------------------------------------------------------ whom samples are asked of */

struct small_world {
	struct attribution a;
	struct locator locator;
	struct sample_world world;
};

static inline void small_world_init(struct small_world *w, struct model *m)
{
	memset(w, 0, sizeof(*w));
	w->a.model = m;
	assert_int_equal(locator_init(&w->locator, &w->a), 0);
	assert_int_equal(stacks_init(&w->a.stacks), 0);
	w->world = (struct sample_world){ .model = m, .locator = &w->locator, .way = UNWIND_MEMO, .run_mark = "run" };
	assert_int_equal(unwinder_create(UNWIND_MEMO, &w->world.unwinder, NULL), 0);
}

static inline void small_world_fini(struct small_world *w)
{
	unwinder_destroy(w->world.unwinder);
	locator_fini(&w->locator);
	attribution_fini(&w->a);
}

#endif
