/* SPDX-License-Identifier: MIT */
/*
 * Writes a trace: records (put.h) are packed with msgpack-c into one buffer per chunk type, and a full or old buffer leaves as one
 * zstd-compressed chunk.  Every chunk goes out with one write(2), so a recorder that is killed leaves a readable file.
 * When a write fails (a full disk, a limit), the file is cut back to its last whole chunk, and the caller is told: it counts
 * the loss.  Later chunks are tried again, and a little room is kept for the end of the trace.
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

/* By zstd: FAST while samples come, SMALL where there is time. */
enum trace_compression { TRACE_PLAIN = 0, TRACE_FAST = 1, TRACE_SMALL = 3 };

/* How a file is known to be a trace. */
extern const struct output_form trace_output_form;

struct trace_writer_options {
	enum trace_compression compression;
	bool whole;	/* the trace takes its name at its end; else at once, since it has to outlive its recorder */
	bool overwrite; /* any file, also one that is no trace */
	bool keep_old;	/* the trace that is replaced becomes PATH.old */
};

/* Create path, by output_file_open().  Returns 0 or -errno with a sentence. */
int trace_writer_create(const char *path, const struct trace_writer_options *o, struct trace_writer **out, struct diag *d);
/* Likewise, without options. */
int trace_writer_open(const char *path, enum trace_compression compression, struct trace_writer **out, struct diag *d);
/* Behind the end of a trace that lies at path; what can be written there TRACE.md says.  -EBADMSG: none lies there that was written to its
 * end. */
int trace_writer_continue(const char *path, enum trace_compression compression, struct trace_writer **out, struct diag *d);
/* Flushes and closes.  Returns 0, or the first write error as -errno. */
int trace_writer_close(struct trace_writer *w);
/* Likewise, with a sentence.  A whole trace takes its name, if nothing failed; else nothing is left of it. */
int trace_writer_end(struct trace_writer *w, struct diag *d);
/* Nothing is left of the trace, and PATH.old is put back. */
void trace_writer_drop(struct trace_writer *w);
/* After fork(2), of a writer that was flushed: who goes on writing, and who leaves the file to the other. */
void trace_writer_inherit(struct trace_writer *w);
void trace_writer_leave(struct trace_writer *w);

/* A record as schema_parse() yielded it.  Returns what TRACE_PUT() yields. */
int trace_record_values(struct trace_writer *w, uint32_t id, uint64_t time_ns, uint32_t pid, uint32_t tid,
			const struct schema_value *values, int nr_values);
/* A record that was read from another trace, as it is, also what this version does not know of it.  As TRACE_PUT(). */
int trace_record_copy(struct trace_writer *w, const struct trace_record *r);

/* Send what has been gathered of a chunk type to the file.  0, or -errno: it is lost. */
int trace_writer_flush(struct trace_writer *w, enum trace_chunk_type type);
void trace_writer_flush_all(struct trace_writer *w);
/* Send RECORDS that are to be there also where others have no room, as the sentence that says why something is missing: they may take half
 * of the room that is kept for the end.  As trace_writer_flush(). */
int trace_writer_flush_sentence(struct trace_writer *w);
/* From now on the room that was kept for the end may be used. */
void trace_writer_use_reserve(struct trace_writer *w);
/* The first error of a write, 0 while there was none. */
int trace_writer_error(const struct trace_writer *w);
uint64_t trace_writer_bytes(const struct trace_writer *w);
/* Records in the trace or on their way to it; those that were lost with their chunk (SAMPLES apart). */
uint64_t trace_writer_records(const struct trace_writer *w);
uint64_t trace_writer_nr_lost(const struct trace_writer *w);

#endif
