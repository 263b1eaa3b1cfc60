/* SPDX-License-Identifier: MIT */
/* What the writer of chunks (writer.c) and that of records (record_writer.c) share.  Context: thread. */
#ifndef TAILOR_WRITER_INTERNAL_H
#define TAILOR_WRITER_INTERNAL_H

#include "jitreg/trace/writer.h"

#include <msgpack.h>
#include <zstd.h>

#define NR_TYPES (TRACE_CHUNK_END + 1)

struct trace_writer {
	int fd;
	struct output_file file; /* no path: a trace that is continued */
	int error; /* the first one */
	bool regular; /* a file that can be cut back */
	uint64_t reserve; /* bytes to leave free behind each chunk */
	uint64_t sequence;
	uint64_t file_bytes;
	uint64_t nr_records, nr_lost; /* written or to be; lost with their chunk, samples apart */
	ZSTD_CCtx *zstd; /* NULL: not compressed */
	char *out; /* one chunk as it goes to the file */
	size_t out_capacity;
	char *clean; /* a text as valid UTF-8 */
	size_t clean_capacity;
	enum trace_chunk_type type; /* of the record being packed */
	size_t record_start; /* in its buffer */
	struct msgpack_sbuffer buffer[NR_TYPES];
	uint64_t buffered[NR_TYPES]; /* records in it */
	struct msgpack_packer packer;
};

#endif
