/* SPDX-License-Identifier: MIT */
/*
 * Reads generated code as JITs and the agent registered it: functions (LOAD, MOVE, CODE_UNLOAD), their lines, inlined functions and
 * components (DEBUG_INFO, INLINES, CODE_MAP), their unwind information (EH_FRAME, UNWINDING_INFO), and where in the trace their bytes are
 * (LOAD, CODE_BYTES), from where code_bytes_read() reads them.
 */
#include "analyzer/model/read.h"

#include "analyzer/unwind/eh_frame.h"
#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/base/sorted.h"

#include <stdlib.h>
#include <string.h>

#define PAGE_BYTES 4096u /* the recorder copies sampled pages, too, so only a larger copy shows that it copied whole regions */

struct code *model_add_code(struct model *m, enum code_kind kind, const struct process *p, uint64_t from_ns)
{
	struct code *c = calloc(1, sizeof(*c));

	if (!c || !ARRAY_GROW(m->codes)) {
		free(c);
		return NULL;
	}
	c->kind = kind;
	c->process = p->number;
	c->from_ns = from_ns;
	c->number = m->codes.nr;
	m->codes.at[m->codes.nr++] = c;
	return c;
}

/* ---------------------------------------------------------------------------------------------- inlined functions */

static int compare_inline_addresses(const void *a, const void *b)
{
	const struct code_inline *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	return x->depth < y->depth ? -1 : x->depth > y->depth;
}

struct code_inline *code_inlines_read(const struct trace_value *list, size_t *nr)
{
	struct code_inline *in = list->kind == TRACE_LIST ? calloc(list->u + 1, sizeof(*in)) : NULL;

	*nr = 0;
	for (uint64_t i = 0; in && i < list->u; i++) {
		struct trace_value text = trace_element(list, i, 3);
		const char *end = text.kind == TRACE_TEXT ? memchr(text.p, '\n', text.bytes) : NULL;
		size_t bytes = end ? (size_t)(end - (const char *)text.p) : text.kind == TRACE_TEXT ? text.bytes : 0;
		struct code_inline *new = &in[*nr];

		new->address = trace_element(list, i, 0).u;
		new->line = (uint32_t)trace_element(list, i, 1).u;
		new->depth = (uint32_t)trace_element(list, i, 2).u;
		new->function = strndup(bytes ? text.p : "", bytes);
		new->file = end ? strndup(end + 1, text.bytes - bytes - 1) : strdup("");
		++*nr;
		if (!new->function || !new->file)
			break;
	}
	if (in)
		qsort(in, *nr, sizeof(*in), compare_inline_addresses);
	return in;
}

void code_inlines_free(struct code_inline *inlines, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		free(inlines[i].function);
		free(inlines[i].file);
	}
	free(inlines);
}

size_t code_inlines_find(const struct code_inline *inlines, size_t nr, uint64_t address, struct elf_inline *out, size_t max)
{
	size_t up_to = SORTED_COUNT(nr, i, inlines[i].address <= address), first, found = 0;

	if (up_to == 0)
		return 0;
	for (first = up_to - 1; first > 0 && inlines[first - 1].address == inlines[up_to - 1].address; first--)
		;
	/* The innermost function comes first.  A function of depth 0 has the frame, and is not inlined. */
	for (size_t i = up_to; i > first + 1 && found < max; i--) {
		const struct code_inline *in = &inlines[i - 1];

		if (in->depth == 0 || !in->function || !*in->function)
			continue;
		out[found++] = (struct elf_inline){ in->function, in[-1].file ? in[-1].file : "", in->line, { in->file, 0 } };
	}
	return found;
}

/* ---------------------------------------------------------------------------------------- records before their LOAD */

/* This struct has the contents of DEBUG_INFO, INLINES, UNWINDING_INFO, and mostly CODE_MAP records, which come before the LOAD that they
 * belong to, and are moved to its code then. */
