/* SPDX-License-Identifier: MIT */
/*
 * Writes a trace.  Records (put.h) are packed with msgpack-c into one buffer per chunk type, and a full or flushed buffer is written as one
 * zstd-compressed chunk.  Every chunk is one write(2), so a recorder that is killed leaves a readable file.  If a write fails (a full disk,
 * a limit), the file is cut after its last whole chunk, and the caller gets the error and counts the loss.  Later chunks are tried again,
 * and a little room is kept for the end of the trace.
 *
 * Context: thread; one writer belongs to one thread.
 */
#ifndef TAILOR_WRITER_H
#define TAILOR_WRITER_H

#include "jitreg/base/diag.h"
#include "jitreg/output/output_file.h"
#include "jitreg/trace/put.h"

#include <stdbool.h>

struct trace_writer;
struct trace_record;

/* Levels of zstd: FAST while recording, SMALL if there is time. */
enum trace_compression { TRACE_PLAIN = 0, TRACE_FAST = 1, TRACE_SMALL = 3 };

/* The mark by which a trace is recognised. */
extern const struct output_form trace_output_form;

struct trace_writer_options {
	enum trace_compression compression;
	bool whole;	/* name the trace at its end; otherwise at once, as a recording must outlive its recorder */
	bool overwrite; /* overwrite any file, also one that is not a trace */
	bool keep_old;	/* rename the replaced trace to PATH.old */
};

/* Create a trace at path, by output_file_open().  Returns 0, or -errno with a sentence. */
int trace_writer_create(const char *path, const struct trace_writer_options *o, struct trace_writer **out, struct diag *d);
/* Create a trace at path without options.  Returns 0, or -errno with a sentence. */
int trace_writer_open(const char *path, enum trace_compression compression, struct trace_writer **out, struct diag *d);
/* Continue a finished trace at path behind its end.  TRACE.md lists the records that are permitted there.  Returns 0, or -errno with a
 * sentence, which is -EBADMSG if the file is not a trace with an end. */
int trace_writer_continue(const char *path, enum trace_compression compression, struct trace_writer **out, struct diag *d);
/* Flush and close the trace.  Returns 0, or the first write error as -errno. */
int trace_writer_close(struct trace_writer *w);
/* Flush and close the trace.  Returns 0, or -errno with a sentence.  A trace with the option whole takes its name if nothing failed, and is
 * removed otherwise. */
int trace_writer_end(struct trace_writer *w, struct diag *d);
/* Remove the trace, and restore PATH.old. */
void trace_writer_drop(struct trace_writer *w);
/* After fork(2) with a flushed writer, one process calls trace_writer_inherit() and goes on writing.  The other one calls
 * trace_writer_leave(), which frees the writer and leaves the file. */
void trace_writer_inherit(struct trace_writer *w);
void trace_writer_leave(struct trace_writer *w);

/* Write a record with values from schema_parse().  Returns what TRACE_PUT() returns. */
int trace_record_values(struct trace_writer *w, uint32_t id, uint64_t time_ns, uint32_t pid, uint32_t tid,
			const struct schema_value *values, int nr_values);
/* Write an unchanged record of another trace, including fields that this version does not know.  Returns what TRACE_PUT() returns. */
int trace_record_copy(struct trace_writer *w, const struct trace_record *r);

/* Write the buffered records of a chunk type to the file.  Returns 0, or -errno if they are lost. */
int trace_writer_flush(struct trace_writer *w, enum trace_chunk_type type);
void trace_writer_flush_all(struct trace_writer *w);
/* Write the buffered RECORDS, which may take half of the room that is kept for the end.  For records that are needed even if others have no
 * room, such as the sentence that says why something is missing.  Returns what trace_writer_flush() returns. */
int trace_writer_flush_sentence(struct trace_writer *w);
/* Permit writing to the room that was kept for the end. */
void trace_writer_use_reserve(struct trace_writer *w);
/* The first write error as an errno value, or 0. */
int trace_writer_error(const struct trace_writer *w);
uint64_t trace_writer_bytes(const struct trace_writer *w);
/* The number of written and buffered records, and that of records lost with their chunk (without SAMPLES). */
uint64_t trace_writer_records(const struct trace_writer *w);
uint64_t trace_writer_nr_lost(const struct trace_writer *w);

#endif
