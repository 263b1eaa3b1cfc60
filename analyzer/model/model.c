/* SPDX-License-Identifier: MIT */
/*
 * Records come in the order in which the recorder drained them, which is not the order of time across processors: process
 * lifetimes are therefore read in a first pass (processes.c), everything else in a second, and what depends on time carries it.
 */
#include "analyzer/model/model.h"

#include "analyzer/model/counts.h"
#include "analyzer/model/memory.h"
#include "analyzer/model/processes.h"
#include "analyzer/unwind/eh_frame.h"
#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Arrays that stay short grow by one. */
#define APPEND(array, nr) append((void **)&(array), &(nr), sizeof(*(array)))
static void *append(void **array, uint32_t *nr, size_t each)
{
	void *bigger = realloc(*array, (*nr + 1) * each);

	if (!bigger)
		return NULL;
	*array = bigger;
	memset((char *)bigger + *nr * each, 0, each);
	return (char *)bigger + (*nr)++ * each;
}

static bool is_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "") == 0;
}

static void set_text(char **to, char *text)
{
	free(*to);
	*to = text;
}

/* --------------------------------------------------------------------------------------------------------------- code */

static struct code *add_code(struct model *m, enum code_kind kind, const struct process *p, uint64_t from_ns)
{
	struct code *c = calloc(1, sizeof(*c));

	if (!c || !GROW(m->code, m->nr_code, m->code_capacity)) {
		free(c);
		return NULL;
	}
	c->kind = kind;
	c->process = p->number;
	c->from_ns = from_ns;
	c->number = m->nr_code;
	m->code[m->nr_code++] = c;
	return c;
}

static char *hex(const char *bytes, size_t nr)
{
	char *text = malloc(2 * nr + 1);

	for (size_t i = 0; text && i < nr; i++)
		snprintf(text + 2 * i, 3, "%02x", (unsigned char)bytes[i]);
	if (text)
		text[2 * nr] = 0;
	return text;
}

static char *text_of(const struct trace_record *r, int index)
{
	return trace_text(r, index);
}

static char *hex_of(const struct trace_record *r, int index)
{
	size_t nr;
	const char *p = trace_bytes(r, index, &nr);

	return hex(p, nr);
}