struct waiting {
	uint64_t address;
	const struct code_line *lines;
	size_t nr_lines;
	struct code_inline *inlines;
	size_t nr_inlines;
	struct code_entry *entries;
	size_t nr_entries;
	/* the contents of UNWINDING_INFO, or NULL; such a record has no address and belongs to the next LOAD of its thread, so address is
	 * ~tid instead; tid is 0 for records of a jitdump file */
	unsigned char *unwinding;
	size_t unwinding_bytes, header_bytes;
	struct process *process;
	uint64_t time_ns; /* time of the last of these records */
};

static struct waiting *find_info_waiting_for_load(const struct model *m, const struct process *p, uint64_t address)
{
	uint32_t i = hash_map_find(&m->codes.waiting_at, p->number, address);

	return i ? m->codes.waiting.at[i - 1] : NULL;
}

static struct waiting *get_info_waiting_for_load(struct model *m, struct process *p, uint64_t address)
{
	struct waiting *w = find_info_waiting_for_load(m, p, address);

	if (!w) {
		w = calloc(1, sizeof(*w));
		if (!w || !ARRAY_GROW(m->codes.waiting) ||
		    !hash_map_set(&m->codes.waiting_at, p->number, address, m->codes.waiting.nr + 1)) {
			free(w);
			return NULL;
		}
		m->codes.waiting.at[m->codes.waiting.nr++] = w;
		w->process = p;
		w->address = address;
	}
	w->time_ns = m->read_ns;
	return w;
}

static int compare_line_offsets(const void *a, const void *b)
{
	const struct code_line *x = a, *y = b;

	/* as signed numbers, since rows before the code come first */
	return (int64_t)x->offset < (int64_t)y->offset ? -1 : (int64_t)x->offset > (int64_t)y->offset;
}

/* Returns a file's name that the tables own, or "" if memory runs out. */
static const char *keep_file(struct code_line_tables *t, const char *file, size_t bytes)
{
	const uint64_t hash = hash_bytes(file, bytes);
	uint64_t collisions = 0;
	char *copy;
	uint32_t n;

	while ((n = hash_map_find(&t->by_file, hash, collisions)) &&
	       (strncmp(t->files.at[n - 1], file, bytes) != 0 || t->files.at[n - 1][bytes]))
		collisions++;
	if (n)
		return t->files.at[n - 1];
	copy = ARRAY_GROW(t->files) ? strndup(file, bytes) : NULL;
	if (!copy)
		return "";
	t->files.at[t->files.nr++] = copy;
	hash_map_set(&t->by_file, hash, collisions, t->files.nr);
	return copy;
}

static uint64_t hash_lines(const struct code_line *row, size_t nr)
{
	uint64_t hash = nr;

	for (size_t i = 0; i < nr; i++)
		hash = hash_pair(hash_pair(hash, row[i].offset), hash_pair(row[i].line, (uintptr_t)row[i].file));
	return hash;
}

static bool are_lines_equal(const struct code_line_table *t, const struct code_line *row, size_t nr)
{
	bool equal = t->nr == nr;

	for (size_t i = 0; equal && i < nr; i++)
		equal = t->row[i].offset == row[i].offset && t->row[i].line == row[i].line && t->row[i].file == row[i].file;
	return equal;
}

/* Returns the table that is equal to a row of lines on the heap, which is kept or freed.  Returns NULL if there are none. */
static const struct code_line *keep_lines(struct code_line_tables *t, struct code_line *row, size_t nr)
{
	const uint64_t hash = hash_lines(row, nr);
	uint64_t collisions = 0;
	uint32_t n;

	while (nr && (n = hash_map_find(&t->by_content, hash, collisions))) {
		if (are_lines_equal(&t->tables.at[n - 1], row, nr)) {
			free(row);
			return t->tables.at[n - 1].row;
		}
		collisions++;
	}
	if (!nr || !ARRAY_GROW(t->tables)) {
		free(row);
		return NULL;
	}
	t->tables.at[t->tables.nr++] = (struct code_line_table){ row, nr };
	hash_map_set(&t->by_content, hash, collisions, t->tables.nr);
	return row;
}

