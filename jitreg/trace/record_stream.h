/* SPDX-License-Identifier: MIT */
/*
 * Writes a record part by part, if TRACE_PUT() (put.h) is unsuitable: samples, whose columns are encoded one after the other in the same
 * memory; records that were read and are written with changes, including fields that this version does not know; and malformed records of
 * tests.  The caller must write the parts in the order of the record's list, and as many as announced.
 *
 * Context: thread.
 */
#ifndef TAILOR_RECORD_STREAM_H
#define TAILOR_RECORD_STREAM_H

#include "jitreg/trace/writer.h"

struct trace_value;

/* Begin and end a record.  nr_values values are written between.  trace_record_end() returns what TRACE_PUT() returns. */
void trace_record_begin(struct trace_writer *w, uint32_t id, uint64_t time_ns, uint32_t pid, uint32_t tid, int nr_values);
int trace_record_end(struct trace_writer *w);

void trace_record_u64(struct trace_writer *w, uint64_t v);
void trace_record_s64(struct trace_writer *w, int64_t v);
/* Bytes that are not UTF-8 become '?'. */
void trace_record_text(struct trace_writer *w, const char *text, size_t bytes);
void trace_record_bytes(struct trace_writer *w, const void *p, size_t bytes);
void trace_record_nil(struct trace_writer *w);
/* Begin a list or an element of nr items, which are written next. */
void trace_record_array(struct trace_writer *w, size_t nr);
/* Write a value that was read, which may be a list. */
void trace_record_value(struct trace_writer *w, const struct trace_value *v);

/* Begin a SAMPLES record of nr samples.  nr_columns columns and trace_record_end() follow. */
void trace_samples_begin(struct trace_writer *w, uint64_t time_ns, uint32_t event, uint32_t nr, size_t nr_columns);
void trace_samples_column(struct trace_writer *w, uint32_t column, enum sample_encoding encoding, const void *p, size_t bytes);

#endif
