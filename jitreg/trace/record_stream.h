/* SPDX-License-Identifier: MIT */
/*
 * A record part by part, for the few that TRACE_PUT() (put.h) is not for: samples, whose columns are encoded one after the other in the
 * same memory; records that were read and are written with changes, also what this version does not know of them; and tests of records
 * that are not as they should be.  The caller sees to it that parts come in the order of the record's list, and as many as were announced.
 *
 * Context: thread.
 */
#ifndef TAILOR_RECORD_STREAM_H
#define TAILOR_RECORD_STREAM_H

#include "jitreg/trace/writer.h"

struct trace_value;

/* nr_values of the record, 0 and more, come before its end, which returns what TRACE_PUT() yields. */
void trace_record_begin(struct trace_writer *w, uint32_t id, uint64_t time_ns, uint32_t pid, uint32_t tid, int nr_values);
int trace_record_end(struct trace_writer *w);

void trace_record_u64(struct trace_writer *w, uint64_t v);
void trace_record_s64(struct trace_writer *w, int64_t v);
/* Bytes that are not UTF-8 become '?'. */
void trace_record_text(struct trace_writer *w, const char *text, size_t bytes);
void trace_record_bytes(struct trace_writer *w, const void *p, size_t bytes);
void trace_record_nil(struct trace_writer *w);
/* A list or an element of nr items, which follow. */
void trace_record_array(struct trace_writer *w, size_t nr);
/* A value that was read, lists too. */
void trace_record_value(struct trace_writer *w, const struct trace_value *v);

/* A SAMPLES record of nr samples: nr_columns columns, then trace_record_end(). */
void trace_samples_begin(struct trace_writer *w, uint64_t time_ns, uint32_t event, uint32_t nr, size_t nr_columns);
void trace_samples_column(struct trace_writer *w, uint32_t column, enum sample_encoding encoding, const void *p, size_t bytes);

#endif