static void line_tables_fini(struct code_line_tables *t)
{
	for (uint32_t i = 0; i < t->tables.nr; i++)
		free(t->tables.at[i].row);
	for (uint32_t i = 0; i < t->files.nr; i++)
		free(t->files.at[i]);
	free(t->tables.at);
	free(t->files.at);
	hash_map_fini(&t->by_content);
	hash_map_fini(&t->by_file);
}

void model_read_debug_info(struct model *m, struct process *p, const struct trace_record *r)
{
	const struct trace_value *v = F(debug_info, entries) < r->nr_values ? &r->values[F(debug_info, entries)] : NULL;
	const uint64_t address = trace_u64(r, F(debug_info, code_addr));
	struct waiting *w = get_info_waiting_for_load(m, p, address);
	struct code_line *row;
	size_t nr;

	if (!w || !v || v->kind != TRACE_LIST)
		return;
	row = calloc(v->u + 1, sizeof(*row));
	nr = row ? v->u : 0;
	for (size_t i = 0; i < nr; i++) {
		struct trace_value file = trace_element(v, i, 3);

		row[i].offset = trace_element(v, i, 0).u - address;
		row[i].line = (uint32_t)trace_element(v, i, 1).u;
		row[i].file = file.kind == TRACE_TEXT ? keep_file(&m->codes.line_tables, file.p, file.bytes) : "";
	}
	if (nr)
		qsort(row, nr, sizeof(*row), compare_line_offsets);
	w->lines = keep_lines(&m->codes.line_tables, row, nr);
	w->nr_lines = w->lines ? nr : 0;
}

/* Lets the first row begin where the code does: V8 gives lines only for code after a function's prologue. */
static void extend_first_line(struct model *m, struct code *c)
{
	struct code_line *row;

	if (!c->nr_lines || !c->lines[0].offset || c->lines[0].offset >= c->bytes)
		return;
	row = malloc(c->nr_lines * sizeof(*row));
	if (!row)
		return;
	memcpy(row, c->lines, c->nr_lines * sizeof(*row));
	row[0].offset = 0;
	c->lines = keep_lines(&m->codes.line_tables, row, c->nr_lines);
	c->nr_lines = c->lines ? c->nr_lines : 0;
}

void model_read_inlines(struct model *m, struct process *p, const struct trace_record *r)
{
	const struct trace_value *v = F(inlines, entries) < r->nr_values ? &r->values[F(inlines, entries)] : NULL;
	struct waiting *w = v ? get_info_waiting_for_load(m, p, trace_u64(r, F(inlines, code_addr))) : NULL;

	if (!w)
		return;
	code_inlines_free(w->inlines, w->nr_inlines);
	w->inlines = code_inlines_read(v, &w->nr_inlines);
}

static int compare_entry_offsets(const void *a, const void *b)
{
	const struct code_entry *x = a, *y = b;

	return x->offset < y->offset ? -1 : x->offset > y->offset;
}

void model_read_code_map(struct model *m, struct process *p, const struct trace_record *r)
{
	const struct trace_value *v = F(code_map, entries) < r->nr_values ? &r->values[F(code_map, entries)] : NULL;
	uint64_t address = trace_u64(r, F(code_map, code_addr));
	const struct code_fact *loaded = code_map_starting_at(&p->code, address);
	struct code_entry *entries;

	if (!v || v->kind != TRACE_LIST)
		return;
	entries = calloc(v->u + 1, sizeof(*entries));
	for (uint64_t i = 0; entries && i < v->u; i++) {
		uint32_t level = dictionary_get_level(&m->dictionary, (uint32_t)trace_element(v, i, 1).u);
		uint64_t id = trace_element(v, i, 2).u;

		entries[i].offset = trace_element(v, i, 0).u;
		entries[i].component = id && level < LEVELS_MAX ? dictionary_get_component(&m->dictionary, p->number, level, id) : 0;
	}
	for (uint64_t i = 1; entries && i < v->u; i++)
		if (entries[i].offset < entries[i - 1].offset) { /* hosts are to sort them by offset, and some do not */
			model_fault(m, FAULT_CODE_MAP_UNSORTED, p, address, 0, 0, NULL);
			qsort(entries, v->u, sizeof(*entries), compare_entry_offsets);
			break;
		}
	if (loaded && ((struct code *)loaded->owner)->kind == CODE_LOAD) {
		struct code *c = loaded->owner;

		free(c->entries);
		c->entries = entries;
		c->nr_entries = entries ? v->u : 0;
	} else {
		struct waiting *w = get_info_waiting_for_load(m, p, address);

		if (!w) {
			free(entries);
			return;
		}
		free(w->entries);
		w->entries = entries;
		w->nr_entries = entries ? v->u : 0;
	}
}

