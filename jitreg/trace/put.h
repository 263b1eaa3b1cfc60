/* SPDX-License-Identifier: MIT */
/*
 * TRACE_PUT() writes a record by the names of its fields.  Fields that are not named are 0 or empty:
 *
 *	TRACE_PUT(w, comm, time_ns, pid, tid, .exec = 1, .comm = trace_string("engine"));
 *	TRACE_PUT(w, code_bytes, time_ns, pid, 0, .address = address, .code = { bytes, nr_bytes });
 *	TRACE_PUT(w, level, time_ns, pid, tid, .level = 3, .name = trace_string("node"), .upper = { upper, nr_upper });
 *
 * The arguments initialize a struct made from the record's list of fields (jitreg.h, trace.h).  Numbers have the type of their kind, texts
 * and bytes are struct trace_span, and a list is a pointer to its elements and their number.  Elements are struct jitreg_<element>, or
 * struct trace_<element> in records that trace.h declares.  Counts (NR) are no fields of a trace and cannot be named.  record_stream.h
 * writes records that are not in memory as a whole.
 *
 * Returns 0, -E2BIG if the record is larger than TRACE_CHUNK_MAX and was left out, or another -errno if the buffer became full, could not
 * be written, and was lost with this record.  Context: thread.
 */
#ifndef TAILOR_PUT_H
#define TAILOR_PUT_H

#include "jitreg/trace/schema.h"

#include <string.h>

struct trace_writer;

/* A span is text or bytes. Bytes of a text that are not UTF-8 are written as '?'. */
struct trace_span {
	const void *p;
	size_t bytes;
};

static inline struct trace_span trace_string(const char *text)
{
	return (struct trace_span){ text, strlen(text) };
}

#define TRACE_PUT(w, record, time_ns, pid, tid, ...) \
	trace_put_fields(w, TRACE_PUT_ID_##record, time_ns, pid, tid, &(struct trace_put_##record){ __VA_ARGS__ })

/* TRACE_PUT() calls this function. fields: a struct trace_put_<record>, each of whose members takes 8 bytes (numbers) or 16, so that the
 * table of records (schema.h) is enough to find them. Returns what TRACE_PUT() returns. */
int trace_put_fields(struct trace_writer *w, uint32_t id, uint64_t time_ns, uint32_t pid, uint32_t tid, const void *fields);

#define TRACE_PUT_U_(f) uint64_t f;
#define TRACE_PUT_SPAN_(f) struct trace_span f;
#define TRACE_PUT_ELEMENT_(name, members) struct trace_##name { members };
TRACE_ELEMENTS(TRACE_PUT_ELEMENT_, TRACE_PUT_U_, TRACE_PUT_SPAN_, TRACE_PUT_SPAN_)

#define TRACE_PUT_COUNT_(f) + 1
#define TRACE_PUT_WIRE_(name, members) \
	_Static_assert(sizeof(struct jitreg_##name) == 8 * (0 members), "elements on the wire are numbers of 64 bits");
JITREG_ELEMENTS(TRACE_PUT_WIRE_, TRACE_PUT_COUNT_)

#define TRACE_PUT_U32_(f) __attribute__((aligned(8))) uint32_t f;
#define TRACE_PUT_S64_(f) int64_t f;
#define TRACE_PUT_NR_(f)
#define TRACE_PUT_LIST_(f, element) struct { const struct element *p; size_t nr; } f;
#define TRACE_PUT_ARR_JITREG_(f, element) TRACE_PUT_LIST_(f, jitreg_##element)
#define TRACE_PUT_ARR_TRACE_(f, element) TRACE_PUT_LIST_(f, trace_##element)
#define TRACE_PUT_LINES_(f) TRACE_PUT_LIST_(f, trace_line)
#define TRACE_PUT_KINDS_(ARR) \
	TRACE_PUT_U32_, TRACE_PUT_U_, TRACE_PUT_S64_, TRACE_PUT_NR_, TRACE_PUT_SPAN_, TRACE_PUT_SPAN_, ARR, TRACE_PUT_SPAN_, \
	TRACE_PUT_SPAN_, TRACE_PUT_LINES_
#define TRACE_PUT_EXPAND_(FIELDS, ...) FIELDS(__VA_ARGS__)
#define TRACE_PUT_JITREG_(NAME, name, id) \
	struct trace_put_##name { \
		TRACE_PUT_EXPAND_(JITREG_FIELDS_##NAME, TRACE_PUT_KINDS_(TRACE_PUT_ARR_JITREG_)) \
		JITREG_TRAILING_##NAME(TRACE_PUT_U32_, TRACE_PUT_U_) \
	};
#define TRACE_PUT_TRACE_(NAME, name, id) \
	struct trace_put_##name { \
		TRACE_PUT_EXPAND_(TRACE_FIELDS_##NAME, TRACE_PUT_KINDS_(TRACE_PUT_ARR_TRACE_)) \
	};
JITREG_RECORDS(TRACE_PUT_JITREG_)
TRACE_RECORDS(TRACE_PUT_TRACE_)

#define TRACE_PUT_ENUM_(NAME, name, id) TRACE_PUT_ID_##name = id,
enum { JITREG_RECORDS(TRACE_PUT_ENUM_) TRACE_RECORDS(TRACE_PUT_ENUM_) };

#endif
