/* SPDX-License-Identifier: MIT */
/*
 * Writes a record part by part, where TRACE_PUT() (put.h) is unsuitable. Samples need it, whose columns are encoded one after the other in
 * the same memory, and so do records that were read and are written with changes, including fields that this version does not know, and
 * malformed records of tests. The caller must write as many values as it gave to trace_record_begin(), in the order of the record's fields
 * (jitreg.h, trace.h). Otherwise the rest of the chunk is unreadable.
 *
 * Context: thread.
 */
#ifndef TAILOR_RECORD_STREAM_H
#define TAILOR_RECORD_STREAM_H

#include "jitreg/trace/writer.h"

struct trace_value;

/* Begin and end a record.  nr_values values must be written in between, each by one call of the functions below.  trace_record_end()
 * returns what TRACE_PUT() returns. */
void trace_record_begin(struct trace_writer *w, uint32_t id, uint64_t time_ns, uint32_t pid, uint32_t tid, int nr_values);
int trace_record_end(struct trace_writer *w);

void trace_record_u64(struct trace_writer *w, uint64_t v);
void trace_record_s64(struct trace_writer *w, int64_t v);
/* Write a text.  Bytes that are not UTF-8 become '?'.  If memory for that runs out, the text ends before the first of them. */
void trace_record_text(struct trace_writer *w, const char *text, size_t bytes);
void trace_record_bytes(struct trace_writer *w, const void *p, size_t bytes);
void trace_record_nil(struct trace_writer *w);
/* Begin a list, or an element of a list.  The caller then writes its nr items, which may be lists themselves. */
void trace_record_array(struct trace_writer *w, size_t nr);
/* Write a value of a record that was read, which may be a list.  A value of kind OTHER becomes nil. */
void trace_record_value(struct trace_writer *w, const struct trace_value *v);

/* Begin a SAMPLES record of nr samples.  The caller then calls trace_samples_column() nr_columns times, and trace_record_end(). */
void trace_samples_begin(struct trace_writer *w, uint64_t time_ns, uint32_t event, uint32_t nr, size_t nr_columns);
void trace_samples_column(struct trace_writer *w, uint32_t column, enum sample_encoding encoding, const void *p, size_t bytes);

#endif
