/* SPDX-License-Identifier: MIT */
#include "agent/recorder/hotspot/internal.h"

#include "jitreg/base/grow.h"
#include "jitreg/base/hash_map.h"
#include "jitreg/trace/put.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINES_MAX 8192u /* maximum number of rows of one compiled method; further ones are left out */
#define METHODS_MAX 16384u /* maximum number of kept methods; with more, all are forgotten, and are read again when needed */

struct method {
	char *text; /* name, newline, file */
	uint32_t file; /* offset of the file in text */
	uint32_t nr_lines;
	uint64_t code;
	struct hotspot_line *line;
};

struct hotspot_lines {
	struct hash_map by_address; /* (Method, 0) -> 1 + index */
	ARRAY(struct method) methods;
	struct hotspot_method read;
	/* These members are about the compiled method that is being written. */
	const struct hotspot_layout *layout;
	uint64_t start, from;
	struct hotspot_scope before[HOTSPOT_DEPTH_MAX];
	uint32_t nr_before, nr_rows, nr_inlines;
	bool any_inlined;
	struct trace_line row[LINES_MAX], inlined[LINES_MAX];
};

struct hotspot_lines *hotspot_lines_create(void)
{
	return calloc(1, sizeof(struct hotspot_lines));
}

static void forget_methods(struct hotspot_lines *t)
{
	for (uint32_t i = 0; i < t->methods.nr; i++) {
		free(t->methods.at[i].text);
		free(t->methods.at[i].line);
	}
	t->methods.nr = 0;
	hash_map_fini(&t->by_address);
	memset(&t->by_address, 0, sizeof(t->by_address));
}

void hotspot_lines_destroy(struct hotspot_lines *t)
{
	if (!t)
		return;
	forget_methods(t);
	free(t->methods.at);
	free(t);
}

/* Returns the method at this address, which is read if it is not kept.  Returns NULL if there is none, or no memory. */
static const struct method *get_method(struct hotspot_lines *t, uint64_t address)
{
	uint32_t i = hash_map_find(&t->by_address, address, 0);
	const struct hotspot_method *r = &t->read;
	size_t name = 0, lines;
	struct method m = { 0 };

	if (i)
		return t->methods.at[i - 1].text ? &t->methods.at[i - 1] : NULL;
	if (hotspot_read_method(t->layout, address, true, &t->read)) {
		name = strlen(r->name);
		lines = r->nr_lines * sizeof(*r->line);
		m = (struct method){ malloc(name + strlen(r->file) + 2), (uint32_t)name + 1, r->nr_lines, r->code, malloc(lines + 1) };
		if (m.text && m.line) {
			sprintf(m.text, "%s\n%s", r->name, r->file);
			memcpy(m.line, r->line, lines);
		} else { /* without memory, the method is kept as one that cannot be read */
			free(m.text);
			free(m.line);
			m = (struct method){ 0 };
		}
	}
	if (!ARRAY_GROW(t->methods) || !hash_map_set(&t->by_address, address, 0, t->methods.nr + 1)) {
		free(m.text);
		free(m.line);
		return NULL;
	}
	t->methods.at[t->methods.nr++] = m;
	return m.text ? &t->methods.at[t->methods.nr - 1] : NULL;
}

static uint32_t line_of(const struct method *m, int32_t bci)
{
	uint32_t number = 0, best = 0;

	for (uint32_t i = 0; m && bci >= 0 && i < m->nr_lines; i++) {
		uint32_t at = (uint32_t)(m->line[i].address - m->code);

		if (at <= (uint32_t)bci && (!number || at >= best)) {
			number = m->line[i].number;
			best = at;
		}
	}
	return number;
}

/* Are the same methods inlined as at the previous place?  The innermost method's place in its bytecodes does not matter. */
static bool same_inlining(const struct hotspot_lines *t, const struct hotspot_scope *s, uint32_t nr)
{
	if (nr != t->nr_before || s[0].method != t->before[0].method)
		return false;
	for (uint32_t i = 1; i < nr; i++)
		if (s[i].method != t->before[i].method || s[i].bci != t->before[i].bci)
			return false;
	return true;
}

static void add_line(struct hotspot_lines *t, const struct hotspot_scope *s, uint32_t nr)
{
	const struct method *m = NULL;
	uint32_t line = 0;

	for (uint32_t i = 0; i < nr && !line; i++) {
		m = get_method(t, s[i].method);
		line = line_of(m, s[i].bci);
	}
	if (line && t->nr_rows < LINES_MAX)
		t->row[t->nr_rows] = (struct trace_line){ .address = t->nr_rows ? t->from : t->start, .line = line,
							  .file = trace_string(m->text + m->file) };
	t->nr_rows += line && t->nr_rows < LINES_MAX;
}

/* Adds a row for each method of a place, outermost first. */
static void add_inlined(struct hotspot_lines *t, const struct hotspot_scope *s, uint32_t nr)
{
	for (uint32_t i = nr; i > 0 && t->nr_inlines < LINES_MAX; i--) {
		const struct method *outer = i < nr ? get_method(t, s[i].method) : NULL, *m;
		uint32_t line = line_of(outer, i < nr ? s[i].bci : -1);

		m = get_method(t, s[i - 1].method); /* this may move t->method, so outer is not used after it */
		t->inlined[t->nr_inlines++] = (struct trace_line){ .address = t->from, .line = line, .discriminator = nr - i,
								   .file = trace_string(m ? m->text : "(no name)\n") };
	}
}

static void add_place(void *context, uint64_t address, const struct hotspot_scope *s, uint32_t nr)
{
	struct hotspot_lines *t = context;

	add_line(t, s, nr);
	if (!same_inlining(t, s, nr)) {
		add_inlined(t, s, nr);
		t->any_inlined |= nr > 1;
		memcpy(t->before, s, nr * sizeof(*s));
		t->nr_before = nr;
	}
	if (address > t->from)
		t->from = address;
}

void hotspot_lines_write(struct hotspot_lines *t, const struct hotspot_layout *l, const struct hotspot_blob *b, struct trace_writer *w,
			 uint32_t pid, uint64_t time_ns)
{
	if (t->methods.nr > METHODS_MAX)
		forget_methods(t);
	t->layout = l;
	t->start = t->from = b->start;
	t->nr_before = t->nr_rows = t->nr_inlines = 0;
	t->any_inlined = false;
	hotspot_each_place(l, b, add_place, t);
	if (t->nr_rows)
		TRACE_PUT(w, debug_info, time_ns, pid, 0, .code_addr = b->start, .nr_entry = t->nr_rows, .entries = { t->row, t->nr_rows });
	if (t->any_inlined)
		TRACE_PUT(w, inlines, time_ns, pid, 0, .code_addr = b->start, .nr_entry = t->nr_inlines,
			  .entries = { t->inlined, t->nr_inlines });
}
