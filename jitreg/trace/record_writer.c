/* SPDX-License-Identifier: MIT */
/* Packs records as msgpack into the buffer of their chunk type. */
#include "jitreg/trace/record_stream.h"
#include "jitreg/trace/writer_internal.h"

#include <stdlib.h>
#include <string.h>

void trace_record_begin(struct trace_writer *w, uint32_t id, uint64_t time_ns, uint32_t pid, uint32_t tid, int nr_values)
{
	struct msgpack_sbuffer *b = &w->buffer[schema_chunk_type_of(id)];

	w->type = schema_chunk_type_of(id);
	w->record_start = b->size;
	msgpack_packer_init(&w->packer, b, msgpack_sbuffer_write);
	msgpack_pack_array(&w->packer, (size_t)nr_values + 4);
	msgpack_pack_uint32(&w->packer, id);
	msgpack_pack_uint64(&w->packer, time_ns);
	msgpack_pack_uint32(&w->packer, pid);
	msgpack_pack_uint32(&w->packer, tid);
}

void trace_record_u64(struct trace_writer *w, uint64_t v)
{
	msgpack_pack_uint64(&w->packer, v);
}

void trace_record_nil(struct trace_writer *w)
{
	msgpack_pack_nil(&w->packer);
}

void trace_record_s64(struct trace_writer *w, int64_t v)
{
	msgpack_pack_int64(&w->packer, v);
}

static uint64_t load_u64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, 8);
	return v;
}

/* Returns the length of the UTF-8 sequence at p, or 0 if the bytes there are not UTF-8.  left: number of bytes at p, more than 0. */
static size_t utf8_sequence_bytes(const unsigned char *p, size_t left)
{
	size_t n = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : p[0] < 0xf5 ? 4 : 0;

	if (n == 0 || n > left)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] >= 0xa0) || (p[0] == 0xf0 && p[1] < 0x90) ||
	    (p[0] == 0xf4 && p[1] >= 0x90))
		return 0; /* this is an overlong form, a surrogate, or behind the last code point */
	return n;
}

/* Texts of msgpack are UTF-8, but names of files and threads may have any bytes.  The first loop passes ASCII 8 bytes at a time, and the
 * second one other valid UTF-8.  Texts with other bytes are copied to replace these. */
void trace_record_text(struct trace_writer *w, const char *text, size_t bytes)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t at = 0, n;

	while (bytes - at >= 8 && !(load_u64(p + at) & 0x8080808080808080u))
		at += 8; /* most texts are ASCII */
	while (at < bytes && (n = utf8_sequence_bytes(p + at, bytes - at)))
		at += n;
	if (at < bytes) {
		if (bytes > w->clean_capacity) {
			char *bigger = realloc(w->clean, bytes);

			if (!bigger) {
				msgpack_pack_str_with_body(&w->packer, text, at);
				return;
			}
			w->clean = bigger;
			w->clean_capacity = bytes;
		}
		memcpy(w->clean, text, bytes);
		for (; at < bytes; at += n ? n : 1) {
			n = utf8_sequence_bytes(p + at, bytes - at);
			if (!n)
				w->clean[at] = '?';
		}
		text = w->clean;
	}
	msgpack_pack_str_with_body(&w->packer, bytes ? text : "", bytes);
}

void trace_record_bytes(struct trace_writer *w, const void *p, size_t bytes)
{
	msgpack_pack_bin_with_body(&w->packer, bytes ? p : "", bytes);
}

void trace_record_array(struct trace_writer *w, size_t nr)
{
	msgpack_pack_array(&w->packer, nr);
}

static const char *pack_field(struct trace_writer *w, enum schema_kind kind, const struct schema_element *e, const char *at);

/* Pack a text, bytes, or a list.  span: the bytes and their number, or the elements of a list and their number.  e: describes the
 * elements. */
static void pack_span(struct trace_writer *w, enum schema_kind kind, const struct schema_element *e, struct trace_span span)
{
	const char *at = span.p;

	if (kind == SCHEMA_STR || kind == SCHEMA_ZSTR) {
		trace_record_text(w, span.p, span.bytes);
	} else if (kind == SCHEMA_BIN || kind == SCHEMA_REST) {
		trace_record_bytes(w, span.p, span.bytes);
	} else {
		trace_record_array(w, span.bytes);
		for (size_t i = 0; i < span.bytes; i++) {
			trace_record_array(w, (size_t)e->nr_members);
			for (int m = 0; m < e->nr_members; m++)
				at = pack_field(w, e->member[m].kind, NULL, at);
		}
	}
}

