/* SPDX-License-Identifier: MIT */
/*
 * Writes a trace. Records (put.h) are packed with msgpack-c into one buffer per chunk type, and a full or flushed buffer is written as one
 * chunk, zstd-compressed unless compression is TRACE_PLAIN. A chunk is written by one write(2) if the kernel takes all of it, so a
 * recorder that is killed leaves a file whose chunks, but perhaps the last, are whole. If a write fails (a full disk, a limit), a regular
 * file is cut after its last whole chunk, and the caller gets the error and counts lost samples. The following chunks are written if there
 * is room again, and 64 KiB are kept free for the end of the trace.
 *
 * Context: thread. One writer belongs to one thread.
 */
#ifndef TAILOR_WRITER_H
#define TAILOR_WRITER_H

#include "jitreg/base/diag.h"
#include "jitreg/output/output_file.h"
#include "jitreg/trace/put.h"

#include <stdbool.h>

struct trace_writer;
struct trace_record;

/* The numbers above 0 are levels of zstd. FAST is for recorders, and SMALL for commands that write a trace once and have time. */
enum trace_compression { TRACE_PLAIN = 0, TRACE_FAST = 1, TRACE_SMALL = 3 };

/* output_file.h recognises a trace by these bytes. A trace may be replaced by a new one. */
extern const struct output_form trace_output_form;

struct trace_writer_options {
	enum trace_compression compression;
	/* give the file its name when it is complete; otherwise at once, so that a recording is there even if its recorder is killed */
	bool whole;
	bool overwrite; /* overwrite even a file that is not a trace, which is refused otherwise */
	bool keep_old;	/* rename the trace that is replaced to PATH.old */
};

/* Create a trace at path, as output_file_open() creates files.  Returns 0 with *out, or -errno with a sentence.  The writer is freed by
 * trace_writer_close(), trace_writer_end(), trace_writer_drop() or trace_writer_leave(). */
int trace_writer_create(const char *path, const struct trace_writer_options *o, struct trace_writer **out, struct diag *d);
/* Create a trace at path with all other options false.  Returns 0 with *out, or -errno with a sentence. */
int trace_writer_open(const char *path, enum trace_compression compression, struct trace_writer **out, struct diag *d);
/* Open a trace that has its END chunk, to append chunks.  TRACE.md lists the records that are permitted there.  Returns 0 with *out, or
 * -errno with a sentence.  It is -EBADMSG if the file is not a regular file of whole chunks with an END. */
int trace_writer_continue(const char *path, enum trace_compression compression, struct trace_writer **out, struct diag *d);
/* Call trace_writer_end() without a sentence. */
int trace_writer_close(struct trace_writer *w);
/* Flush and close the trace, and free the writer. A trace with the option whole takes its name if nothing failed, and is removed
 * otherwise. Returns 0, or -errno with a sentence, which is the first write error, an error of taking the name, or -ESTALE if another file
 * or none is at the path now. */
int trace_writer_end(struct trace_writer *w, struct diag *d);
/* Remove the trace, restore PATH.old, and free the writer.  A trace that is continued stays as it has been written. */
void trace_writer_drop(struct trace_writer *w);
/* After fork(2) with a flushed writer, one process calls trace_writer_inherit() and goes on writing.  The other calls trace_writer_leave(),
 * which frees its writer and does not touch the file.  trace_writer_inherit() waits for that, because the lock of the trace (fcntl(2)) is
 * not inherited. */
void trace_writer_inherit(struct trace_writer *w);
void trace_writer_leave(struct trace_writer *w);

/* Write a record with values from schema_parse().  Returns what TRACE_PUT() returns. */
int trace_record_values(struct trace_writer *w, uint32_t id, uint64_t time_ns, uint32_t pid, uint32_t tid,
			const struct schema_value *values, int nr_values);
/* Write an unchanged record of another trace, including fields that this version does not know.  Returns what TRACE_PUT() returns, or
 * -ENOMEM. */
int trace_record_copy(struct trace_writer *w, const struct trace_record *r);

/* Write the buffered records of a chunk type to the file as a chunk, and empty the buffer.  Returns 0, or -errno if they are lost. */
int trace_writer_flush(struct trace_writer *w, enum trace_chunk_type type);
/* Flush the buffers of all chunk types. trace_writer_error() tells whether records were lost. */
void trace_writer_flush_all(struct trace_writer *w);
/* Write the buffered records of RECORDS chunks, for which half of the room that is kept for the end may be used. Recorders call this
 * after writing a record that is needed even if the disk has no room for others, such as the sentence that writing failed. Returns what
 * trace_writer_flush() returns. */
int trace_writer_flush_sentence(struct trace_writer *w);
/* Let all further chunks use the room that was kept for the end. */
void trace_writer_use_reserve(struct trace_writer *w);
/* Returns the first write error as an errno value, or 0. */
int trace_writer_error(const struct trace_writer *w);
/* Returns the size of the file in bytes, without buffered records. */
uint64_t trace_writer_bytes(const struct trace_writer *w);
/* Return the number of records that were written or are buffered, and the number of those that were lost because their chunk could not be
 * written (without SAMPLES records, whose samples the caller counts). */
uint64_t trace_writer_records(const struct trace_writer *w);
uint64_t trace_writer_nr_lost(const struct trace_writer *w);

#endif
