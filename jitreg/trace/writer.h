/* SPDX-License-Identifier: MIT */
/*
 * Writes a trace: records are packed with msgpack-c into one buffer per chunk type, and a full or old buffer leaves as one
 * zstd-compressed chunk.  Every chunk goes out with one write(2), so a recorder that is killed leaves a readable file.
 * When a write fails (a full disk, a limit), the file is cut back to its last whole chunk, and the caller is told: it counts
 * the loss.  Later chunks are tried again, and a little room is kept for the end of the trace.
 *
 * Context: thread; one writer belongs to one thread.
 */
#ifndef TAILOR_WRITER_H
#define TAILOR_WRITER_H

#include "jitreg/base/diag.h"
#include "jitreg/trace/put.h"

#include <stdbool.h>

struct trace_writer;
struct trace_record;
struct trace_value;

/* By zstd: FAST while samples come, SMALL where there is time. */
enum trace_compression { TRACE_PLAIN = 0, TRACE_FAST = 1, TRACE_SMALL = 3 };

/* Create path, by output_file_open().  Returns 0 or -errno with a sentence. */
int trace_writer_open(const char *path, enum trace_compression compression, struct trace_writer **out, struct diag *d);
/* Flushes and closes.  Returns 0, or the first write error as -errno. */
int trace_writer_close(struct trace_writer *w);

/* One record, field by field: begin, nr_fields values in the order of the list, end. */
void trace_record_begin(struct trace_writer *w, enum trace_chunk_type type, uint32_t id, uint64_t time_ns, uint32_t pid,
			uint32_t tid, int nr_fields);
void trace_record_u64(struct trace_writer *w, uint64_t v);
void trace_record_s64(struct trace_writer *w, int64_t v);
/* Bytes that are not UTF-8 become '?'. */
void trace_record_text(struct trace_writer *w, const char *text, size_t bytes);
void trace_record_bytes(struct trace_writer *w, const void *p, size_t bytes);
/* A msgpack array of nr items follows. */
void trace_record_array(struct trace_writer *w, size_t nr);
/* 0; -E2BIG: larger than a chunk, so it was left out; other -errno: a full buffer could not be written. */
int trace_record_end(struct trace_writer *w);
/* A record as schema_parse() yielded it.  As trace_record_end(). */
int trace_record_values(struct trace_writer *w, uint32_t id, uint64_t time_ns, uint32_t pid, uint32_t tid,
			const struct schema_value *values, int nr_values);
/* A record that was read from another trace, as it is, also what this version does not know of it.  As trace_record_end(). */
int trace_record_copy(struct trace_writer *w, enum trace_chunk_type type, const struct trace_record *r);
/* A value that was read, lists too, for a record that is copied with changes; and one that is nothing. */
void trace_record_value(struct trace_writer *w, const struct trace_value *v);
void trace_record_nil(struct trace_writer *w);
/* A record as it stands in a chunk's body; the caller has checked it.  As trace_record_end(). */
int trace_record_packed(struct trace_writer *w, enum trace_chunk_type type, const void *record, size_t bytes);

/* Send what has been gathered of a chunk type to the file.  0, or -errno: it is lost. */
int trace_writer_flush(struct trace_writer *w, enum trace_chunk_type type);
void trace_writer_flush_all(struct trace_writer *w);
/* From now on the room that was kept for the end may be used. */
void trace_writer_use_reserve(struct trace_writer *w);
/* A file that can be removed when nothing was recorded (a device is not). */
bool trace_writer_is_file(const struct trace_writer *w);

/* The first error of a write, 0 while there was none. */
int trace_writer_error(const struct trace_writer *w);
uint64_t trace_writer_bytes(const struct trace_writer *w);
/* Records in the trace or on their way to it; those that were lost with their chunk (SAMPLES apart). */
uint64_t trace_writer_records(const struct trace_writer *w);
uint64_t trace_writer_lost(const struct trace_writer *w);

#endif
