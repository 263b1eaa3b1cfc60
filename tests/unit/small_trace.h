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

#define PUT(record, pid, time_ns, ...) PUT_OF(record, pid, pid, time_ns, __VA_ARGS__)
#define PUT_OF(record, pid, tid, time_ns, ...) assert_int_equal(TRACE_PUT(small, record, time_ns, pid, tid, __VA_ARGS__), 0)

static inline void small_begin(void)
{
	struct diag d;

	snprintf(small_path, sizeof(small_path), "/tmp/test_small_trace.XXXXXX");
	close(mkstemp(small_path));
	assert_int_equal(trace_writer_open(small_path, true, &small, &d), 0);
	PUT(header, 0, 1, .version = TRACE_FORMAT_VERSION);
}

/* The file is gone as soon as it is open. */
static inline struct trace_reader *small_end(void)
{
	struct trace_reader *t;
	struct diag d;

	PUT(end, 0, 1);
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
	trace_select_chunks(t, ~0u);
	assert_int_equal(model_create(t, &m, &d), 0);
	return m;
}

/* ----------------------------------------------------------------------------------------------------------- records */

static inline void put_event(uint32_t number, const char *name)
{
	PUT(event, 0, 1, .event = number, .name = trace_string(name), .unit = trace_string("events"));
}

static inline void put_process(uint32_t pid, uint64_t time_ns, const char *comm)
{
	PUT(process, pid, time_ns, .ppid = 1, .executable = trace_string("/program"), .comm = trace_string(comm));
}

static inline void put_fork(uint32_t pid, uint64_t time_ns, uint32_t parent)
{
	PUT(fork, pid, time_ns, .ppid = parent, .ptid = parent);
}

static inline void put_exec(uint32_t pid, uint64_t time_ns, const char *comm)
{
	PUT(comm, pid, time_ns, .exec = 1, .comm = trace_string(comm));
}

static inline void put_mmap(uint32_t pid, uint64_t time_ns, uint64_t address, uint64_t bytes, const char *path)
{
	PUT(mmap, pid, time_ns, .address = address, .bytes = bytes, .prot = 5, .path = trace_string(path));
}

static inline void put_level(uint32_t pid, uint32_t id, const char *name)
{
	PUT(level, pid, 2, .level = id, .name = trace_string(name));
}

static inline void put_component_at(uint32_t pid, uint64_t time_ns, uint32_t level, uint64_t id, uint32_t flags, const char *name)
{
	PUT(component, pid, time_ns, .level = level, .component = id, .flags = flags, .name = trace_string(name));
}

static inline void put_component(uint32_t pid, uint32_t level, uint64_t id, uint32_t flags, const char *name)
{
	put_component_at(pid, 2, level, id, flags, name);
}

static inline void put_link_at(uint32_t pid, uint64_t time_ns, uint32_t lower_level, uint64_t lower, uint32_t upper_level, uint64_t upper,
			       uint32_t weight)
{
	PUT(link, pid, time_ns, .lower_level = lower_level, .lower = lower, .upper_level = upper_level, .upper = upper, .weight = weight);
}

static inline void put_link(uint32_t pid, uint32_t lower_level, uint64_t lower, uint32_t upper_level, uint64_t upper, uint32_t weight)
{
	put_link_at(pid, 2, lower_level, lower, upper_level, upper, weight);
}

static inline void put_unlink(uint32_t pid, uint64_t time_ns, uint32_t lower_level, uint64_t lower, uint32_t upper_level, uint64_t upper)
{
	PUT(unlink, pid, time_ns, .lower_level = lower_level, .lower = lower, .upper_level = upper_level, .upper = upper);
}

static inline void put_object(uint32_t pid, uint64_t time_ns, uint64_t address, uint64_t upper, uint32_t flags, size_t nr_functions,
			      const uint64_t *function, size_t nr_components, const uint64_t (*component)[2])
{
	PUT(object, pid, time_ns, .address = address, .upper = upper, .flags = flags,
	    .functions = { (const struct jitreg_function *)function, nr_functions },
	    .components = { (const struct jitreg_object_component *)component, nr_components });
}

static inline void put_object_end(uint32_t pid, uint64_t time_ns, uint64_t address)
{
	PUT(object_end, pid, time_ns, .address = address);
}

static inline void put_steps(uint32_t pid, uint64_t time_ns, uint64_t address, uint64_t first, uint32_t stride, uint32_t nr, uint32_t level,
			     uint64_t component)
{
	PUT(object_steps, pid, time_ns, .address = address, .first = first, .stride = stride, .nr_steps = nr, .level = level,
	    .component = component);
}

static inline void put_step_word(uint32_t pid, uint64_t time_ns, uint64_t function, uint32_t offset)
{
	PUT(step_word, pid, time_ns, .function = function, .offset = offset);
}

static inline void put_code_map(uint32_t pid, uint64_t time_ns, uint64_t address, size_t nr, const struct jitreg_code_map_entry *entry)
{
	PUT(code_map, pid, time_ns, .code_addr = address, .entries = { entry, nr });
}

static inline void put_load(uint32_t pid, uint64_t time_ns, uint64_t address, uint64_t bytes, const char *name)
{
	PUT(load, pid, time_ns, .pid = pid, .tid = pid, .vma = address, .code_addr = address, .code_size = bytes,
	    .name = trace_string(name));
}

static inline void put_unload(uint32_t pid, uint64_t time_ns, uint64_t address, uint64_t bytes)
{
	PUT(code_unload, pid, time_ns, .address = address, .bytes = bytes);
}

struct small_tag {
	uint32_t where;
	uint64_t mask, value;
	size_t nr_fields, nr_ranges;
	struct jitreg_tag_field field[3];
	struct jitreg_range range[8];
};

static inline void put_tag(uint32_t pid, uint64_t time_ns, const struct small_tag *t)
{
	PUT(tag, pid, time_ns, .where = t->where, .check_mask = t->mask, .check_value = t->value, .fields = { t->field, t->nr_fields },
	    .keepers = { t->range, t->nr_ranges });
}

static inline void put_mark(uint32_t pid, uint64_t time_ns, uint32_t action, const char *name, uint64_t instance)
{
	PUT(mark, pid, time_ns, .action = action, .instance = instance, .name = trace_string(name));
}

/* With a handle, on a thread. */
static inline void put_mark_of(uint32_t pid, uint32_t tid, uint64_t time_ns, uint32_t action, const char *name, uint64_t mark,
			       uint64_t parent, uint32_t covers)
{
	PUT_OF(mark, pid, tid, time_ns, .action = action, .instance = mark, .name = trace_string(name), .mark = mark, .parent = parent,
	       .covers = covers);
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
	PUT(eh_frame, pid, time_ns, .address = at, .frames = { frames, sizeof(frames) });
}

static inline void put_kernel_functions(uint64_t start, uint64_t each, uint64_t nr)
{
	struct trace_kernel_function *function = calloc(nr + 1, sizeof(*function));
	char (*name)[32] = calloc(nr + 1, sizeof(*name));

	for (uint64_t i = 0; i < nr; i++) {
		snprintf(name[i], sizeof(name[i]), "kernel_%d", (int)i);
		function[i] = (struct trace_kernel_function){ start + i * each, each, trace_string(name[i]),
							      trace_string(i % 3 ? "" : "module") };
	}
	PUT(kernel_functions, 0, 2, .functions = { function, nr });
	free(function);
	free(name);
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