/* Executable memory without a file.  name is taken over. */
static void add_region(struct model *m, const struct process *p, struct code_map *regions, uint64_t start, uint64_t bytes,
		       uint64_t time_ns, char *name)
{
	struct code *c = bytes <= UINT64_MAX - start ? add_code(m, CODE_REGION, p, time_ns) : NULL;

	if (!c) {
		free(name);
		return;
	}
	c->address = start;
	c->bytes = bytes;
	c->name = name;
	c->path = strdup("(generated)");
	c->build_id = strdup("");
	code_map_add(regions, start, start + bytes, time_ns, c);
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void read_region(struct model *m, struct process *p, const struct trace_record *r)
{
	char *mapper = text_of(r, F(region, mapper)), *name = NULL;

	if (mapper && *mapper &&
	    asprintf(&name, "anonymous code, mapped by %s+0x%llx", base_name(mapper),
		     (unsigned long long)trace_u64(r, F(region, mapper_offset))) < 0)
		name = NULL;
	free(mapper);
	add_region(m, p, &p->told_regions, trace_u64(r, F(region, address)), trace_u64(r, F(region, bytes)), r->time_ns,
		   name ? name : strdup("anonymous code"));
}

static void read_mmap(struct model *m, struct process *p, const struct trace_record *r)
{
	uint64_t start = trace_u64(r, F(mmap, address)), bytes = trace_u64(r, F(mmap, bytes));
	char *path = text_of(r, F(mmap, path));
	struct code *c;

	/* anonymous memory says nothing of what is in it, and must not hide what a JIT said */
	if (!path || (path[0] != '/' && strcmp(path, "[vdso]") != 0) || strncmp(path, "//anon", 6) == 0 ||
	    strncmp(path, "/memfd:", 7) == 0 || strncmp(path, "/dev/zero", 9) == 0 || bytes > UINT64_MAX - start) {
		free(path);
		add_region(m, p, &p->regions, start, bytes, r->time_ns, strdup("anonymous code"));
		return;
	}
	c = add_code(m, CODE_IMAGE, p, r->time_ns);
	if (!c) {
		free(path);
		return;
	}
	c->path = path;
	c->build_id = hex_of(r, F(mmap, build_id));
	c->map_start = c->address = start;
	c->bytes = bytes;
	c->map_offset = trace_u64(r, F(mmap, file_offset));
	if (!*p->executable)
		set_text(&p->executable, strdup(path));
	code_map_add(&p->code, start, start + bytes, r->time_ns, c);
}

static void read_memory_elf(struct model *m, struct process *p, const struct trace_record *r)
{
	struct elf_section text;
	struct elf_object *elf;
	struct code *c;
	size_t nr;
	const char *bytes = trace_bytes(r, F(image, bytes), &nr);

	if (elf_object_open_memory(bytes, nr, &elf, NULL)) {
		m->bad_records++;
		return;
	}
	c = add_code(m, CODE_ELF, p, r->time_ns);
	if (!c) {
		elf_object_destroy(elf);
		return;
	}
	c->elf = elf;
	c->path = strdup("(generated)");
	c->build_id = strdup("");
	for (size_t i = 0; elf_get_text(elf, i, &text); i++)
		if (text.address && text.bytes <= UINT64_MAX - text.address)
			code_map_add(&p->code, text.address, text.address + text.bytes, r->time_ns, c);
}

/* NULL without memory. */
static struct image_file *add_file(struct model *m)
{
	struct image_file *f = calloc(1, sizeof(*f)), **slot = f ? APPEND(m->file, m->nr_files) : NULL;

	if (!slot) {
		free(f);
		return NULL;
	}
	*slot = f;
	f->number = m->nr_files - 1;
	return f;
}

/* A library whose file may be gone by now. */
static void read_bytes_of_image(struct model *m, const struct trace_record *r, const char *bytes, size_t nr)
{
	struct image_file *f = add_file(m);
	struct elf_object *elf;

	if (!f)
		return;
	f->key = hex_of(r, F(image, build_id));
	f->path = text_of(r, F(image, path));
	f->reason = strdup("");
	if (f->key && f->path && !*f->key)
		set_text(&f->key, strdup(f->path));
	if (elf_object_create(nr, &elf, NULL))
		return;
	if (elf_object_add_part(elf, 0, bytes, nr) || elf_object_open(elf, NULL))
		elf_object_destroy(elf);
	else
		f->elf = elf;
}

static void read_image(struct model *m, struct process *p, const struct trace_record *r)
{
	const struct trace_value *segments = F(image, segments) < r->nr_values ? &r->values[F(image, segments)] : NULL;
	uint64_t flags = trace_u64(r, F(image, flags));
	const char *bytes_of_file;
	size_t nr_bytes;

	if (flags & JITREG_IMAGE_MEMORY_ELF) {
		read_memory_elf(m, p, r);
		return;
	}
	bytes_of_file = trace_bytes(r, F(image, bytes), &nr_bytes);
	if (nr_bytes)
		read_bytes_of_image(m, r, bytes_of_file, nr_bytes);
	for (uint64_t i = 0; segments && segments->kind == TRACE_LIST && i < segments->u; i++) {
		uint64_t start = trace_element(segments, i, 0).u, bytes = trace_element(segments, i, 1).u;
		struct code *c;

		if (!(trace_element(segments, i, 3).u & 4) || bytes > UINT64_MAX - start)
			continue;
		c = add_code(m, CODE_IMAGE, p, r->time_ns);
		if (!c)
			return;
		c->path = flags & JITREG_IMAGE_VDSO ? strdup("[vdso]") : text_of(r, F(image, path));
		c->build_id = hex_of(r, F(image, build_id));
		c->bias = trace_u64(r, F(image, load_bias));
		c->bias_known = true;
		c->generated = nr_bytes > 0;
		c->map_start = c->address = start;
		c->bytes = bytes;
		c->map_offset = trace_element(segments, i, 2).u;
		code_map_add(&p->code, start, start + bytes, r->time_ns, c);
	}
}

static void read_image_unload(struct model *m, struct process *p, const struct trace_record *r)
{
	uint64_t bias = trace_u64(r, F(image_unload, load_bias));

	(void)m;
	for (size_t i = 0, nr = p->code.nr_facts; i < nr; i++) {
		const struct code_fact f = p->code.facts[i];
		const struct code *c = f.owner;

		if (c && c->kind == CODE_IMAGE && c->bias_known && c->bias == bias && f.from_ns <= r->time_ns)
			code_map_add(&p->code, f.start, f.end, r->time_ns, NULL);
	}
}

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

/* How many ranges of code the bytes describe. */
static uint32_t add_frames(struct model *m, struct process *p, uint64_t address, const void *bytes, size_t nr, uint64_t from_ns)
{
	struct frames *f = calloc(1, sizeof(*f)), **slot = f ? APPEND(m->frames, m->nr_frames) : NULL;
	struct frame_ranges ranges = { p, f, from_ns, 0 };

	if (!slot) {
		free(f);
		return 0;
	}
	*slot = f;
	f->number = m->nr_frames;
	f->address = address;
	f->bytes = malloc(nr + 1);
	if (!f->bytes)
		return 0;
	memcpy(f->bytes, bytes, nr);
	f->nr = nr;
	eh_frame_each(f->bytes, f->nr, f->address, add_frame_range, &ranges);
	return ranges.nr;
}

static void read_eh_frame(struct model *m, struct process *p, const struct trace_record *r)
{
	size_t nr;
	const char *bytes = trace_bytes(r, F(eh_frame, frames), &nr);

	add_frames(m, p, trace_u64(r, F(eh_frame, address)), bytes, nr, r->time_ns);
}

/* DEBUG_INFO, INLINES and CODE_MAP come before the LOAD that they belong to; they wait here. */
struct waiting {
	uint64_t address;
	struct code_line *lines;
	size_t nr_lines;
	struct code_inline *inlines;
	size_t nr_inlines;
	struct code_entry *entries;
	size_t nr_entries;
	unsigned char *unwinding; /* UNWINDING_INFO of a thread's next LOAD, address is ~tid then; tid 0: of a file's next */
	size_t unwinding_bytes, header_bytes;
	struct process *process;
	struct waiting *next;
};

static struct waiting *get_waiting(struct waiting **list, struct process *p, uint64_t address)
{
	struct waiting *w;

	for (w = *list; w; w = w->next)
		if (w->process == p && w->address == address)
			return w;
	w = calloc(1, sizeof(*w));
	if (w) {
		w->process = p;
		w->address = address;
		w->next = *list;
		*list = w;
	}
	return w;
}

static void free_lines(struct code_line *lines, size_t nr)
{
	for (size_t i = 0; i < nr; i++)
		free(lines[i].file);
	free(lines);
}

static int line_by_address(const void *a, const void *b)
{
	const struct code_line *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static void read_debug_info(struct waiting **list, struct process *p, const struct trace_record *r)
{
	const struct trace_value *v = F(debug_info, entries) < r->nr_values ? &r->values[F(debug_info, entries)] : NULL;
	struct waiting *w = get_waiting(list, p, trace_u64(r, F(debug_info, code_addr)));

	if (!w || !v || v->kind != TRACE_LIST)
		return;
	free_lines(w->lines, w->nr_lines);
	w->lines = calloc(v->u + 1, sizeof(*w->lines));
	w->nr_lines = w->lines ? v->u : 0;
	for (size_t i = 0; i < w->nr_lines; i++) {
		struct trace_value file = trace_element(v, i, 3);

		w->lines[i].address = trace_element(v, i, 0).u;
		w->lines[i].line = (uint32_t)trace_element(v, i, 1).u;
		w->lines[i].file = file.kind == TRACE_TEXT ? strndup(file.p, file.bytes) : strdup("");
	}
	if (w->nr_lines)
		qsort(w->lines, w->nr_lines, sizeof(*w->lines), line_by_address);
}

static void read_inlines(struct waiting **list, struct process *p, const struct trace_record *r)
{
	const struct trace_value *v = F(inlines, entries) < r->nr_values ? &r->values[F(inlines, entries)] : NULL;
	struct waiting *w = v ? get_waiting(list, p, trace_u64(r, F(inlines, code_addr))) : NULL;

	if (!w)
		return;
	code_inlines_free(w->inlines, w->nr_inlines);
	w->inlines = code_inlines_read(v, &w->nr_inlines);
}

static void read_code_map(struct model *m, struct waiting **list, struct process *p, const struct trace_record *r)
{
	const struct trace_value *v = F(code_map, entries) < r->nr_values ? &r->values[F(code_map, entries)] : NULL;
	uint64_t address = trace_u64(r, F(code_map, code_addr));
	const struct code_fact *loaded = code_map_starting_at(&p->code, address);
	struct code_entry *entries;

	if (!v || v->kind != TRACE_LIST)
		return;
	entries = calloc(v->u + 1, sizeof(*entries));
	for (uint64_t i = 0; entries && i < v->u; i++) {
		uint32_t level = dictionary_level(&m->dictionary, (uint32_t)trace_element(v, i, 1).u);
		uint64_t id = trace_element(v, i, 2).u;

		entries[i].offset = trace_element(v, i, 0).u;
		entries[i].component = id && level < LEVELS_MAX ? dictionary_get(&m->dictionary, p->number, level, id) : 0;
	}
	if (loaded && ((struct code *)loaded->owner)->kind == CODE_LOAD) {
		struct code *c = loaded->owner;

		free(c->entries);
		c->entries = entries;
		c->nr_entries = entries ? v->u : 0;
	} else {
		struct waiting *w = get_waiting(list, p, address);

		if (!w) {
			free(entries);
			return;
		}
		free(w->entries);
		w->entries = entries;
		w->nr_entries = entries ? v->u : 0;
	}
}

static void read_unwinding_info(struct waiting **list, struct process *p, const struct trace_record *r)
{
	struct waiting *w = get_waiting(list, p, ~(uint64_t)r->tid);
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

/* Its addresses count from where perf puts it, behind the code (linux/tools/perf/util/jitdump.c, genelf.c). */
static void add_unwinding(struct model *m, struct process *p, const struct waiting *w, uint64_t code_end, uint64_t from_ns)
{
	uint64_t at = (code_end + 7) & ~7ull;

	if (w->header_bytes > w->unwinding_bytes)
		return;
	/* .eh_frame first is what perf reads and V8 writes, its header first is what the specification says */
	if (!add_frames(m, p, at, w->unwinding, w->unwinding_bytes - w->header_bytes, from_ns))
		add_frames(m, p, at + w->header_bytes, w->unwinding + w->header_bytes, w->unwinding_bytes - w->header_bytes, from_ns);
}

static void read_load(struct model *m, struct waiting **list, struct process *p, const struct trace_record *r)
{
	uint64_t address = trace_u64(r, F(load, code_addr)), bytes = trace_u64(r, F(load, code_size)), from_ns;
	struct waiting *w;
	struct code *c;

	if (bytes == 0 || bytes > UINT64_MAX - address)
		return;
	c = add_code(m, CODE_LOAD, p, r->time_ns == JITREG_TIME_BEFORE ? 0 : r->time_ns);
	if (!c)
		return;
	c->address = address;
	c->bytes = bytes;
	c->name = text_of(r, F(load, name));
	c->path = strdup("(generated)");
	c->build_id = strdup("");
	for (struct waiting **at = list; *at; at = &(*at)->next)
		if ((*at)->process == p && (*at)->address == address) {
			w = *at;
			c->lines = w->lines;
			c->nr_lines = w->nr_lines;
			if (c->nr_lines && c->lines[0].address > address && c->lines[0].address - address < bytes)
				c->lines[0].address = address; /* V8 says lines of what comes behind a function's prologue */
			c->inlines = w->inlines;
			c->nr_inlines = w->nr_inlines;
			c->entries = w->entries;
			c->nr_entries = w->nr_entries;
			*at = w->next;
			free(w);
			break;
		}
	from_ns = r->time_ns == JITREG_TIME_BEFORE ? 0 : r->time_ns;
	code_map_add(&p->code, address, address + bytes, from_ns, c);
	if (!p->has_unwinding)
		return;
	code_map_add(&p->frames, address, address + bytes, from_ns, NULL); /* what was said of other code here */
	for (w = *list; w; w = w->next)
		if (w->process == p && (w->address == ~(uint64_t)r->tid || w->address == ~0ull) && w->unwinding) {
			add_unwinding(m, p, w, address + bytes, from_ns);
			free(w->unwinding);
			w->unwinding = NULL;
		}
}

static void read_move(struct process *p, const struct trace_record *r)
{
	uint64_t from = trace_u64(r, F(move, old_code_addr)), to = trace_u64(r, F(move, new_code_addr));
	uint64_t bytes = trace_u64(r, F(move, code_size));
	const struct code_fact *f = code_map_starting_at(&p->code, from);
	struct code *c = f ? f->owner : NULL;

	if (!c || bytes > UINT64_MAX - to || bytes > UINT64_MAX - from)
		return;
	code_map_add(&p->code, to, to + bytes, r->time_ns, c);
	code_map_add(&p->code, from, from + bytes, r->time_ns, NULL);
}

static void read_code_unload(struct process *p, const struct trace_record *r)
{
	uint64_t start = trace_u64(r, F(code_unload, address)), bytes = trace_u64(r, F(code_unload, bytes));
	const struct code_fact *f = bytes ? NULL : code_map_starting_at(&p->code, start);

	if (f)
		bytes = f->end - f->start;
	if (bytes > UINT64_MAX - start)
		return;
	code_map_add(&p->code, start, start + bytes, r->time_ns, NULL);
	code_map_add(&p->told_regions, start, start + bytes, r->time_ns, NULL);
	code_map_add(&p->regions, start, start + bytes, r->time_ns, NULL);
}

/* --------------------------------------------------------------------------------------------------------- dictionary */

static uint32_t component_at(struct model *m, const struct process *p, uint64_t level_id, uint64_t id)
{
	uint32_t level = id ? dictionary_level(&m->dictionary, (uint32_t)level_id) : LEVELS_MAX;

	return level < LEVELS_MAX ? dictionary_get(&m->dictionary, p->number, level, id) : COMPONENT_NONE;
}

static void read_level(struct model *m, const struct trace_record *r)
{
	uint32_t i = dictionary_level(&m->dictionary, (uint32_t)trace_u64(r, F(level, level)));

	if (i == LEVELS_MAX) {
		m->bad_records++;
		return;
	}
	set_text(&m->dictionary.level[i].name, text_of(r, F(level, name)));
	m->dictionary.level[i].flags = (uint32_t)trace_u64(r, F(level, flags));
}

static void read_component(struct model *m, const struct process *p, const struct trace_record *r)
{
	uint32_t i = component_at(m, p, trace_u64(r, F(component, level)), trace_u64(r, F(component, component)));
	struct component *c = &m->dictionary.component[i];

	if (!i)
		return;
	set_text(&c->name, text_of(r, F(component, name)));
	set_text(&c->detail, text_of(r, F(component, detail)));
	c->flags = (uint32_t)trace_u64(r, F(component, flags));
	c->announced = true;
}

static void read_source(struct model *m, const struct process *p, const struct trace_record *r)
{
	uint64_t level = trace_u64(r, F(source, level));
	struct source *s = APPEND(m->source, m->nr_sources);
	const char *text;
	size_t line = 0;

	if (!s)
		return;
	text = trace_bytes(r, F(source, text), &s->text_bytes);
	s->name = text_of(r, F(source, name));
	s->text = strndup("", 0);
	s->process = p->number;
	s->level = level ? dictionary_level(&m->dictionary, (uint32_t)level) : LEVELS_MAX;
	s->first_component = trace_u64(r, F(source, first_component));
	s->flags = (uint32_t)trace_u64(r, F(source, flags));
	free(s->text);
	s->text = malloc(s->text_bytes + 1);
	if (!s->text) {
		s->text_bytes = 0;
		return;
	}
	memcpy(s->text, text, s->text_bytes);
	s->text[s->text_bytes] = 0;
	s->nr_lines = 1;
	for (size_t i = 0; i < s->text_bytes; i++)
		s->nr_lines += s->text[i] == '\n';
	s->line_start = calloc(s->nr_lines + 1, sizeof(*s->line_start));
	for (size_t i = 0; s->line_start && i < s->text_bytes; i++)
		if (s->text[i] == '\n')
			s->line_start[++line] = i + 1;
	if (s->line_start)
		s->line_start[s->nr_lines] = s->text_bytes + 1;
}

static void read_tag(struct model *m, struct process *p, const struct trace_record *r)
{
	const struct trace_value none = { .kind = TRACE_OTHER };
	const struct trace_value *fields = F(tag, fields) < r->nr_values ? &r->values[F(tag, fields)] : &none;
	const struct trace_value *ranges = F(tag, keepers) < r->nr_values ? &r->values[F(tag, keepers)] : &none;
	struct tag *t = APPEND(p->tags, p->nr_tags);

	if (!t)
		return;
	t->where = (uint32_t)trace_u64(r, F(tag, where));
	t->check_mask = trace_u64(r, F(tag, check_mask));
	t->check_value = trace_u64(r, F(tag, check_value));
	t->from_ns = r->time_ns;
	t->field = calloc(fields->u + 1, sizeof(*t->field));
	t->preserving_range = calloc(ranges->u + 1, sizeof(*t->preserving_range));
	for (uint64_t i = 0; fields->kind == TRACE_LIST && t->field && i < fields->u; i++) {
		uint32_t level = dictionary_level(&m->dictionary, (uint32_t)trace_element(fields, i, 0).u);
		uint64_t shift = trace_element(fields, i, 1).u, bits = trace_element(fields, i, 2).u;

		if (level == LEVELS_MAX || shift > 63 || bits == 0 || bits > 64 - shift)
			continue;
		t->field[t->nr_fields].level = level;
		t->field[t->nr_fields].shift = (uint32_t)shift;
		t->field[t->nr_fields++].bits = (uint32_t)bits;
	}
	for (uint64_t i = 0; ranges->kind == TRACE_LIST && t->preserving_range && i < ranges->u; i++)
		t->preserving_range[t->nr_preserving_ranges++] =
			(struct jitreg_range){ trace_element(ranges, i, 0).u, trace_element(ranges, i, 1).u };
}

static void read_mark(struct model *m, struct process *p, const struct trace_record *r)
{
	char *name = text_of(r, F(mark, name));
	uint32_t component = component_at(m, p, trace_u64(r, F(mark, level)), trace_u64(r, F(mark, component)));
	uint64_t instance = trace_u64(r, F(mark, instance));

	if (trace_u64(r, F(mark, action)) == JITREG_MARK_BEGIN) {
		if (!GROW(m->mark, m->nr_marks, m->marks_capacity)) {
			free(name);
			return;
		}
		m->mark[m->nr_marks++] = (struct mark){ r->time_ns, UINT64_MAX, p->number, r->tid, component, instance,
			trace_u64(r, F(mark, parent_instance)), trace_u64(r, F(mark, units)), name, text_of(r, F(mark, text)) };
		return;
	}
	/* the latest that it can end: of the same thread, name, component and instance */
	for (uint32_t i = m->nr_marks; i > 0; i--) {
		struct mark *k = &m->mark[i - 1];

		if (k->end_ns == UINT64_MAX && k->process == p->number && k->tid == r->tid && k->component == component &&
		    k->instance == instance && is_text(k->name, name)) {
			k->end_ns = r->time_ns;
			if (trace_u64(r, F(mark, units)))
				k->units = trace_u64(r, F(mark, units));
			break;
		}
	}
	free(name);
}

/* -------------------------------------------------------------------------------------------------------- the rest */

static void read_header(struct model *m, const struct trace_record *r)
{
	const struct trace_value *command = F(header, command) < r->nr_values ? &r->values[F(header, command)] : NULL;
	size_t bytes = 1;

	set_text(&m->tool, text_of(r, F(header, tool)));
	set_text(&m->host_name, text_of(r, F(header, host_name)));
	set_text(&m->kernel, text_of(r, F(header, kernel)));
	m->real_ns = trace_u64(r, F(header, real_ns));
	m->begin_ns = r->time_ns;
	m->nr_cpus = (uint32_t)trace_u64(r, F(header, nr_cpus));
	for (uint64_t i = 0; command && command->kind == TRACE_LIST && i < command->u; i++) {
		struct trace_value word = trace_element(command, i, 0);
		char *bigger = word.kind == TRACE_TEXT ? realloc(m->command, bytes + word.bytes + 1) : NULL;

		if (!bigger)
			break;
		m->command = bigger;
		if (bytes > 1)
			m->command[bytes++ - 1] = ' ';
		memcpy(m->command + bytes - 1, word.p, word.bytes);
		bytes += word.bytes;
		m->command[bytes - 1] = 0;
	}
}

static void read_event(struct model *m, const struct trace_record *r)
{
	uint64_t i = trace_u64(r, F(event, event));
	struct event *e;

	if (i >= sizeof(m->event) / sizeof(m->event[0]))
		return;
	e = &m->event[i];
	set_text(&e->name, text_of(r, F(event, name)));
	set_text(&e->unit, text_of(r, F(event, unit)));
	set_text(&e->scope, text_of(r, F(event, scope)));
	e->is_switch = strcmp(e->name, TRACE_EVENT_SWITCH) == 0;
	e->period = trace_u64(r, F(event, period));
	e->rate = trace_u64(r, F(event, rate));
	e->registers = trace_u64(r, F(event, registers));
	e->stack_bytes = (uint32_t)trace_u64(r, F(event, stack_bytes));
	e->precise = (uint32_t)trace_u64(r, F(event, precise));
	e->exclude_kernel = (uint32_t)trace_u64(r, F(event, exclude_kernel));
	if (i >= m->nr_events)
		m->nr_events = (uint32_t)i + 1;
}

uint64_t model_whole(double scaled)
{
	return scaled < 0x1p64 ? (uint64_t)scaled : UINT64_MAX;
}

static void read_told(struct told **list, uint32_t *nr, const struct trace_record *r, bool loss)
{
	char *kind = text_of(r, loss ? F(loss, reason) : F(notice, kind));
	struct told *t;

	for (uint32_t i = 0; loss && i < *nr; i++)
		if (strcmp((*list)[i].kind, kind) == 0) { /* they come as they happen, and add up */
			(*list)[i].count += trace_u64(r, F(loss, count));
			free(kind);
			return;
		}
	t = append((void **)list, nr, sizeof(**list));
	if (!t) {
		free(kind);
		return;
	}
	t->kind = kind;
	t->sentence = loss ? strdup("") : text_of(r, F(notice, sentence));
	t->count = loss ? trace_u64(r, F(loss, count)) : 1;
}

static void read_image_file(struct model *m, const struct trace_record *r)
{
	const struct trace_value *parts = F(image_file, parts) < r->nr_values ? &r->values[F(image_file, parts)] : NULL;
	struct image_file *f = add_file(m);
	struct elf_object *elf;

	if (!f)
		return;
	f->key = text_of(r, F(image_file, key));
	f->path = text_of(r, F(image_file, path));
	f->reason = text_of(r, F(image_file, reason));
	if (!parts || parts->kind != TRACE_LIST || parts->u == 0 ||
	    elf_object_create(trace_u64(r, F(image_file, file_bytes)), &elf, NULL))
		return;
	for (uint64_t i = 0; i < parts->u; i++) {
		struct trace_value at = trace_element(parts, i, 0), bytes = trace_element(parts, i, 1);

		if (at.kind == TRACE_UINT && bytes.kind == TRACE_BYTES)
			elf_object_add_part(elf, at.u, bytes.p, bytes.bytes);
	}
	if (elf_object_open(elf, NULL)) {
		elf_object_destroy(elf);
		set_text(&f->reason, strdup("its parts do not make an ELF file"));
		return;
	}
	f->elf = elf;
}

static void read_link(struct model *m, const struct process *p, const struct trace_record *r)
{
	uint32_t lower, upper;

	if (r->id == JITREG_LINK) {
		lower = component_at(m, p, trace_u64(r, F(link, lower_level)), trace_u64(r, F(link, lower)));
		upper = component_at(m, p, trace_u64(r, F(link, upper_level)), trace_u64(r, F(link, upper)));
		dictionary_link(&m->dictionary, lower, upper, (uint32_t)trace_u64(r, F(link, weight)), r->time_ns);
		return;
	}
	lower = component_at(m, p, trace_u64(r, F(unlink, lower_level)), trace_u64(r, F(unlink, lower)));
	upper = component_at(m, p, trace_u64(r, F(unlink, upper_level)), trace_u64(r, F(unlink, upper)));
	dictionary_unlink(&m->dictionary, lower, dictionary_level(&m->dictionary, (uint32_t)trace_u64(r, F(unlink, upper_level))),
			  upper, r->time_ns);
}

static void read_record(struct model *m, struct waiting **waiting, const struct trace_record *r)
{
	/* what was there before the agent was is of the program that ran then, whatever the process executed earlier */
	uint64_t time_ns = r->time_ns == JITREG_TIME_BEFORE ? m->told_ns : r->time_ns;
	struct process *p = r->pid ? model_get_process(m, r->pid, time_ns) : NULL;
	uint32_t component, to, thread;

	m->told_ns = time_ns;
	switch (r->id) {
	case TRACE_HEADER:
		read_header(m, r);
		return;
	case TRACE_EVENT:
		read_event(m, r);
		return;
	case TRACE_NOTICE:
		read_told(&m->notice, &m->nr_notices, r, false);
		return;
	case TRACE_LOSS:
		read_told(&m->loss, &m->nr_losses, r, true);
		return;
	case TRACE_COUNT:
		counts_read(m, r);
		return;
	case TRACE_IMAGE_FILE:
		read_image_file(m, r);
		return;
	case TRACE_KERNEL_FUNCTIONS:
		kernel_functions_read(&m->kernel_functions, r);
		return;
	case TRACE_END:
		m->has_end = true;
		m->end_ns = r->time_ns;
		m->exit_status = (uint32_t)trace_u64(r, F(end, exit_status));
		m->written_samples = trace_u64(r, F(end, samples));
		m->recorder_cpu_ns = trace_u64(r, F(end, recorder_cpu_ns));
		return;
	}
	if (!p)
		return;
	switch (r->id) {
	case TRACE_COMM:
		thread = model_get_thread(m, p, r->tid);
		if (thread < m->nr_threads)
			set_text(&m->thread[thread].comm, text_of(r, F(comm, comm)));
		break;
	case TRACE_GUEST:
		p->has_guest = true;
		break;
	case TRACE_MMAP:
		memory_read_mapping(m, p, r);
		if (trace_u64(r, F(mmap, prot)) & PROT_EXEC)
			read_mmap(m, p, r);
		break;
	case JITREG_IMAGE:
		read_image(m, p, r);
		break;
	case JITREG_IMAGE_UNLOAD:
		read_image_unload(m, p, r);
		break;
	case JITREG_LOAD:
		read_load(m, waiting, p, r);
		break;
	case JITREG_MOVE:
		read_move(p, r);
		break;
	case JITREG_REGION:
		read_region(m, p, r);
		break;
	case JITREG_CODE_UNLOAD:
		read_code_unload(p, r);
		break;
	case JITREG_DEBUG_INFO:
		read_debug_info(waiting, p, r);
		break;
	case JITREG_INLINES:
		read_inlines(waiting, p, r);
		break;
	case JITREG_UNWINDING_INFO:
		read_unwinding_info(waiting, p, r);
		break;
	case JITREG_CODE_MAP:
		read_code_map(m, waiting, p, r);
		break;
	case JITREG_EH_FRAME:
		read_eh_frame(m, p, r);
		break;
	case JITREG_LEVEL:
		read_level(m, r);
		break;
	case JITREG_COMPONENT:
		read_component(m, p, r);
		break;
	case JITREG_LINK:
	case JITREG_UNLINK:
		read_link(m, p, r);
		break;
	case JITREG_EDGE:
		component = component_at(m, p, trace_u64(r, F(edge, level)), trace_u64(r, F(edge, from)));
		to = component_at(m, p, trace_u64(r, F(edge, level)), trace_u64(r, F(edge, to)));
		if (component && to)
			dictionary_edge(&m->dictionary, component, to, (uint32_t)trace_u64(r, F(edge, order)),
					text_of(r, F(edge, label)));
		break;
	case JITREG_COUNTER:
		component = component_at(m, p, trace_u64(r, F(counter, level)), trace_u64(r, F(counter, component)));
		if (component)
			dictionary_counter(&m->dictionary, component, text_of(r, F(counter, name)),
					   trace_s64(r, F(counter, value)), r->time_ns);
		break;
	case JITREG_TAG:
		read_tag(m, p, r);
		break;
	case JITREG_SOURCE:
		read_source(m, p, r);
		break;
	case JITREG_MEMORY:
		memory_read_named(m, p, r);
		break;
	case JITREG_MARK:
		read_mark(m, p, r);
		break;
	}
}

static struct image_file *find_file(const struct model *m, const struct code *c)
{
	for (uint32_t i = 0; i < m->nr_files; i++)
		if (*c->build_id && strcmp(m->file[i]->key, c->build_id) == 0)
			return m->file[i];
	for (uint32_t i = 0; i < m->nr_files; i++)
		if (strcmp(m->file[i]->path, c->path) == 0)
			return m->file[i];
	return NULL;
}

/* An image goes by its file's name: the loader's may have a link in it. */
static void use_file(struct code *c, struct image_file *f)
{
	c->file = f;
	if (f)
		set_text(&c->path, strdup(f->path));
}

static int by_begin(const void *a, const void *b)
{
	const struct mark *x = a, *y = b;

	return x->begin_ns < y->begin_ns ? -1 : x->begin_ns > y->begin_ns;
}

/* Leaving a processor is two things, and how long it lasted is what matters of both. */
static void settle_switches(struct model *m)
{
	uint32_t leaving = MODEL_NO_EVENT, preempted = MODEL_NO_EVENT;

	for (uint32_t i = 0; i < m->nr_events; i++) {
		if (m->event[i].is_switch)
			preempted = i;
		else if (strcmp(m->event[i].name, MODEL_EVENT_LEAVING) == 0)
			leaving = i;
	}
	m->leaving = m->preempted = MODEL_NO_EVENT;
	if (preempted == MODEL_NO_EVENT)
		return;
	set_text(&m->event[preempted].name, strdup("preempted"));
	set_text(&m->event[preempted].unit, strdup("ns preempted"));
	if (leaving == MODEL_NO_EVENT)
		return;
	set_text(&m->event[leaving].unit, strdup("ns waiting"));
	m->event[leaving].counted = 0; /* not what the weights add up to */
	m->leaving = leaving;
	m->preempted = preempted;
}

/* Events are numbered by whoever wrote the trace, and numbers may be missing. */
static int settle_events(struct model *m)
{
	for (uint32_t i = 0; i < m->nr_events; i++) {
		struct event *e = &m->event[i];

		if (!e->name)
			e->name = strdup("");
		if (!e->unit)
			e->unit = strdup("");
		if (!e->scope)
			e->scope = strdup("");
		if (!e->name || !e->unit || !e->scope)
			return -ENOMEM;
	}
	counts_settle(m);
	settle_switches(m);
	return 0;
}

static int settle(struct model *m)
{
	if (settle_events(m))
		return -ENOMEM;
	for (uint32_t i = 0; i < m->nr_code; i++)
		if (m->code[i]->kind == CODE_IMAGE && m->code[i]->path && m->code[i]->build_id)
			use_file(m->code[i], find_file(m, m->code[i]));
	host_levels_settle(m);
	dictionary_settle(&m->dictionary);
	if (m->nr_marks)
		qsort(m->mark, m->nr_marks, sizeof(*m->mark), by_begin);
	for (uint32_t i = 0; i < m->nr_processes; i++)
		if (code_map_index(&m->process[i]->code) || code_map_index(&m->process[i]->frames) ||
		    code_map_index(&m->process[i]->told_regions) || code_map_index(&m->process[i]->regions) ||
		    code_map_index(&m->process[i]->memory) || code_map_index(&m->process[i]->mapped))
			return -ENOMEM;
	return 0;
}

int model_create(struct trace_reader *t, struct model **out, struct diag *d)
{
	struct model *m = calloc(1, sizeof(*m));
	struct waiting *waiting = NULL;
	struct lifetimes lifetimes = { 0 };
	struct trace_record r;
	int ret = 0;

	if (!m || memory_init(m) || dictionary_init(&m->dictionary)) {
		if (m)
			memory_fini(m);
		free(m);
		return diag_fail(d, ENOMEM, "no memory for the trace");
	}
	trace_rewind(t);
	trace_select(t, 1u << TRACE_CHUNK_RECORDS);
	while (ret == 0 && trace_next(t, &r) == 1)
		ret = lifetimes_add(&lifetimes, &r);
	lifetimes_tell(&lifetimes, m);
	trace_rewind(t);
	trace_select(t, ~(1u << TRACE_CHUNK_SAMPLES));
	while (ret == 0 && trace_next(t, &r) == 1)
		read_record(m, &waiting, &r);
	for (struct waiting *next; waiting; waiting = next) {
		next = waiting->next;
		free_lines(waiting->lines, waiting->nr_lines);
		code_inlines_free(waiting->inlines, waiting->nr_inlines);
		free(waiting->entries);
		free(waiting->unwinding);
		free(waiting);
	}
	kernel_functions_settle(&m->kernel_functions);
	ret = ret ? ret : settle(m);
	if (ret) {
		model_destroy(m);
		return diag_fail(d, -ret, "no memory for the trace's code objects");
	}
	*out = m;
	return 0;
}

static void free_told(struct told *t, uint32_t nr)
{
	for (uint32_t i = 0; i < nr; i++) {
		free(t[i].kind);
		free(t[i].sentence);
	}
	free(t);
}

void model_destroy(struct model *m)
{
	memory_fini(m);
	for (uint32_t i = 0; i < m->nr_processes; i++) {
		struct process *p = m->process[i];

		for (uint32_t n = 0; n < p->nr_tags; n++) {
			free(p->tags[n].field);
			free(p->tags[n].preserving_range);
		}
		free(p->tags);
		code_map_fini(&p->code);
		code_map_fini(&p->frames);
		code_map_fini(&p->told_regions);
		code_map_fini(&p->regions);
		code_map_fini(&p->memory);
		code_map_fini(&p->mapped);
		free(p->comm);
		free(p->executable);
		free(p);
	}
	for (uint32_t i = 0; i < m->nr_threads; i++)
		free(m->thread[i].comm);
	for (uint32_t i = 0; i < m->nr_files; i++) {
		elf_object_destroy(m->file[i]->elf);
		free(m->file[i]->key);
		free(m->file[i]->path);
		free(m->file[i]->reason);
		free(m->file[i]);
	}
	for (uint32_t i = 0; i < m->nr_code; i++) {
		struct code *c = m->code[i];

		elf_object_destroy(c->elf);
		free_lines(c->lines, c->nr_lines);
		code_inlines_free(c->inlines, c->nr_inlines);
		free(c->entries);
		free(c->name);
		free(c->path);
		free(c->build_id);
		free(c);
	}
	for (uint32_t i = 0; i < m->nr_sources; i++) {
		free(m->source[i].name);
		free(m->source[i].text);
		free(m->source[i].line_start);
	}
	for (uint32_t i = 0; i < m->nr_frames; i++) {
		free(m->frames[i]->bytes);
		free(m->frames[i]);
	}
	for (uint32_t i = 0; i < m->nr_marks; i++) {
		free(m->mark[i].name);
		free(m->mark[i].text);
	}
	for (uint32_t i = 0; i < sizeof(m->event) / sizeof(m->event[0]); i++) {
		free(m->event[i].name);
		free(m->event[i].unit);
		free(m->event[i].scope);
		counts_free(&m->event[i]);
	}
	free_told(m->notice, m->nr_notices);
	free_told(m->loss, m->nr_losses);
	kernel_functions_fini(&m->kernel_functions);
	dictionary_fini(&m->dictionary);
	free(m->process);
	free(m->numbered);
	free(m->thread);
	free(m->file);
	free(m->code);
	free(m->source);
	free(m->frames);
	free(m->mark);
	free(m->tool);
	free(m->host_name);
	free(m->kernel);
	free(m->command);
	free(m);
}

/* ------------------------------------------------------------------------------------------------------- questions */

#define ANCESTORS_MAX 64

/* A child's memory is its parent's as of the fork, but where it says something itself. */
static struct code_answer ask(const struct process *p, size_t map, uint64_t address, uint64_t time_ns)
{
	bool frames = map == offsetof(struct process, frames);
	struct code_answer all = { NULL, 0, UINT64_MAX };
	bool forked = false; /* the question goes to a parent as it was, whose later facts change nothing */

	for (int i = 0; p && i < ANCESTORS_MAX; i++, p = p->parent) {
		struct code_answer a = code_map_ask((const struct code_map *)(const void *)((const char *)p + map), address, time_ns);

		all.fact = a.fact;
		if (!forked) {
			all.from_ns = a.from_ns > all.from_ns ? a.from_ns : all.from_ns;
			all.until_ns = a.until_ns < all.until_ns ? a.until_ns : all.until_ns;
		}
		if (a.fact && (a.fact->owner || !frames)) /* code that is known to be gone is gone */
			break;
		if (p->parent && p->forked_ns < time_ns) {
			all.from_ns = !forked && p->forked_ns > all.from_ns ? p->forked_ns : all.from_ns;
			time_ns = p->forked_ns;
			forked = true;
		}
	}
	return all;
}

struct code_answer model_ask_code(const struct process *p, uint64_t address, uint64_t time_ns)
{
	return ask(p, offsetof(struct process, code), address, time_ns);
}

struct code_answer model_ask_any_code(const struct process *p, uint64_t address, uint64_t time_ns)
{
	static const size_t maps[] = { offsetof(struct process, code), offsetof(struct process, told_regions),
				       offsetof(struct process, regions) };
	struct code_answer all = { NULL, 0, UINT64_MAX };

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		struct code_answer a = ask(p, maps[i], address, time_ns);

		all.fact = a.fact;
		all.from_ns = a.from_ns > all.from_ns ? a.from_ns : all.from_ns;
		all.until_ns = a.until_ns < all.until_ns ? a.until_ns : all.until_ns;
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

const struct code *model_told_before(const struct model *m, struct code *load)
{
	const struct code *c;
	struct elf_function f;

	if (load->elf_duplicate_asked || load->kind != CODE_LOAD || !load->from_ns || !load->name)
		return load->elf_duplicate_of;
	load->elf_duplicate_asked = true;
	c = code_map_find(&m->numbered[load->process]->code, load->address, load->from_ns - 1);
	if (c && c->kind == CODE_ELF && elf_find_function(c->elf, load->address, &f) && f.address == load->address &&
	    strcmp(f.name, load->name) == 0)
		load->elf_duplicate_of = c;
	return load->elf_duplicate_of;
}

uint32_t model_find_memory(const struct process *p, uint64_t address, uint64_t time_ns)
{
	static const size_t maps[] = { offsetof(struct process, memory), offsetof(struct process, mapped) };

	for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++) {
		struct code_answer a = ask(p, maps[i], address, time_ns);

		if (a.fact && a.fact->owner)
			return ((const struct memory *)a.fact->owner)->number;
	}
	return 0;
}

struct code_answer model_ask_frames(const struct process *p, uint64_t address, uint64_t time_ns)
{
	return ask(p, offsetof(struct process, frames), address, time_ns);
}

uint64_t model_generation(const struct process *p, uint64_t time_ns)
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
	*from_ns = 0;
	*until_ns = UINT64_MAX;
	for (int i = 0; p && i < ANCESTORS_MAX; i++, p = p->parent)
		for (uint32_t n = p->nr_tags; n > 0; n--) {
			const struct tag *t = &p->tags[n - 1];

			if (t->from_ns <= time_ns) {
				*from_ns = t->from_ns;
				return t;
			}
			*until_ns = t->from_ns < *until_ns ? t->from_ns : *until_ns;
		}
	return NULL;
}

const struct tag *model_find_tag(const struct process *p, uint64_t time_ns)
{
	uint64_t from_ns, until_ns;

	return model_ask_tag(p, time_ns, &from_ns, &until_ns);
}

const struct source *model_find_source(const struct model *m, const struct process *p, const char *file)
{
	for (int i = 0; p && i < ANCESTORS_MAX; i++, p = p->parent)
		for (uint32_t n = m->nr_sources; n > 0; n--) {
			const struct source *s = &m->source[n - 1];

			/* a compiler may have put its directory in front */
			if (s->process == p->number && s->name && (strcmp(s->name, file) == 0 ||
								   strcmp(base_name(s->name), base_name(file)) == 0))
				return s;
		}
	return NULL;
}

const char *source_line(const struct source *s, uint32_t line, size_t *bytes)
{
	*bytes = 0;
	if (line == 0 || line > s->nr_lines || !s->line_start)
		return "";
	*bytes = s->line_start[line] - 1 - s->line_start[line - 1];
	return s->text + s->line_start[line - 1];
}

uint32_t model_line_component(struct model *m, const struct source *s, uint32_t line)
{
	struct component *c;
	const char *text;
	size_t bytes;
	uint32_t i;

	if (s->level == LEVELS_MAX || line == 0)
		return COMPONENT_NONE;
	i = dictionary_get(&m->dictionary, s->process, s->level, s->first_component + line);
	c = &m->dictionary.component[i];
	if (i && !c->name) {
		text = source_line(s, line, &bytes);
		while (bytes && (*text == ' ' || *text == '\t')) {
			text++;
			bytes--;
		}
		c->name = strndup(text, bytes);
		c->source = 1 + (uint32_t)(s - m->source);
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