void model_read_unwinding_info(struct model *m, struct process *p, const struct trace_record *r)
{
	struct waiting *w = get_info_waiting_for_load(m, p, ~(uint64_t)r->tid);
	size_t nr;
	const char *bytes = trace_bytes(r, F(unwinding_info, unwinding_data), &nr);

	if (!w)
		return;
	free(w->unwinding);
	w->header_bytes = trace_u64(r, F(unwinding_info, eh_frame_hdr_size));
	w->unwinding = malloc(nr + 1);
	w->unwinding_bytes = w->unwinding ? nr : 0;
	if (w->unwinding)
		memcpy(w->unwinding, bytes, nr);
	p->has_unwinding = true;
}

/* longest time between a code map and its LOAD; a recording that ended sooner may have interrupted the host */
#define WAITED_NS 100000000u

/*
 * Reports a fault of records whose LOAD never came, although the process had a later LOAD. If it had none, the recording may have ended
 * before, so the records at an address are a fault only if a code map is among them, and if they had been there for WAITED_NS.
 */
static void check_info_without_load(struct model *m, const struct waiting *w)
{
	uint64_t end_ns = w->process->to_ns < m->end_ns ? w->process->to_ns : m->end_ns;

	if (w->time_ns >= w->process->loaded_ns && (!w->nr_entries || end_ns < w->time_ns + WAITED_NS))
		return;
	if (w->nr_entries)
		model_fault(m, FAULT_CODE_MAP_UNKNOWN, w->process, w->address, 0, 0, NULL);
	if (w->nr_lines || w->nr_inlines)
		model_fault(m, FAULT_LINES_UNKNOWN, w->process, w->address, 0, 0, NULL);
}

void model_free_waiting(struct model *m)
{
	for (uint32_t i = m->codes.waiting.nr; i > 0; i--) { /* the fault of the last one becomes the example */
		struct waiting *w = m->codes.waiting.at[i - 1];

		check_info_without_load(m, w);
		code_inlines_free(w->inlines, w->nr_inlines);
		free(w->entries);
		free(w->unwinding);
		free(w);
	}
	free(m->codes.waiting.at);
	m->codes.waiting.at = NULL;
	m->codes.waiting.nr = m->codes.waiting.capacity = 0;
	hash_map_fini(&m->codes.waiting_at);
}

/* ---------------------------------------------------------------------------------------------- unwind information */

struct frame_ranges {
	struct process *process;
	struct frames *frames;
	uint64_t from_ns;
	uint32_t nr;
};

static bool add_frame_range(void *context, const struct eh_frame_fde *f)
{
	struct frame_ranges *c = context;

	if (f->bytes <= UINT64_MAX - f->start)
		code_map_add(&c->process->frames, f->start, f->start + f->bytes, c->from_ns, c->frames);
	c->nr++;
	return true;
}

uint32_t model_add_frames(struct model *m, struct process *p, uint64_t address, const void *bytes, size_t nr, uint64_t from_ns)
{
	struct frames *f = calloc(1, sizeof(*f)), **slot = f ? ARRAY_ADD(m->eh_frames) : NULL;
	struct frame_ranges ranges = { p, f, from_ns, 0 };

	if (!slot) {
		free(f);
		return 0;
	}
	*slot = f;
	f->number = m->eh_frames.nr;
	f->address = address;
	f->bytes = malloc(nr + 1);
	if (!f->bytes)
		return 0;
	memcpy(f->bytes, bytes, nr);
	f->nr = nr;
	eh_frame_each(f->bytes, f->nr, f->address, add_frame_range, &ranges);
	return ranges.nr;
}

