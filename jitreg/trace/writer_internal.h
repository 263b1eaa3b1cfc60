/* SPDX-License-Identifier: MIT */
/* The state that the writer of chunks (writer.c) and the writer of records (record_writer.c) share.  Context: thread. */
#ifndef TAILOR_WRITER_INTERNAL_H
#define TAILOR_WRITER_INTERNAL_H

#include "jitreg/trace/writer.h"

#include <msgpack.h>
#include <zstd.h>

#define NR_TYPES (TRACE_CHUNK_END + 1)

struct trace_writer {
	int fd;
	struct output_file file; /* path NULL: a trace that is continued */
	int error; /* first write error, or 0 */
	bool regular; /* a regular file, which can be truncated */
	uint64_t reserve; /* bytes to leave free behind each chunk */
	uint64_t sequence;
	uint64_t file_bytes;
	uint64_t nr_records, nr_lost; /* written or buffered records; records lost with their chunk, without samples */
	ZSTD_CCtx *zstd; /* NULL: not compressed */
	char *out; /* encoded chunk */
	size_t out_capacity;
	char *clean; /* copy of a text as valid UTF-8 */
	size_t clean_capacity;
	enum trace_chunk_type type; /* chunk type of the record being packed */
	size_t record_start; /* offset of that record in its buffer */
	struct msgpack_sbuffer buffer[NR_TYPES];
	uint64_t buffered[NR_TYPES]; /* number of records in each buffer */
	struct msgpack_packer packer;
};

#endif
