/* SPDX-License-Identifier: MIT */
/*
 * pprof: profile.proto (https://github.com/google/pprof/blob/main/proto/profile.proto), uncompressed, which `pprof` and `go tool
 * pprof` read.  Each sample has a label with its component.  Protocol buffers are written by hand: it takes only varints and
 * lengths.
 */
#include "analyzer/export/export.h"

#include "jitreg/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct buffer {
	unsigned char *p;
	size_t nr, capacity;
	bool failed;
};

struct strings {
	char **text;
	uint32_t nr, capacity;
};

struct writing {
	const struct export *e;
	FILE *to;
	struct strings strings;
	bool failed;
};

static void put_byte(struct buffer *b, unsigned char c)
{
	b->failed |= !GROW(b->p, b->nr, b->capacity);
	if (b->failed)
		return;
	b->p[b->nr++] = c;
}

static void put_varint(struct buffer *b, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		put_byte(b, (unsigned char)(v | 0x80));
	put_byte(b, (unsigned char)v);
}

static void put_varint_field(struct buffer *b, unsigned field, uint64_t v)
{
	if (!v)
		return; /* an absent field is 0 */
	put_varint(b, field << 3);
	put_varint(b, v);
}

static void put_bytes_field(struct buffer *b, unsigned field, const void *p, size_t nr)
{
	put_varint(b, field << 3 | 2);
	put_varint(b, nr);
	for (size_t i = 0; i < nr; i++)
		put_byte(b, ((const unsigned char *)p)[i]);
}

/* Write the buffer to the file. */
static void flush_buffer_to_file(struct writing *w, struct buffer *b)
{
	w->failed |= b->failed;
	if (b->nr)
		fwrite(b->p, 1, b->nr, w->to);
	b->nr = 0;
}

/* A top-level message of the profile. */
static void put_message(struct writing *w, unsigned field, struct buffer *b)
{
	struct buffer head = { 0 };

	put_varint(&head, field << 3 | 2);
	put_varint(&head, b->nr);
	flush_buffer_to_file(w, &head);
	flush_buffer_to_file(w, b);
	free(head.p);
}

/* Index of a new string; the first is "". */
static uint32_t add_string(struct writing *w, const char *text)
{
	struct strings *s = &w->strings;

	if (!GROW(s->text, s->nr, s->capacity)) {
		w->failed = true;
		return 0;
	}
	s->text[s->nr] = strdup(text ? text : "");
	w->failed |= !s->text[s->nr];
	return s->nr++;
}

static void put_value_type(struct writing *w, unsigned field, const char *type, const char *unit)
{
	struct buffer b = { 0 };

	put_varint_field(&b, 1, add_string(w, type));
	put_varint_field(&b, 2, add_string(w, unit));
	put_message(w, field, &b);
	free(b.p);
}

static void prepare_pprof(struct export *e)
{
	e->report->stacks = true;
	e->by_stack = report_add_group(
		e->report, 0, TABLE_STACK, TABLE_THREAD, e->level == LEVELS_MAX ? TABLE_METHOD : TABLE_LEVEL_0 + (int)e->level, -1);
}

static void put_sample_messages(struct writing *w, const uint32_t *thread_name)
{
	const struct export *e = w->e;
	const struct stacks *s = &e->report->a->stacks;
	uint32_t key_thread = add_string(w, "thread"), key_component = add_string(w, e->level != LEVELS_MAX ?
				       report_level_name(e->report, e->level) : "method");
	struct buffer b = { 0 }, inner = { 0 };
	struct export_whole samples = { 0 }, weight = { 0 };
	char spare[32];

	for (uint32_t i = 0; i < e->by_stack->g.nr; i++) {
		const struct group_sum *sum = &e->by_stack->g.sum[i];
		uint32_t at = report_value(e->by_stack, i, 0), what = report_value(e->by_stack, i, 2);

		inner.nr = 0;
		for (; at && at < s->nr; at = s->node[at].caller) /* innermost first */
			put_varint(&inner, at);
		put_bytes_field(&b, 1, inner.p, inner.nr);
		inner.nr = 0;
		put_varint(&inner, export_next_whole(&samples, sum->samples));
		put_varint(&inner, export_next_whole(&weight, sum->weight));
		put_bytes_field(&b, 2, inner.p, inner.nr);
		inner.nr = 0;
		put_varint_field(&inner, 1, key_thread);
		put_varint_field(&inner, 2, thread_name[report_value(e->by_stack, i, 1)]);
		put_bytes_field(&b, 3, inner.p, inner.nr);
		inner.nr = 0;
		put_varint_field(&inner, 1, key_component);
		put_varint_field(&inner, 2,
				 add_string(w, e->level != LEVELS_MAX ? report_component_name(e->report, what, spare) :
					       what < NR_METHODS      ? method_names[what] :
									""));
		put_bytes_field(&b, 3, inner.p, inner.nr);
		w->failed |= inner.failed;
		put_message(w, 2, &b);
	}
	free(b.p);
	free(inner.p);
}