void model_read_eh_frame(struct model *m, struct process *p, const struct trace_record *r)
{
	size_t nr;
	const char *bytes = trace_bytes(r, F(eh_frame, frames), &nr);

	model_add_frames(m, p, trace_u64(r, F(eh_frame, address)), bytes, nr, r->time_ns);
}

/* ----------------------------------------------------------------------------------------------------------- functions */

/* Adds the unwind information of a LOAD.  Its addresses are relative to the place where perf puts it, behind the code
 * (linux/tools/perf/util/jitdump.c, genelf.c). */
static void add_load_unwinding(struct model *m, struct process *p, const struct waiting *w, uint64_t code_end, uint64_t from_ns)
{
	uint64_t at = (code_end + 7) & ~7ull;

	if (w->header_bytes > w->unwinding_bytes)
		return;
	/* perf reads, and V8 writes, .eh_frame first.  The specification says that its header is first. */
	if (!model_add_frames(m, p, at, w->unwinding, w->unwinding_bytes - w->header_bytes, from_ns))
		model_add_frames(m, p, at + w->header_bytes, w->unwinding + w->header_bytes, w->unwinding_bytes - w->header_bytes, from_ns);
}

/*
 * Names code of Truffle by its function.  Truffle compiles functions of its languages (GraalJS, GraalPy) as a method of its own, always
 * the same one.  HotSpot's perf map has the function's name behind the method's, and the number that Truffle gave it: "METHOD
 * jvmci_name=fib#2".  If the recorder reads the same code from the JVM's memory later, it finds the method's name alone, so the code
 * keeps the name that it has from the perf map.
 */
static void name_by_truffle(struct code *c, const struct code_fact *before)
{
	static const char behind[] = " jvmci_name=";
	const struct code *known = before ? before->owner : NULL;
	char *at = c->name ? strstr(c->name, behind) : NULL, *name = NULL;

	if (at && at[sizeof(behind) - 1] && at[sizeof(behind) - 1] != '#')
		name = strndup(at + sizeof(behind) - 1, strcspn(at + sizeof(behind) - 1, "#"));
	else if (known && known->is_truffles && known->bytes == c->bytes && c->name && strstr(c->name, "OptimizedCallTarget."))
		name = strdup(known->name);
	if (!name)
		return;
	free(c->name);
	c->name = name;
	c->is_truffles = true;
}

#define PROGRAM_MIN 65536u /* numbers below are no addresses: the JITs that write jitdumps count their functions */

/* The agent numbers CPython's trampolines by the address of the bytecodes that they are for (jitreg/README.md, LOAD). */
static void note_program(struct process *p, struct code *c, uint64_t number)
{
	if (number < PROGRAM_MIN)
		return;
	c->program = number;
	p->runs_programs.from = p->runs_programs.to && p->runs_programs.from < c->address ? p->runs_programs.from : c->address;
	p->runs_programs.to = p->runs_programs.to > c->address + c->bytes ? p->runs_programs.to : c->address + c->bytes;
}