/* Pack the field of a struct trace_put_<record>, or the member of an element, at `at`.  Returns the address of the next one. */
static const char *pack_field(struct trace_writer *w, enum schema_kind kind, const struct schema_element *e, const char *at)
{
	struct trace_span span;
	uint32_t u32;

	switch (kind) {
	case SCHEMA_NR: /* counts are not in the trace */
		return at;
	case SCHEMA_U32:
		memcpy(&u32, at, 4);
		trace_record_u64(w, u32);
		return at + 8;
	case SCHEMA_U64:
		trace_record_u64(w, load_u64(at));
		return at + 8;
	case SCHEMA_S64:
		trace_record_s64(w, (int64_t)load_u64(at));
		return at + 8;
	default:
		memcpy(&span, at, sizeof(span));
		pack_span(w, kind, e, span);
		return at + sizeof(span);
	}
}
_Static_assert(sizeof(struct trace_span) == 16 && sizeof(((struct trace_put_level *)0)->upper) == 16, "each field takes 8 bytes or 16");

int trace_put_fields(struct trace_writer *w, uint32_t id, uint64_t time_ns, uint32_t pid, uint32_t tid, const void *fields)
{
	const struct schema_record *r = schema_find(id);
	const char *at = fields;

	trace_record_begin(w, id, time_ns, pid, tid, r->nr_values);
	for (const struct schema_field *f = r->fields; f < r->fields + r->nr_fields; f++)
		at = pack_field(w, f->kind, f->element, at);
	return trace_record_end(w);
}

void trace_samples_begin(struct trace_writer *w, uint64_t time_ns, uint32_t event, uint32_t nr, size_t nr_columns)
{
	trace_record_begin(w, TRACE_SAMPLES, time_ns, 0, 0, F_COUNT(samples));
	trace_record_u64(w, event);
	trace_record_u64(w, nr);
	trace_record_array(w, nr_columns);
}

void trace_samples_column(struct trace_writer *w, uint32_t column, enum sample_encoding encoding, const void *p, size_t bytes)
{
	trace_record_array(w, 3);
	trace_record_u64(w, column);
	trace_record_u64(w, encoding);
	trace_record_bytes(w, p, bytes);
}

/* Pack entries of jitdump's line tables, which are in v as schema_parse() found and checked them. */
static void pack_line_entries(struct trace_writer *w, const struct schema_value *v)
{
	const char *at = v->p;

	trace_record_array(w, v->u);
	for (uint64_t i = 0; i < v->u; i++) {
		uint32_t u32[2];
		size_t name = strlen(at + 16);

		memcpy(u32, at + 8, 8);
		trace_record_array(w, 4);
		trace_record_u64(w, load_u64(at));
		trace_record_u64(w, u32[0]);
		trace_record_u64(w, u32[1]);
		trace_record_text(w, at + 16, name);
		at += 16 + name + 1;
	}
}

int trace_record_values(struct trace_writer *w, uint32_t id, uint64_t time_ns, uint32_t pid, uint32_t tid,
			const struct schema_value *values, int nr_values)
{
	const struct schema_field *f = schema_find(id)->fields;

	trace_record_begin(w, id, time_ns, pid, tid, nr_values);
	for (const struct schema_value *v = values; v < values + nr_values; v++, f++) {
		while (f->kind == SCHEMA_NR)
			f++;
		if (v->kind == SCHEMA_LINES)
			pack_line_entries(w, v);
		else if (v->kind == SCHEMA_U32 || v->kind == SCHEMA_U64 || v->kind == SCHEMA_S64)
			pack_field(w, v->kind, NULL, (const char *)&v->u);
		else /* the elements of jitreg's lists have only numbers, so hosts send them in the form that pack_span() expects */
			pack_span(w, v->kind, f->element, (struct trace_span){ v->p, v->kind == SCHEMA_ARR ? v->u : v->bytes });
	}
	return trace_record_end(w);
}
