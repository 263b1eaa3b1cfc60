/* SPDX-License-Identifier: MIT */
/* Declares struct trace_writer, the state that writer.c (chunks), record_writer.c and copy.c (records) share.  Context: thread. */
#ifndef TAILOR_WRITER_INTERNAL_H
#define TAILOR_WRITER_INTERNAL_H

#include "jitreg/trace/writer.h"

#include <msgpack.h>
#include <zstd.h>

#define NR_TYPES (TRACE_CHUNK_END + 1)

struct trace_writer {
	int fd;
	struct output_file file; /* path NULL: trace_writer_continue() opened the trace */
	int error; /* first write error, or 0 */
	bool regular; /* the trace is a regular file, which can be truncated, and not a FIFO */
	uint64_t reserve; /* bytes that must be free behind a chunk, or it is not written */
	uint64_t sequence;
	uint64_t file_bytes;
	uint64_t nr_records, nr_lost; /* see trace_writer_records() and trace_writer_nr_lost() */
	ZSTD_CCtx *zstd; /* NULL: not compressed */
	char *out; /* memory for the head and the stored body of a chunk */
	size_t out_capacity;
	char *clean; /* memory for the copy of a text in which trace_record_text() replaces bytes */
	size_t clean_capacity;
	enum trace_chunk_type type; /* chunk type of the record being packed */
	size_t record_start; /* offset of that record in its buffer */
	struct msgpack_sbuffer buffer[NR_TYPES];
	uint64_t buffered[NR_TYPES]; /* number of records in each buffer */
	struct msgpack_packer packer;
};

#endif