void model_read_load(struct model *m, struct process *p, const struct trace_record *r)
{
	uint64_t address = trace_u64(r, F(load, code_addr)), bytes = trace_u64(r, F(load, code_size)), from_ns;
	struct waiting *w, *by_tid[2];
	struct code *c;
	size_t nr_code;

	p->nr_uses++;
	if (bytes == 0 || bytes > UINT64_MAX - address) {
		char *name = trace_text(r, F(load, name));

		w = find_info_waiting_for_load(m, p, address);
		if (w) /* a LOAD came, so its code map is no fault of its own */
			w->nr_entries = 0;
		model_fault(m, FAULT_LOAD_EMPTY, p, address, bytes, 0, name);
		free(name);
		return;
	}
	p->loaded_ns = m->read_ns > p->loaded_ns ? m->read_ns : p->loaded_ns;
	c = model_add_code(m, CODE_LOAD, p, r->time_ns == JITREG_TIME_BEFORE ? 0 : r->time_ns);
	if (!c)
		return;
	c->address = address;
	c->bytes = bytes;
	trace_bytes(r, F(load, code), &nr_code);
	c->has_bytes = nr_code >= bytes;
	c->bytes_at = m->place;
	c->name = trace_text(r, F(load, name));
	name_by_truffle(c, code_map_starting_at(&p->code, address));
	note_program(p, c, trace_u64(r, F(load, code_index)));
	code_name_no_file(c);
	w = find_info_waiting_for_load(m, p, address);
	if (w) {
		c->lines = w->lines;
		c->nr_lines = w->nr_lines;
		extend_first_line(m, c);
		c->inlines = w->inlines;
		c->nr_inlines = w->nr_inlines;
		c->entries = w->entries;
		c->nr_entries = w->nr_entries;
		free(w->unwinding);
		/* free again for records of the next LOAD there */
		*w = (struct waiting){ .process = p, .address = address, .time_ns = w->time_ns };
	}
	from_ns = r->time_ns == JITREG_TIME_BEFORE ? 0 : r->time_ns;
	code_map_add(&p->code, address, address + bytes, from_ns, c);
	if (!p->has_unwinding)
		return;
	code_map_add(&p->frames, address, address + bytes, from_ns, NULL); /* ends the unwind information that earlier code had here */
	by_tid[0] = find_info_waiting_for_load(m, p, ~(uint64_t)r->tid);
	by_tid[1] = r->tid ? find_info_waiting_for_load(m, p, ~0ull) : NULL;
	for (int i = 0; i < 2; i++)
		if (by_tid[i] && by_tid[i]->unwinding) {
			add_load_unwinding(m, p, by_tid[i], address + bytes, from_ns);
			free(by_tid[i]->unwinding);
			by_tid[i]->unwinding = NULL;
		}
}

void model_read_move(struct model *m, struct process *p, const struct trace_record *r)
{
	uint64_t from = trace_u64(r, F(move, old_code_addr)), to = trace_u64(r, F(move, new_code_addr));
	uint64_t bytes = trace_u64(r, F(move, code_size));
	const struct code_fact *f = code_map_starting_at(&p->code, from);
	struct code *c = f ? f->owner : NULL;

	if (!c)
		model_fault(m, FAULT_MOVE_UNKNOWN, p, from, to, 0, NULL);
	if (!c || bytes > UINT64_MAX - to || bytes > UINT64_MAX - from)
		return;
	code_map_add(&p->code, to, to + bytes, r->time_ns, c);
	code_map_add(&p->code, from, from + bytes, r->time_ns, NULL);
}

void model_read_code_unload(struct model *m, struct process *p, const struct trace_record *r)
{
	uint64_t start = trace_u64(r, F(code_unload, address)), bytes = trace_u64(r, F(code_unload, bytes));
	const struct code_fact *f = code_map_starting_at(&p->code, start);

	if (f && !bytes)
		bytes = f->end - f->start;
	if (bytes > UINT64_MAX - start)
		return;
	if (!f && ARRAY_GROW(m->codes.odd_unloads))
		m->codes.odd_unloads.at[m->codes.odd_unloads.nr++] =
			(struct code_fact){ start, start + (bytes ? bytes : 1), r->time_ns, p };
	code_map_add(&p->code, start, start + bytes, r->time_ns, NULL);
	code_map_add(&p->guest_regions, start, start + bytes, r->time_ns, NULL);
	code_map_add(&p->regions, start, start + bytes, r->time_ns, NULL);
}

void model_read_interpreter(struct model *m, struct process *p, const struct trace_record *r)
{
	(void)m;
	p->interpreter.address = trace_u64(r, F(interpreter, address));
	p->interpreter.bytes = trace_u64(r, F(interpreter, bytes));
	p->interpreter.place = (int64_t)trace_u64(r, F(interpreter, place));
	p->interpreter.function = (int64_t)trace_u64(r, F(interpreter, function));
}

