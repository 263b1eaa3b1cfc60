/* SPDX-License-Identifier: MIT */
/* Copies records of one trace to another: unchanged ones as they are encoded, and others value by value. */
#include "jitreg/trace/reader.h"
#include "jitreg/trace/record_stream.h"
#include "jitreg/trace/writer_internal.h"

#include <errno.h>

int trace_record_copy(struct trace_writer *w, const struct trace_record *r)
{
	struct msgpack_sbuffer *b = &w->buffer[schema_chunk_type_of(r->id)];

	w->type = schema_chunk_type_of(r->id);
	w->record_start = b->size;
	if (msgpack_sbuffer_write(b, r->packed, r->packed_bytes))
		return -ENOMEM;
	return trace_record_end(w);
}

void trace_record_value(struct trace_writer *w, const struct trace_value *v)
{
	struct trace_value item;

	switch (v->kind) {
	case TRACE_UINT:
		trace_record_u64(w, v->u);
		break;
	case TRACE_INT:
		trace_record_s64(w, (int64_t)v->u);
		break;
	case TRACE_TEXT:
		trace_record_text(w, v->p, v->bytes);
		break;
	case TRACE_BYTES:
		trace_record_bytes(w, v->p, v->bytes);
		break;
	case TRACE_LIST:
		trace_record_array(w, v->u);
		for (uint64_t i = 0; i < v->u; i++) {
			item = trace_item(v, i);
			trace_record_value(w, &item);
		}
		break;
	case TRACE_OTHER:
		trace_record_nil(w);
		break;
	}
}