/* A location per node of the stacks, a function per function. */
static void put_locations_and_functions(struct writing *w)
{
	const struct attribution *a = w->e->report->a;
	struct buffer b = { 0 }, line = { 0 };

	for (uint32_t i = 1; i < a->stacks.nr; i++) {
		const struct stack_node *n = &a->stacks.node[i];

		line.nr = 0;
		put_varint_field(&line, 1, n->function + 1u);
		put_varint_field(&line, 2, n->line < a->nr_lines ? a->line[n->line].number : 0);
		put_varint_field(&b, 1, i);
		put_bytes_field(&b, 4, line.p, line.nr);
		w->failed |= line.failed;
		put_message(w, 4, &b);
	}
	for (uint32_t i = 0; i < a->nr_functions; i++) {
		const struct function *f = &a->function[i];
		uint32_t name = add_string(w, f->name);

		put_varint_field(&b, 1, i + 1u);
		put_varint_field(&b, 2, name);
		put_varint_field(&b, 3, f->mangled ? add_string(w, f->mangled) : name);
		put_varint_field(&b, 4, add_string(w, a->image[f->image].path));
		put_message(w, 5, &b);
	}
	free(b.p);
	free(line.p);
}

static int write_pprof(struct export *e, FILE *to)
{
	const struct model *m = e->report->model;
	const char *event = e->report->event < m->nr_events ? m->event[e->report->event].name : "samples";
	uint32_t *thread_name = calloc((size_t)m->nr_threads + 1, sizeof(*thread_name));
	struct writing w = { .e = e, .to = to };
	struct buffer b = { 0 };
	bool is_time = strcmp(report_unit(e->report), "ns") == 0;
	char name[128];

	if (!thread_name)
		return -ENOMEM;
	add_string(&w, "");
	for (uint32_t i = 0; i < m->nr_threads; i++) {
		snprintf(name, sizeof(name), "%.100s %u", export_thread_name(e, i), m->thread[i].tid);
		thread_name[i] = add_string(&w, name);
	}
	put_value_type(&w, 1, "samples", "count");
	put_value_type(&w, 1, event, is_time ? "nanoseconds" : report_unit(e->report));
	put_sample_messages(&w, thread_name);
	put_locations_and_functions(&w);
	put_varint_field(&b, 9, m->real_ns); /* time_nanos */
	put_varint_field(&b, 10, e->report->a->last_ns - e->report->a->first_ns);
	flush_buffer_to_file(&w, &b);
	put_value_type(&w, 11, event, is_time ? "nanoseconds" : report_unit(e->report));
	if (e->report->event < m->nr_events) {
		put_varint_field(&b, 12, m->event[e->report->event].period);
		flush_buffer_to_file(&w, &b);
	}
	for (uint32_t i = 0; i < w.strings.nr; i++) {
		put_bytes_field(&b, 6, w.strings.text[i] ? w.strings.text[i] : "", w.strings.text[i] ? strlen(w.strings.text[i]) : 0);
		flush_buffer_to_file(&w, &b);
		free(w.strings.text[i]);
	}
	free(w.strings.text);
	free(thread_name);
	free(b.p);
	return w.failed ? -ENOMEM : 0;
}

const struct exporter exporter_pprof = {
	"pprof", ".pb", "profile.proto for `pprof` and `go tool pprof`",
	true, prepare_pprof, write_pprof,
};