/* --------------------------------------------------------------------------------------------------------------- bytes */

void model_read_code_bytes(struct model *m, struct process *p, const struct trace_record *r)
{
	struct code_copy *c;
	const char *bytes;
	size_t nr;

	bytes = trace_bytes(r, F(code_bytes, code), &nr);
	if (!ARRAY_GROW(m->codes.copies))
		return;
	c = &m->codes.copies.at[m->codes.copies.nr++];
	*c = (struct code_copy){ r->pid, trace_u64(r, F(code_bytes, address)), trace_u64(r, F(code_bytes, loaded_ns)),
				 nr, r->time_ns, m->place, p, NULL };
	if ((c->loaded_ns != TRACE_NOT_LOADED && nr > CODE_SMALL_BYTES) || !nr)
		return;
	c->region = malloc(sizeof(*c->region) + nr);
	if (!c->region)
		return;
	c->region->number = m->codes.copies.nr;
	c->region->nr = nr;
	memcpy(c->region->bytes, bytes, nr);
}

void model_settle_code_bytes(struct model *m)
{
	struct hash_map by_place = { 0 }; /* (address, from_ns) -> 1 + index of the latest LOAD's code */

	for (uint32_t i = 0; m->codes.copies.nr && i < m->codes.nr; i++)
		if (m->codes.at[i]->kind == CODE_LOAD)
			hash_map_set(&by_place, m->codes.at[i]->address, m->codes.at[i]->from_ns, i + 1);
	for (uint32_t n = 0; by_place.nr && n < m->codes.copies.nr; n++) {
		const struct code_copy *copy = &m->codes.copies.at[n];
		uint32_t i = copy->loaded_ns == TRACE_NOT_LOADED ? 0 :
			hash_map_find(&by_place, copy->address, copy->loaded_ns == JITREG_TIME_BEFORE ? 0 : copy->loaded_ns);
		struct code *c = i ? m->codes.at[i - 1] : NULL;

		if (!c || c->has_bytes || copy->bytes < c->bytes || m->numbered.at[c->process]->pid != copy->pid)
			continue;
		c->has_bytes = true;
		c->bytes_at = copy->place;
		c->bytes_read_ns = copy->read_ns;
		c->region = copy->region;
	}
	hash_map_fini(&by_place);
}

void model_settle_regions(struct model *m)
{
	for (uint32_t n = 0; n < m->codes.copies.nr; n++) {
		const struct code_copy *copy = &m->codes.copies.at[n];
		struct code *c = copy->region && copy->process && copy->loaded_ns == TRACE_NOT_LOADED ?
			code_map_find(&copy->process->regions, copy->address, copy->read_ns) : NULL;

		if (c && c->kind == CODE_REGION && c->address == copy->address && c->bytes == copy->region->nr && !c->region) {
			c->region = copy->region;
			copy->process->regions_were_read |= c->bytes > PAGE_BYTES;
		}
	}
}

void codes_fini(struct codes *codes)
{
	for (uint32_t i = 0; i < codes->nr; i++) {
		struct code *c = codes->at[i];

		elf_object_destroy(c->elf);
		code_inlines_free(c->inlines, c->nr_inlines);
		free(c->entries);
		free(c->name);
		free(c->mapper);
		if (c->kind != CODE_LOAD) {
			free(c->path);
			free(c->build_id);
		}
		free(c);
	}
	line_tables_fini(&codes->line_tables);
	free(codes->at);
	for (uint32_t i = 0; i < codes->copies.nr; i++)
		free(codes->copies.at[i].region);
	free(codes->copies.at);
	free(codes->odd_unloads.at);
}

void eh_frames_fini(struct model *m)
{
	for (uint32_t i = 0; i < m->eh_frames.nr; i++) {
		free(m->eh_frames.at[i]->bytes);
		free(m->eh_frames.at[i]);
	}
	free(m->eh_frames.at);
}
